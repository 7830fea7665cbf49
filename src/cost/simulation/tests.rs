//! Times that were computed by hand, and formulas of textbooks.

use super::alike::least_time;
use super::events::Bytes;
use super::network::Network;
use super::program::{Program, Writer};
use super::sizes::Sizes;
use super::symmetry::Symmetry;
use super::*;
use crate::algorithms::Collective::{self, *};
use crate::algorithms::{Problem, REGISTRY, Reason, Requirement};
use crate::cost::{ByteTime, Groups, Link, Port, Processor, Shared};
use crate::schedule::{Buffer, Builder, Schedule, Step};

/// Powers of two give exact times, which can be compared for equality.
const ALPHA: f64 = 64.0;
const BETA: f64 = 2.0;

/// Bytes of a block of hand-written programs.
const BYTES: usize = 8;

/// Carries out the programs that `write` writes, over one block for each rank.
fn carried_out(
    size: usize,
    machine: &Machine,
    write: impl Fn(usize, &mut Builder),
) -> Result<Prediction, SimulationError> {
    let program = |rank| {
        let mut program = Builder::new(rank, size, size);
        write(rank, &mut program);
        program.build()
    };
    carried_out_with(&(0..size).map(program).collect::<Vec<_>>(), BYTES, machine)
}

/// Carries out schedules with blocks of so many bytes.
fn carried_out_with(
    schedules: &[Schedule],
    bytes: usize,
    machine: &Machine,
) -> Result<Prediction, SimulationError> {
    let size = schedules.len();
    let program = |schedule| {
        let mut writer = Writer::new(machine);
        writer.append(schedule, &Sizes::each(bytes));
        writer.program
    };
    let programs: Vec<Program> = schedules.iter().map(program).collect();
    let network = Network::new(programs, Symmetry::none(size), &machine.nodes(size), None)?;
    events::run(&network, Bytes { block: 1.0, held: 1.0 }, machine, f64::INFINITY, &mut |_| {})
}

fn times(size: usize, machine: &Machine, write: impl Fn(usize, &mut Builder)) -> Vec<f64> {
    carried_out(size, machine, write).unwrap().ranks
}

fn send(program: &mut Builder, peer: usize) {
    program.send(peer, Buffer::Send.block(0));
}

fn receive(program: &mut Builder, peer: usize) {
    program.receive(peer, Buffer::Recv.block(peer));
}

/// Rank 0 sends to rank 1.
fn ping(rank: usize, program: &mut Builder) {
    if rank == 0 { send(program, 1) } else { receive(program, 0) }
}

fn exchange(rank: usize, program: &mut Builder) {
    receive(program, 1 - rank);
    send(program, 1 - rank);
}

fn hockney() -> Machine {
    Machine::hockney(ALPHA, BETA, 0.0)
}

/// As [`hockney`], with another link between nodes.
fn with_link(change: impl Fn(Link) -> Link) -> Machine {
    Machine { between: change(hockney().between), ..hockney() }
}

#[test]
fn a_message_takes_alpha_and_n_beta() {
    assert_eq!(times(2, &hockney(), ping), [16.0, 64.0 + 16.0]);
    assert_eq!(times(2, &hockney(), exchange), [80.0, 80.0]);
}

#[test]
fn messages_share_the_port_that_they_leave() {
    let scatter = |rank: usize, program: &mut Builder| match rank {
        0 => (1..4).for_each(|target| send(program, target)),
        _ => receive(program, 0),
    };
    assert_eq!(times(4, &hockney(), scatter), [48.0, 80.0, 96.0, 112.0]);
}

#[test]
fn messages_share_the_port_that_they_enter() {
    let gather = |rank: usize, program: &mut Builder| match rank {
        0 => (1..4).for_each(|source| receive(program, source)),
        _ => send(program, 0),
    };
    assert_eq!(times(4, &hockney(), gather), [64.0 + 48.0, 16.0, 16.0, 16.0]);
}

#[test]
fn a_gap_separates_messages_but_does_not_delay_one() {
    let machine = with_link(|link| Link { gap: 100.0, ..link });
    let twice = |rank: usize, program: &mut Builder| (0..2).for_each(|_| ping(rank, program));
    assert_eq!(times(2, &machine, ping), [16.0, 80.0]);
    assert_eq!(times(2, &machine, twice), [116.0, 180.0]);
}

#[test]
fn overhead_takes_the_processor_of_both_sides() {
    let machine = with_link(|link| Link { overhead: 5.0, ..link });
    assert_eq!(times(2, &machine, ping), [5.0 + 16.0, 5.0 + 80.0 + 5.0]);
    // Rank 0 handles the first message while the second arrives: at 85 and at 101.
    let gather = |rank: usize, program: &mut Builder| match rank {
        0 => (1..3).for_each(|source| receive(program, source)),
        _ => send(program, 0),
    };
    assert_eq!(times(3, &machine, gather)[0], 101.0 + 5.0);
    // Two messages that arrive at once, through no port in no time, are handled one after the other.
    let machine = with_link(|link| Link { overhead: 5.0, byte_time: 0.0.into(), ..link });
    assert_eq!(times(3, &machine, gather)[0], 5.0 + 64.0 + 2.0 * 5.0);
}

#[test]
fn receives_and_repeated_sends_may_take_the_processor_for_another_time() {
    let machine = with_link(|link| Link {
        overhead: 5.0,
        receive_overhead: Some(1.0),
        repeated_overhead: Some(3.0),
        byte_time: 0.0.into(),
        ..link
    });
    // Twice to rank 1, then to rank 2, then to rank 1 again.
    let scatter = |rank: usize, program: &mut Builder| match rank {
        0 => [1, 1, 2, 1].into_iter().for_each(|target| send(program, target)),
        1 => (0..3).for_each(|_| receive(program, 0)),
        _ => receive(program, 0),
    };
    let sent = [5.0, 5.0 + 3.0, 5.0 + 3.0 + 5.0, 5.0 + 3.0 + 5.0 + 5.0];
    assert_eq!(times(3, &machine, scatter), [sent[3], sent[3] + 64.0 + 1.0, sent[2] + 64.0 + 1.0]);
}

#[test]
fn a_long_message_asks_first_and_waits_for_its_receiver() {
    let machine = Machine {
        processor: Processor { reduce_time: 0.0.into(), copy_time: 100.0.into(), ..Processor::default() },
        ..hockney()
    };
    let with_limit =
        |eager_limit| Machine { between: Link { eager_limit, ..machine.between }, ..machine.clone() };
    let late = |rank: usize, program: &mut Builder| {
        if rank == 1 {
            program.copy(Buffer::Send.block(0), Buffer::Scratch.block(0));
        }
        ping(rank, program);
    };
    // Rank 1 copies until 800.
    assert_eq!(times(2, &with_limit(8), late), [16.0, 800.0]);
    assert_eq!(times(2, &with_limit(7), late), [800.0 + 64.0 + 16.0, 800.0 + 64.0 + 80.0]);
    // A request to the receiver and its answer travel before the message.
    assert_eq!(times(2, &with_limit(7), ping), [128.0 + 16.0, 3.0 * 64.0 + 16.0]);
}

#[test]
fn messages_in_packets_share_a_port() {
    let machine = with_link(|link| Link { packet: 4, ..link });
    assert_eq!(times(2, &machine, ping), times(2, &hockney(), ping));
    // Two packets each, which take turns: they have left at 8 and 24, and at 16 and 32.
    let scatter = |rank: usize, program: &mut Builder| match rank {
        0 => (1..3).for_each(|target| send(program, target)),
        _ => receive(program, 0),
    };
    assert_eq!(times(3, &machine, scatter), [32.0, 64.0 + 24.0, 64.0 + 32.0]);
    // They take turns entering as well, so the first message is complete only shortly before the second.
    let gather = |rank: usize, program: &mut Builder| match rank {
        0 => {
            receive(program, 1);
            program.end_round();
            receive(program, 2);
        }
        _ => send(program, 0),
    };
    assert_eq!(carried_out(3, &machine, gather).unwrap().rounds, [64.0 + 24.0, 64.0 + 32.0]);
    assert_eq!(carried_out(3, &hockney(), gather).unwrap().rounds, [64.0 + 16.0, 64.0 + 32.0]);
}

#[test]
fn who_shares_a_port_with_its_siblings_is_served_late() {
    let machine = with_link(|link| Link { packet: 1, ..link });
    let time = |machine: &Machine| time_of(Bcast, "binomial", &Problem::new(16), 1 << 20, machine);
    let vector = BETA * (1 << 20) as f64;
    assert_eq!(time(&hockney()), 4.0 * ALPHA + 4.0 * vector);
    let (shared, expected) = (time(&machine), (4.0 + 3.0 + 2.0 + 1.0) * vector);
    assert!((shared - expected).abs() < 0.05 * expected, "{shared}, not {expected}");
}

#[test]
fn messages_in_one_direction_have_their_own_latency_and_bandwidth() {
    let machine = hockney().unidirectional(40.0, 1.0);
    assert_eq!(times(2, &machine, ping), [8.0, 48.0]);
    assert_eq!(times(2, &machine, exchange), [80.0, 80.0]);
    // Ranks 1 and 2 each send and receive in one round.
    let chain = |rank: usize, program: &mut Builder| {
        if rank > 0 {
            receive(program, rank - 1);
        }
        if rank < 3 {
            send(program, rank + 1);
        }
    };
    assert_eq!(times(4, &machine, chain), [16.0, 80.0, 80.0, 80.0]);
}

#[test]
fn messages_that_are_exchanged_have_their_own_bandwidth() {
    let machine = with_link(|link| Link { exchange_byte_time: 1.0.into(), ..link });
    assert_eq!(times(2, &machine, exchange), [72.0, 72.0]);
    assert_eq!(times(2, &machine, ping), times(2, &hockney(), ping));
    let ring = |rank: usize, program: &mut Builder| {
        receive(program, (rank + 2) % 3);
        send(program, (rank + 1) % 3);
    };
    assert_eq!(times(3, &machine, ring), [72.0; 3]);
    let all_at_once = |rank: usize, program: &mut Builder| {
        (0..3).filter(|&peer| peer != rank).for_each(|peer| receive(program, peer));
        (0..3).filter(|&peer| peer != rank).for_each(|peer| send(program, peer));
    };
    assert_eq!(times(3, &machine, all_at_once), times(3, &hockney(), all_at_once));
}

#[test]
fn messages_of_a_node_wait_for_what_all_of_them_share() {
    let link = Link { latency: 10.0, node_byte_time: 1.0.into(), ..hockney().within };
    let machine = Machine { ranks_per_node: 4, within: link, ..hockney() };
    let neighbours = |rank: usize, program: &mut Builder| {
        receive(program, rank ^ 1);
        send(program, rank ^ 1);
    };
    // Each message begins 8 s after the one before, and takes 26 s.
    assert_eq!(times(4, &machine, neighbours), [34.0, 26.0, 50.0, 42.0]);
    let wide = Machine { within: Link { node_byte_time: ByteTime::NONE, ..link }, ..machine };
    assert_eq!(times(4, &wide, neighbours), [26.0; 4]);
}

#[test]
fn a_message_that_waits_for_its_port_keeps_no_other_from_what_all_share() {
    let shared = Link { node_byte_time: 0.25.into(), ..hockney().within };
    let receivers = Link { port: Port::Receiver, ..shared };
    let all_at_once = |rank: usize, program: &mut Builder| {
        (1..5).for_each(|distance| receive(program, (rank + 5 - distance) % 5));
        (1..5).for_each(|distance| send(program, (rank + distance) % 5));
    };
    for within in [shared, receivers] {
        let machine = Machine { ranks_per_node: 5, within, ..hockney() };
        let alone = Machine { within: Link { node_byte_time: ByteTime::NONE, ..within }, ..machine.clone() };
        let [last, least] =
            [&machine, &alone].map(|machine| carried_out(5, machine, all_at_once).unwrap().time());
        // A message takes 16 s at a port, where four pass, but only 2 s of what all share, which twenty pass.
        assert!(least <= last && last <= least + 20.0, "{last} s, not {least} s");
    }
}

#[test]
fn ranks_of_a_node_share_its_port_but_not_among_themselves() {
    let two_levels =
        Machine { ranks_per_node: 2, within: Link { latency: 10.0, ..hockney().within }, ..hockney() };
    // With the rank of the same number on the other node.
    let across = |rank: usize, program: &mut Builder| {
        receive(program, (rank + 2) % 4);
        send(program, (rank + 2) % 4);
    };
    let neighbours = |rank: usize, program: &mut Builder| {
        receive(program, rank ^ 1);
        send(program, rank ^ 1);
    };
    assert_eq!(times(4, &two_levels, across), [80.0, 96.0, 80.0, 96.0]);
    assert_eq!(times(4, &two_levels, neighbours), [26.0; 4]);
    let own_ports = Machine { between: Link { port: Port::Rank, ..two_levels.between }, ..two_levels };
    assert_eq!(times(4, &own_ports, across), [80.0; 4]);
    let prediction = carried_out(4, &own_ports, across).unwrap();
    assert_eq!(prediction.between, Traffic { messages: 4, bytes: 32.0 });
    assert_eq!(
        (prediction.within, prediction.busiest),
        (Traffic::default(), Traffic { messages: 1, bytes: 8.0 })
    );
}

#[test]
fn copies_and_reductions_take_the_processor() {
    let machine = Machine {
        processor: Processor { reduce_time: 3.0.into(), copy_time: 1.0.into(), ..Processor::default() },
        ..hockney()
    };
    let reduced_into = |target: Buffer| {
        times(1, &machine, |_, program| {
            program.reduce(Buffer::Send.block(0), Buffer::Scratch.block(0), target.block(0));
        })
    };
    // MPI leaves the result in the right operand; another target needs copies.
    assert_eq!(reduced_into(Buffer::Scratch), [24.0]);
    assert_eq!(reduced_into(Buffer::Recv), [24.0 + 8.0]);
    assert_eq!(reduced_into(Buffer::Send), [24.0 + 16.0]);
}

/// Four ranks share memory: a flag takes 16, a byte of another's slot 1 / 4, a copy 1 / 8, a reduction 1 / 2.
fn sharing() -> Machine {
    Machine {
        ranks_per_node: 4,
        shared: Some(Shared::copying_twice(16.0, 0.25.into())),
        processor: Processor { reduce_time: 0.5.into(), copy_time: 0.125.into(), ..Processor::default() },
        ..hockney()
    }
}

/// Schedules of ranks with one slot and one block each.
fn schedules(size: usize, write: impl Fn(usize, &mut Builder)) -> Vec<Schedule> {
    let program = |rank| {
        let mut program = Builder::new(rank, size, 1).slots(1);
        write(rank, &mut program);
        program.build()
    };
    (0..size).map(program).collect()
}

/// Rank 0 publishes its block, which all others copy.
fn broadcast(rank: usize, program: &mut Builder) {
    if rank == 0 {
        program.publish(Buffer::Send.block(0), 0);
    } else {
        let slot = program.await_slot(0, 0);
        program.copy(slot, Buffer::Recv.block(0));
    }
}

#[test]
fn what_is_published_is_seen_and_read_by_all_at_once() {
    let found = carried_out_with(&schedules(4, broadcast), 8, &sharing()).unwrap();
    // Written in 1, under way for 16, read in 2.
    assert_eq!(found.ranks, [1.0, 19.0, 19.0, 19.0]);
    assert_eq!(found.rounds, [17.0]);
    assert_eq!(found.shared, Traffic { messages: 3, bytes: 24.0 });
    assert_eq!((found.within, found.between), Default::default());
}

#[test]
fn a_flag_that_was_raised_long_ago_costs_nothing() {
    let late = |rank: usize, program: &mut Builder| {
        if rank == 1 {
            (0..40).for_each(|_| program.copy(Buffer::Send.block(0), Buffer::Scratch.block(0)));
        }
        broadcast(rank, program);
    };
    assert_eq!(carried_out_with(&schedules(2, late), 8, &sharing()).unwrap().ranks, [1.0, 42.0]);
}

#[test]
fn flags_go_from_rank_to_rank() {
    let relayed = |rank: usize, program: &mut Builder| {
        if rank > 0 {
            let slot = program.await_slot(rank - 1, 0);
            program.copy(slot, Buffer::Recv.block(0));
        }
        program.publish(Buffer::Recv.block(0), 0);
    };
    // Each rank waits 16 for a flag, then copies a slot of another rank in 2 and its own block in 1.
    let expected = [1.0, 1.0 + 19.0, 1.0 + 38.0, 1.0 + 57.0];
    assert_eq!(carried_out_with(&schedules(4, relayed), 8, &sharing()).unwrap().ranks, expected);
}

#[test]
fn a_slot_of_one_s_own_is_ordinary_memory() {
    let alone = |_: usize, program: &mut Builder| {
        program.publish(Buffer::Send.block(0), 0);
        program.copy(Buffer::of_rank(0).block(0), Buffer::Recv.block(0));
    };
    let found = carried_out_with(&schedules(1, alone), 8, &sharing()).unwrap();
    assert_eq!((found.ranks, found.shared), (vec![2.0], Traffic::default()));
}

#[test]
fn a_reduction_takes_the_longer_of_reading_and_reducing() {
    let reduced = |machine: &Machine, target: Buffer, of_others: usize| {
        let write = |rank: usize, program: &mut Builder| match rank {
            0 | 1 => program.publish(Buffer::Send.block(0), 0),
            _ => {
                let others = [0, 1].map(|peer| program.await_slot(peer, 0));
                let left = if of_others > 0 { others[0] } else { Buffer::Send.block(0) };
                let right = if of_others > 1 { others[1] } else { Buffer::Scratch.block(0) };
                program.reduce(left, right, target.block(0));
            }
        };
        carried_out_with(&schedules(3, write), 8, machine).unwrap().ranks[2] - 17.0
    };
    let slow = sharing();
    let fast =
        Machine { processor: Processor { reduce_time: 0.0625.into(), ..slow.processor }, ..slow.clone() };
    assert_eq!([0, 1].map(|others| reduced(&slow, Buffer::Scratch, others)), [4.0, 4.0]);
    assert_eq!([0, 1].map(|others| reduced(&fast, Buffer::Scratch, others)), [0.5, 2.0]);
    // For a third buffer, the right operand is copied first.
    assert_eq!([0, 1, 2].map(|others| reduced(&fast, Buffer::Recv, others)), [1.5, 3.0, 4.0]);
}

#[test]
fn whether_reading_or_reducing_takes_longer_depends_on_the_machine_and_the_call() {
    let reducing = |knots: &[(usize, f64)]| Machine {
        processor: Processor { reduce_time: ByteTime::known_at(knots).unwrap(), ..sharing().processor },
        ..sharing()
    };
    let algorithm = Allreduce.algorithm("shared_flat").unwrap();
    let on = |machine: &Machine| Simulation::new(Allreduce, algorithm, &Problem::new(4), machine).unwrap();
    let mut moved = on(&reducing(&[(1, 4.0)]));
    let [short, long] = [8, 4096].map(|bytes| {
        let slow_for_long = reducing(&[(8, 0.0), (4096, 4.0)]);
        let found = on(&slow_for_long).predict(bytes).unwrap().time();
        assert_eq!(moved.on(&slow_for_long).predict(bytes).unwrap().time(), found);
        found / bytes as f64
    });
    assert!(long > short + 3.0 * 3.0, "{long} {short}");
}

#[test]
fn work_takes_as_long_in_v_collectives_as_in_those_with_equal_blocks() {
    let copy_time = ByteTime::known_at(&[(64, 0.125), (1024, 8.0)]).unwrap();
    let machine = Machine { processor: Processor { copy_time, ..Processor::default() }, ..sharing() };
    let time = |collective: Collective, algorithm: &str, problem: &Problem| {
        let algorithm = collective.algorithm(algorithm).unwrap();
        Simulation::new(collective, algorithm, problem, &machine).unwrap().predict(64).unwrap().time()
    };
    let ring = Problem::new(16);
    let expected = time(Alltoall, "pairwise", &ring);
    assert_eq!(time(Alltoallv, "pairwise", &ring), expected);
    assert_eq!(time(Alltoallw, "pairwise", &ring), expected);
    assert_eq!(time(Gatherv, "linear", &ring), time(Gather, "linear", &ring));
}

#[test]
fn flags_and_messages_go_together() {
    // Rank 1 sends rank 2 a message with what it learned by a flag.
    let two_nodes = Machine { ranks_per_node: 2, ..sharing() };
    let write = |rank: usize, program: &mut Builder| match rank {
        0 => program.publish(Buffer::Send.block(0), 0),
        1 => {
            let slot = program.await_slot(0, 0);
            program.copy(slot, Buffer::Recv.block(0));
            program.send(2, Buffer::Recv.block(0));
        }
        2 => {
            program.receive(1, Buffer::Recv.block(0));
            program.end_round();
            program.publish(Buffer::Recv.block(0), 0);
        }
        _ => {
            let slot = program.await_slot(2, 0);
            program.copy(slot, Buffer::Recv.block(0));
        }
    };
    let found = carried_out_with(&schedules(4, write), 8, &two_nodes).unwrap();
    // Read at 19; the message takes 80, of which 16 are the sender's.
    assert_eq!(found.ranks, [1.0, 19.0 + 16.0, 19.0 + 80.0 + 1.0, 100.0 + 16.0 + 2.0]);
    assert_eq!(found.between, Traffic { messages: 1, bytes: 8.0 });
}

#[test]
fn long_blocks_go_in_stripes_through_four_banks() {
    // Stripes of 1 MiB: a rank writes one in 2^17, another one reads it in 2^18.
    let (written, read) = ((1 << 17) as f64, (1 << 18) as f64);
    let time =
        |stripes: usize| carried_out_with(&schedules(2, broadcast), stripes << 20, &sharing()).unwrap().ranks;
    let readings = |stripes: f64| written + 16.0 + stripes * read;
    assert_eq!(time(1), [written, readings(1.0)]);
    assert_eq!(time(4), [4.0 * written, readings(4.0)]);
    // The writer fills four banks. By then the first has been read; later the writer has to wait.
    assert_eq!(time(5), [5.0 * written, readings(5.0)]);
    assert_eq!(time(8), [readings(4.0) + 16.0 + written, readings(8.0)]);
    let found = carried_out_with(&schedules(2, broadcast), 8 << 20, &sharing()).unwrap();
    // The writer also waits for the ends of four stripes.
    assert_eq!(found.shared, Traffic { messages: 8 + 4, bytes: f64::from(8 << 20) });
}

#[test]
fn very_long_blocks_have_no_more_than_256_stripes() {
    let found = carried_out_with(&schedules(2, broadcast), 1 << 30, &sharing()).unwrap();
    assert_eq!(found.shared.messages, 256 + 252);
    assert_eq!(found.shared.bytes, f64::from(1 << 30));
}

#[test]
fn flags_that_never_come_are_deadlocks() {
    let error = |size, write: fn(usize, &mut Builder)| {
        carried_out_with(&schedules(size, write), 8, &sharing()).unwrap_err()
    };
    let nobody_raises = |rank: usize, program: &mut Builder| {
        if rank == 1 {
            program.await_slot(0, 0);
        }
    };
    assert_eq!(error(2, nobody_raises), SimulationError::Deadlock { rank: 1 });
    let both_wait_first = |rank: usize, program: &mut Builder| {
        program.await_slot(1 - rank, 0);
        program.notify(0);
    };
    assert_eq!(error(2, both_wait_first), SimulationError::Deadlock { rank: 0 });
}

#[test]
fn ranks_of_different_nodes_share_no_memory() {
    let apart = Machine { ranks_per_node: 2, ..sharing() };
    let error = carried_out_with(&schedules(3, broadcast), 8, &apart).unwrap_err();
    assert_eq!(error, SimulationError::DoesNotServe(Reason::Unmet(Requirement::OneNode)));
    assert_eq!(error.to_string(), "it cannot serve this: the ranks are not all known to be on one node");
}

#[test]
fn algorithms_for_one_node_are_priced_there_alone() {
    let shared = Bcast.algorithm("shared").unwrap();
    let price = |size| simulate(Bcast, shared, &Problem::new(size), 8, &sharing()).map(|found| found.time());
    assert_eq!(price(4), Ok(19.0));
    assert_eq!(price(5), Err(SimulationError::DoesNotServe(Reason::Unmet(Requirement::OneNode))));
}

#[test]
fn segments_of_a_block_are_written_while_others_are_read() {
    let shared = Bcast.algorithm("shared").unwrap();
    let price = |stripe| {
        let simulation = Simulation::new(Bcast, shared, &Problem::new(4), &sharing()).unwrap();
        simulation.in_stripes(stripe).predict(1 << 10).unwrap().time()
    };
    // Written in 128 and read in 256, whole or in quarters.
    assert_eq!(price(None), 128.0 + 16.0 + 256.0);
    assert_eq!(price(Some(256)), 32.0 + 16.0 + 256.0);
}

/// Where segments are blocks of the schedule, each has a slot of its own.
#[test]
fn segments_that_are_blocks_are_in_their_slots_whole() {
    let mut checked = 0;
    for algorithm in REGISTRY.iter().filter(|algorithm| algorithm.cuts_segments()) {
        let problem =
            Problem { segments: 8, nodes: (0..8).map(|rank| rank / 4).collect(), ..Problem::new(8) };
        let steps = (0..8).flat_map(|rank| algorithm.program(&problem, rank).steps);
        let awaited = steps.filter(|step| matches!(step, Step::Await { .. })).count() as u64;
        let simulated = simulate(algorithm.contract(), algorithm, &problem, 1 << 15, &sharing());
        if awaited > 0 {
            assert_eq!(simulated.unwrap().shared.messages, awaited, "{}", algorithm.title());
            checked += 1;
        }
    }
    assert!(checked > 0, "no algorithm cuts segments and has slots");
}

#[test]
fn rounds_end_with_the_last_rank() {
    let relayed = |rank: usize, program: &mut Builder| match rank {
        0 => {
            send(program, 1);
            program.end_round();
            send(program, 1);
        }
        _ => {
            receive(program, 0);
            program.end_round();
            receive(program, 0);
        }
    };
    assert_eq!(carried_out(2, &hockney(), relayed).unwrap().rounds, [80.0, 96.0]);
}

#[test]
fn deadlocks_and_lost_messages_are_errors() {
    let nobody_sends = |rank: usize, program: &mut Builder| receive(program, 1 - rank);
    let error = carried_out(2, &hockney(), nobody_sends).unwrap_err();
    assert_eq!(error, SimulationError::Unmatched { source: 1, target: 0 });
    let nobody_receives = |rank: usize, program: &mut Builder| {
        if rank == 0 {
            send(program, 1)
        }
    };
    let error = carried_out(2, &hockney(), nobody_receives).unwrap_err();
    assert_eq!(error, SimulationError::Unmatched { source: 0, target: 1 });
    let both_wait_first = |rank: usize, program: &mut Builder| {
        receive(program, 1 - rank);
        program.end_round();
        send(program, 1 - rank);
    };
    let error = carried_out(2, &hockney(), both_wait_first).unwrap_err();
    assert_eq!(error, SimulationError::Deadlock { rank: 0 });
}

/// Returns the time of a registered algorithm.
fn time_of(collective: Collective, name: &str, problem: &Problem, bytes: usize, machine: &Machine) -> f64 {
    let algorithm = collective.algorithm(name).unwrap();
    simulate(collective, algorithm, problem, bytes, machine).unwrap().time()
}

fn assert_close(found: f64, expected: f64, label: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected, "{label}: {found}, not {expected}");
}

#[test]
fn hockney_times_are_those_of_the_textbooks() {
    let (alpha, beta, gamma) = (1.1e-3, 8.6e-8, 3e-10);
    let machine = Machine::hockney(alpha, beta, gamma);
    for exponent in 1..=7 {
        let size = 1_usize << exponent;
        let (p, log, n) = (size as f64, f64::from(exponent), (1 << 17) as f64);
        let part = n * (p - 1.0) / p;
        for (collective, name, expected) in [
            (Allreduce, "recursive_doubling", log * (alpha + n * (beta + gamma))),
            (Allreduce, "rabenseifner", 2.0 * log * alpha + 2.0 * part * beta + part * gamma),
            (Allreduce, "ring", 2.0 * (p - 1.0) * alpha + 2.0 * part * beta + part * gamma),
            (Allgather, "ring", (p - 1.0) * (alpha + n * beta)),
            (Allgather, "recursive_doubling", log * alpha + (p - 1.0) * n * beta),
            (Alltoall, "pairwise", (p - 1.0) * (alpha + n * beta)),
            (Alltoall, "bruck", log * (alpha + p / 2.0 * n * beta)),
            (Bcast, "binomial", log * (alpha + n * beta)),
            (Bcast, "scatter_ring_allgather", (log + p - 1.0) * alpha + 2.0 * part * beta),
            (Barrier, "dissemination", log * (alpha + beta)),
            (ReduceScatter, "recursive_halving", log * alpha + part * (beta + gamma)),
        ] {
            let problem = Problem { radix: 2, ..Problem::new(size) };
            let found = time_of(collective, name, &problem, 1 << 17, &machine);
            assert_close(found, expected, &format!("{} {name}, p = {size}", collective.name()));
        }
    }
}

#[test]
fn vectors_are_cut_as_the_engine_cuts_them() {
    let ring = Allreduce.algorithm("ring").unwrap();
    let predict = |size, bytes| simulate(Allreduce, ring, &Problem::new(size), bytes, &hockney()).unwrap();
    // Every byte is sent 2 · 4 times, in blocks of 3, 3, 2, 3, 2 bytes.
    let uneven = predict(5, 13);
    assert_eq!(uneven.between, Traffic { messages: 5 * 8, bytes: 2.0 * 4.0 * 13.0 });
    // Empty blocks are not sent: the only other block goes around.
    assert_eq!(predict(5, 1).between, Traffic { messages: 8, bytes: 8.0 });
    assert_eq!(predict(5, 1).time(), 8.0 * (ALPHA + BETA));
    let nothing = predict(5, 0);
    assert_eq!((nothing.time(), nothing.between), (0.0, Traffic::default()));
}

#[test]
fn blocks_of_the_mean_length_are_wrong_by_less_than_a_byte() {
    let ring = Allreduce.algorithm("ring").unwrap();
    let (problem, machine) = (Problem::new(48), hockney());
    for bytes in [4800, 4801, 4824, 4847] {
        let mean = simulate(Allreduce, ring, &problem, bytes, &machine).unwrap();
        let exact = Simulation::new(Allreduce, ring, &problem, &machine)
            .unwrap()
            .with_symmetry(None)
            .predict(bytes)
            .unwrap();
        assert_eq!(mean.between.messages, exact.between.messages);
        assert!((mean.between.bytes - exact.between.bytes).abs() < 1e-6);
        let bound = 2.0 * 47.0 * BETA;
        assert!((mean.time() - exact.time()).abs() < bound, "{bytes}");
    }
}

#[test]
fn lengths_are_told_before_data_travel() {
    let machine = Machine::hockney(ALPHA, 0.0, 0.0);
    let time = |collective: Collective, name| {
        time_of(collective, name, &Problem { radix: 2, ..Problem::new(8) }, 100, &machine)
    };
    assert_eq!(time(Alltoall, "bruck"), 3.0 * ALPHA);
    assert_eq!(time(Alltoallv, "bruck_two_phase"), (3.0 + 3.0) * ALPHA);
    assert_eq!(time(Alltoallv, "bruck_padded"), (3.0 + 3.0) * ALPHA);
}

#[test]
fn the_problem_s_nodes_come_before_the_machine_s() {
    let machine = Machine { ranks_per_node: 4, ..hockney() };
    let traffic = |nodes: &[u32]| {
        let problem = Problem { nodes: nodes.into(), ..Problem::new(8) };
        let ring = Allgather.algorithm("ring").unwrap();
        let Prediction { within, between, .. } = simulate(Allgather, ring, &problem, 1, &machine).unwrap();
        (within.messages, between.messages)
    };
    assert_eq!(traffic(&[]), (6 * 7, 2 * 7));
    assert_eq!(traffic(&[0, 0, 0, 0, 1, 1, 1, 1]), (6 * 7, 2 * 7));
    assert_eq!(traffic(&[70, 7, 70, 7, 70, 7, 70, 7]), (0, 8 * 7));
}

#[test]
fn what_cannot_be_priced_is_told() {
    let error = |collective: Collective, name, problem: &Problem, bytes| {
        simulate(collective, collective.algorithm(name).unwrap(), problem, bytes, &hockney())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(Allgather, "neighbor_exchange", &Problem::new(7), 1),
        "it cannot serve this: the number of ranks is odd"
    );
    assert_eq!(
        error(Allgather, "ring", &Problem::new(7), MOST_BYTES + 1),
        "17592186044417 bytes are too many to be priced; at most 17592186044416 are"
    );
    assert_eq!(
        error(Bcast, "scatter_ring_allgather", &Problem::new(1 << 14), 1 << 20),
        "this is too large to be simulated: the 16384 ranks have more than 33554432 sends, receives and flags"
    );
}

#[test]
fn the_longest_vectors_are_priced() {
    for name in ["ring", "rabenseifner", "recursive_doubling"] {
        let time = time_of(Allreduce, name, &Problem::new(7), MOST_BYTES - 1, &hockney());
        assert!(time > BETA * MOST_BYTES as f64, "{name}");
    }
    assert!(time_of(Alltoall, "bruck", &Problem::new(1 << 10), MOST_BYTES - 1, &hockney()).is_finite());
}

#[test]
fn the_observer_is_told_of_both_stages() {
    let mut seen: Vec<Progress> = Vec::new();
    let binomial = Bcast.algorithm("binomial").unwrap();
    let machine = with_link(|link| Link { packet: 1, ..link });
    let mut simulation = Simulation::new(Bcast, binomial, &Problem::new(40), &machine).unwrap();
    simulation.predict_observed(1 << 20, &mut |progress| seen.push(progress)).unwrap();
    assert_eq!(seen.first(), Some(&Progress { stage: Stage::Programs, done: 0, total: 40 }));
    // Each of 39 messages leaves and arrives, in packets.
    assert_eq!(seen.last(), Some(&Progress { stage: Stage::Messages, done: 0, total: 2 * 39 }));
    assert!(seen.iter().all(|progress| progress.done < progress.total));
}

/// Checks that a case takes seconds only, and prints how many.
fn assert_quick(collective: Collective, name: &str, problem: Problem, bytes: usize) {
    let (start, machine) =
        (std::time::Instant::now(), Machine { ranks_per_node: 32, ..Machine::hockney(1e-6, 1e-10, 1e-10) });
    let time = time_of(collective, name, &problem, bytes, &machine);
    let elapsed = start.elapsed().as_secs_f64();
    println!("{} {name}, p = {}: {time} s, found in {elapsed:.1} s", collective.name(), problem.size);
    assert!(elapsed < 100.0);
}

#[test]
#[ignore = "takes seconds"]
fn large_machines_take_seconds() {
    for (name, size) in [
        ("recursive_doubling", 1 << 16),
        ("recursive_doubling", 60_000),
        ("rabenseifner", 1 << 16),
        ("rabenseifner", 60_000),
        ("binary_blocks", 60_000),
        ("ring", 1 << 16),
        ("reduce_bcast", 1 << 16),
        ("circulant", 1 << 16),
    ] {
        assert_quick(Allreduce, name, Problem::new(size), 1 << 20);
    }
    let radix_4 = Problem { radix: 4, ..Problem::new(1 << 16) };
    assert_quick(Allreduce, "recursive_multiplying", radix_4, 1 << 20);
    for name in ["binomial", "knomial", "binary", "chain"] {
        assert_quick(Bcast, name, Problem::new(1 << 16), 1 << 20);
    }
    for radix in [2, 64] {
        assert_quick(Alltoall, "bruck", Problem { radix, ..Problem::new(1 << 12) }, 8);
    }
    for name in ["spread_out", "pairwise", "linear_window"] {
        assert_quick(Alltoall, name, Problem::new(1 << 12), 1 << 10);
    }
}

fn recursive_doubling(size: usize, bytes: usize, machine: &Machine) -> f64 {
    let algorithm = Allreduce.algorithm("recursive_doubling").unwrap();
    simulate(Allreduce, algorithm, &Problem::new(size), bytes, machine).unwrap().time()
}

#[test]
fn bytes_of_longer_messages_may_take_less_time() {
    let byte_time = ByteTime::known_at(&[(8, 4.0), (32, 2.0)]).unwrap();
    let machine = with_link(|link| Link { byte_time, ..link });
    for (bytes, time_for_each) in [(8, 4.0), (16, 3.0), (32, 2.0), (64, 2.0)] {
        assert_eq!(recursive_doubling(2, bytes, &machine), ALPHA + bytes as f64 * time_for_each);
    }
}

#[test]
fn messages_between_groups_are_longer_under_way() {
    let grouped = |placed: Option<&[u32]>| {
        let machine = with_link(|link| Link { group_latency: 16.0, ..link });
        let placed = placed.map(|placed| placed.into());
        Machine { groups: Some(Groups { nodes: 2, placed }), ..machine }
    };
    let step = ALPHA + 8.0 * BETA;
    assert_eq!(recursive_doubling(4, 8, &hockney()), 2.0 * step);
    assert_eq!(recursive_doubling(4, 8, &grouped(None)), 2.0 * step + 16.0);
    assert_eq!(recursive_doubling(4, 8, &grouped(Some(&[0, 0, 0, 0]))), 2.0 * step);
    assert_eq!(recursive_doubling(4, 8, &grouped(Some(&[0, 1, 2, 3]))), 2.0 * (step + 16.0));
}

/// Leaders have far more of them than the other ranks of their nodes.
#[test]
fn posts_are_estimated() {
    let machine = Machine { ranks_per_node: 16, ..hockney() };
    for (collective, name) in [(Bcast, "node_aware"), (Bcast, "binomial"), (Allreduce, "ring")] {
        let algorithm = collective.algorithm(name).unwrap();
        let simulation = Simulation::new(collective, algorithm, &Problem::new(1024), &machine).unwrap();
        let ranks = simulation.symmetry().map_or(simulation.size(), Symmetry::period);
        let compiler = simulation.compiler(simulation.lengths_and_bytes(1 << 20).0);
        let posts: usize = (0..ranks).map(|rank| compiler.program(rank).posts_and_signals()).sum();
        let ratio = simulation.posts(1 << 20) as f64 / posts as f64;
        assert!((0.7..1.4).contains(&ratio), "{name}: {ratio} of {posts}");
    }
}

#[test]
fn the_lower_bound_has_the_time_between_groups() {
    let machine = with_link(|link| Link { group_latency: 1024.0, ..link });
    let machine = Machine { groups: Some(Groups { nodes: 2, placed: None }), ..machine };
    let doubling = Allreduce.algorithm("recursive_doubling").unwrap();
    for size in [8, 64] {
        let mut simulation = Simulation::new(Allreduce, doubling, &Problem::new(size), &machine).unwrap();
        let (least, time) = (least_time(&simulation, 8), simulation.predict(8).unwrap().time());
        assert!(least <= time && 0.99 * time <= least, "{size}: {least} {time}");
    }
}

/// In a ring each block crosses every border between groups once, so that the mean counts.
#[test]
fn groups_hold_where_few_ranks_stand_for_all() {
    let machine = with_link(|link| Link { group_latency: 16.0, ..link });
    let machine = Machine { groups: Some(Groups { nodes: 12, placed: None }), ..machine };
    let ring = Allgather.algorithm("ring").unwrap();
    let mut simulation = Simulation::new(Allgather, ring, &Problem::new(48), &machine).unwrap();
    let few = simulation.predict(8).unwrap();
    assert_eq!(few.ranks.len(), 1);
    let all = simulation.with_symmetry(None).predict(8).unwrap();
    assert!((few.time() / all.mean_time() - 1.0).abs() < 0.01, "{} {}", few.time(), all.mean_time());
}

#[test]
fn a_last_node_that_is_not_full_is_taken_to_be_like_the_others() {
    let machine = Machine { ranks_per_node: 10, ..with_link(|link| Link { overhead: 1.0, ..link }) };
    for (collective, name) in
        [(Allgather, "ring"), (Allgather, "bruck"), (Alltoall, "pairwise"), (Barrier, "dissemination")]
    {
        let algorithm = collective.algorithm(name).unwrap();
        let mut simulation = Simulation::new(collective, algorithm, &Problem::new(306), &machine).unwrap();
        let few = simulation.predict(8).unwrap();
        assert_eq!(few.ranks.len(), 10, "{name}");
        let all = simulation.with_symmetry(None).predict(8).unwrap();
        assert!((few.time() / all.time() - 1.0).abs() < 0.05, "{name}: {} {}", few.time(), all.time());
    }
}

#[test]
fn scratch_memory_takes_time_where_it_is_not_kept() {
    let processor = Processor { fresh_time: 10.0.into(), kept: 16, ..Processor::default() };
    let machine = Machine { processor, ..hockney() };
    for (bytes, fresh) in [(16, 0.0), (24, 240.0)] {
        assert_eq!(
            recursive_doubling(2, bytes, &machine) - recursive_doubling(2, bytes, &hockney()),
            fresh,
            "{bytes} bytes"
        );
    }
}

/// The parts of a rank's time add up to it, and each part is what the machine says.
#[test]
fn times_are_explained() {
    let processor = Processor { reduce_time: 0.5.into(), copy_time: 0.25.into(), ..Processor::default() };
    let machine = with_link(|link| Link { overhead: 1.0, gap: 3.0, eager_limit: 20, ..link });
    let machine = Machine { processor, ..machine };
    for (collective, name) in [(Allreduce, "rabenseifner"), (Bcast, "binomial"), (Alltoall, "spread_out")] {
        let algorithm = collective.algorithm(name).unwrap();
        let mut simulation = Simulation::new(collective, algorithm, &Problem::new(8), &machine).unwrap();
        let explanation = simulation.explain(64).unwrap();
        let prediction = &explanation.prediction;
        assert_eq!(*prediction, simulation.predict(64).unwrap());
        let seconds = |charges: Vec<Charge>| -> f64 {
            let seconds = |charge: &Charge| {
                charge.amount
                    * match charge.what {
                        Charged::Overhead(_) => 1.0,
                        Charged::Latency(_) => ALPHA,
                        Charged::Transfer(_) => BETA,
                        Charged::Gap(_) => 3.0,
                        Charged::Reduction => 0.5,
                        Charged::Copy => 0.25,
                        other => unreachable!("{other:?} takes no time"),
                    }
            };
            charges.iter().map(seconds).sum()
        };
        for rank in 0..8 {
            let explained = seconds(explanation.of_rank(rank));
            assert!((explained - prediction.of_rank(rank)).abs() < 1e-9, "{name}, rank {rank}");
        }
        for (charges, time) in
            [(explanation.of_slowest(), prediction.time()), (explanation.of_mean(), prediction.mean_time())]
        {
            assert!((seconds(charges) - time).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn a_simulation_may_go_on_on_another_machine() {
    let ring = Allreduce.algorithm("ring").unwrap();
    let slow = with_link(|link| Link { latency: 2.0 * ALPHA, ..link });
    let mut simulation = Simulation::new(Allreduce, ring, &Problem::new(6), &hockney()).unwrap();
    let before = simulation.predict(60).unwrap().time();
    assert_eq!(simulation.on(&slow).predict(60).unwrap().time(), before + 10.0 * ALPHA);
}
