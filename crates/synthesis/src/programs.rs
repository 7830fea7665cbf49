//! Turns a timetable into the programs of all ranks.

use crate::timetable::{Timetable, Transfer};
use rustcoll::schedule::Buffer::{Recv, Send};
use rustcoll::schedule::{Builder, Message, Post, Schedule};
use std::collections::BTreeMap;

/// Returns the programs. A rank posts its messages in the order of the timetable. It waits for a block when
/// it has to send the block on.
pub fn of(timetable: &Timetable, ranks: usize) -> Vec<Schedule> {
    let mut programs: Vec<Builder> = (0..ranks).map(|rank| Builder::new(rank, ranks, ranks)).collect();
    let mut arriving: Vec<BTreeMap<usize, Post>> = vec![BTreeMap::new(); ranks];
    for (rank, program) in programs.iter_mut().enumerate() {
        program.copy(Send.block(rank), Recv.block(rank));
    }
    for Transfer { source, target, blocks, .. } in &timetable.transfers {
        let mut needed: Vec<Post> =
            blocks.iter().filter_map(|block| arriving[*source].get(block).copied()).collect();
        needed.sort_unstable();
        needed.dedup();
        arriving[*source].retain(|_, post| !needed.contains(post));
        programs[*source].wait(needed);
        let message = || blocks.iter().map(|block| Recv.block(*block)).collect::<Message>();
        programs[*source].send(*target, message());
        let post = programs[*target].receive(*source, message()).expect("a transfer has blocks");
        arriving[*target].extend(blocks.iter().map(|block| (*block, post)));
    }
    programs.into_iter().map(Builder::build).collect()
}
