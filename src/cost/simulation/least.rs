//! A lower bound of the simulated time of a call, from the programs of few of its ranks.

use super::events::Bytes;
use super::program::{Action, Direction, Post, Program};
use crate::algorithms::Nodes;
use crate::cost::machine::{Link, Machine, Port};

/// Returns the least time of a rank: how long its processor, or the busiest of its ports, is busy.
pub fn least_time(program: &Program, rank: usize, nodes: &Nodes, bytes: Bytes, machine: &Machine) -> f64 {
    let mut busy = Busy { processor: work(program, bytes, machine), ..Busy::default() };
    for post in &program.posts {
        let is_within = nodes.of(rank) == nodes.of(post.peer as usize);
        let link = if is_within { &machine.within } else { &machine.between };
        busy.processor += overhead(post, link);
        busy.ports[usize::from(is_within)][post.direction as usize] += transfer(post, link, bytes);
    }
    busy.ports.into_iter().flatten().fold(busy.processor, f64::max)
}

/// How long a rank's processor is busy, and its ports by level and direction.
#[derive(Default)]
struct Busy {
    processor: f64,
    ports: [[f64; 2]; 2],
}

/// Returns the time that the processor copies, reduces, reads and handles flags.
fn work(program: &Program, bytes: Bytes, machine: &Machine) -> f64 {
    let processor = &machine.processor;
    let shared = machine.shared();
    let [copy, reduce, read, copy_singly] =
        [processor.copy_time, processor.reduce_time, shared.byte_time, shared.time_of_single_copies()]
            .map(|time| time.at(bytes.held));
    let of_action = |action: &Action| match action {
        Action::Work(work) => {
            work.copied.with(bytes.block) * copy
                + work.reduced.with(bytes.block) * reduce
                + work.read.with(bytes.block) * read
                + work.copied_singly.with(bytes.block) * copy_singly
        }
        Action::Give | Action::Expect => shared.overhead,
        Action::Post | Action::Wait(_) => 0.0,
    };
    program.actions.iter().map(of_action).sum()
}

/// Returns the processor time for a message: for one that arrives, only if a wait waits for it.
fn overhead(post: &Post, link: &Link) -> f64 {
    let is_handled = post.direction == Direction::Send || post.wait != u32::MAX;
    if is_handled { link.overhead } else { 0.0 }
}

fn transfer(post: &Post, link: &Link, bytes: Bytes) -> f64 {
    let length = post.bytes.with(bytes.block);
    let byte_time = [false, true].map(|is_unidirectional| link.hockney(length, is_unidirectional).1);
    let has_port = post.direction == Direction::Receive || link.port != Port::Receiver;
    if has_port { length * byte_time[0].min(byte_time[1]) } else { 0.0 }
}
