//! Short histories that once showed a fault, and that a few thousand seeds would not find again. Each runs in many
//! orders.

use expected_results::arithmetic::Arithmetic;
use rustcoll::algorithms::{Collective, Dimension, Graph, Neighbours, Stencil};

use crate::history::{
    Call, Communicator, Deed, Delivery, Fault, FaultKind, History, Setting, Step, Surroundings, Topology,
    Unit,
};

/// The number of orders of each history.
const ORDERS: u64 = 200;

const HISTORIES: [fn() -> History; 6] = [
    a_rank_refuses_a_call_where_none_shares_memory,
    a_message_fails_while_mpi_duplicates,
    a_rank_has_no_memory_to_find_a_stencil,
    a_rank_fails_whom_the_others_do_not_need,
    a_call_fails_while_another_one_lends,
    a_rank_dies_while_another_one_lends,
];

/// The number of histories, in all their orders.
pub const NUMBER: u64 = ORDERS * HISTORIES.len() as u64;

/// Returns one of these histories.
pub fn history(number: u64) -> History {
    History { seed: number % ORDERS, ..HISTORIES[(number / ORDERS) as usize]() }
}

/// Rank 0 has no memory for a first call, which goes by messages, because rank 3 cannot share memory. A second call
/// must not wait for the first on any rank, whenever that rank learns that there is no shared memory.
fn a_rank_refuses_a_call_where_none_shares_memory() -> History {
    let scatter = call(Collective::Scatter);
    let from_the_first = Setting { name: "shared_memory_from".into(), values: vec![1; 4] };
    let fault = |rank, kind| Fault { rank, kind, after: 0 };
    of_four_ranks(
        [Deed::Make(0), Deed::Set(from_the_first), Deed::Begin(scatter.clone()), Deed::Begin(scatter)],
        vec![fault(0, FaultKind::NoMemory), fault(3, FaultKind::NothingToShare)],
    )
}

/// After a failed call, MPI makes none of the remaining calls of its duplication. That rank's later calls must not
/// meet those calls on the other ranks.
fn a_message_fails_while_mpi_duplicates() -> History {
    let duplicate = || Deed::Duplicate(0);
    let fault = Fault { rank: 3, kind: FaultKind::Receive, after: 0 };
    of_four_ranks([Deed::Make(0), duplicate(), duplicate()], vec![fault])
}

/// The ranks do not find their neighbours' stencil, because rank 3 has no memory meanwhile. Its next blocking
/// call must not receive what others sent it for the stencil.
fn a_rank_has_no_memory_to_find_a_stencil() -> History {
    let [neighbours, scan] = [Collective::NeighborAlltoall, Collective::Scan].map(call);
    let fault = Fault { rank: 3, kind: FaultKind::NoMemory, after: 0 };
    let mut history =
        of_four_ranks([Deed::Make(0), Deed::Prepare(neighbours), Deed::Block(scan)], vec![fault]);
    history.surroundings.knows_nodes = false;
    let grid = [2, 2].map(|length| Dimension { length, periodic: true });
    let graph = Graph::of_stencil(Stencil::around(&grid)).without_stencil();
    history.communicators[0].topology = Topology::Listed(graph);
    history
}

/// A rank without neighbours fails, so the others go on, and MPI duplicates the communicator. The others' first calls
/// go by messages. The failed rank must not search for memory to share, because no other rank does.
fn a_rank_fails_whom_the_others_do_not_need() -> History {
    let neighbours = || call(Collective::NeighborAllgather);
    // Its second message is the last that it receives while the ranks search for a stencil.
    let fault = Fault { rank: 3, kind: FaultKind::Receive, after: 1 };
    let deeds = [Deed::Make(0), Deed::Block(neighbours()), Deed::Begin(neighbours()), Deed::Duplicate(0)];
    let mut history = of_four_ranks(deeds, vec![fault]);
    let in_a_ring = |rank: usize| match rank {
        3 => Neighbours::default(),
        _ => Neighbours::listed([Some((rank + 2) % 3)], [Some((rank + 1) % 3)]),
    };
    history.communicators[0].topology = Topology::Listed(Graph::new((0..4).map(in_a_ring)));
    history
}

/// A gather by messages fails at rank 2 while others copy what rank 2 lends in a scatter. The scatter must go on there: if it
/// failed without taking back what it lent, the others would copy from memory that the program uses for something else.
fn a_call_fails_while_another_one_lends() -> History {
    a_gather_fails_during_a_scatter(Fault { rank: 2, kind: FaultKind::Receive, after: 5 }, 0)
}

/// Rank 3 dies while rank 2 lends in a scatter, and rank 2 takes back what it lent. The elements of the others have gaps, and no call may
/// leave them as they were without an error.
fn a_rank_dies_while_another_one_lends() -> History {
    a_gather_fails_during_a_scatter(Fault { rank: 3, kind: FaultKind::Death, after: 4 }, 1)
}

/// A non-blocking gather by messages, and a scatter in which rank 2 lends its blocks. `shape` draws the datatypes.
fn a_gather_fails_during_a_scatter(fault: Fault, shape: u64) -> History {
    let from_the_first = Setting { name: "shared_memory_from".into(), values: vec![1; 4] };
    let [gather, scatter] = [Collective::Gather, Collective::Scatter].map(|collective| Call {
        values: 2000,
        shape,
        ..call(collective)
    });
    let deeds = [
        Deed::Make(0),
        Deed::Set(from_the_first),
        Deed::Block(scatter.clone()),
        Deed::Begin(gather),
        Deed::Begin(scatter),
    ];
    let mut history = of_four_ranks(deeds, vec![fault]);
    let forced = [("gather", "linear"), ("scatter", "single_copy")];
    history.communicators[0].info = forced
        .map(|(collective, algorithm)| (format!("rustcoll_{collective}_algorithm"), algorithm.to_owned()))
        .into();
    history.surroundings.turns = 2;
    history
}

/// Returns a call on communicator 0.
fn call(collective: Collective) -> Call {
    Call {
        communicator: 0,
        collective,
        root: 2,
        values: 2,
        unit: Unit::Ints,
        in_place: false,
        arithmetic: Arithmetic::Sum,
        shape: 0,
        other: None,
    }
}

/// Returns a history of four ranks on one node, with one communicator.
fn of_four_ranks(deeds: impl IntoIterator<Item = Deed>, faults: Vec<Fault>) -> History {
    let ring = vec![Dimension { length: 4, periodic: true }];
    let topology = Topology::Grid(ring);
    let communicator = Communicator { members: vec![0, 1, 2, 3], remote: 0, topology, info: Vec::new() };
    History {
        seed: 0,
        ranks: 4,
        surroundings: Surroundings {
            nodes: vec![0; 4],
            knows_nodes: true,
            tells_nodes_late: false,
            is_preloaded: false,
            eager: 0,
            delivery: Delivery::AtOnce,
            turns: 50,
            cancels: true,
            is_watched: true,
            has_below: true,
            has_devices: false,
            tunes_online: false,
            goes_by_tcp: false,
            ends_idle_calls: false,
            tells_of_failures: true,
        },
        communicators: vec![communicator],
        steps: (0..).zip(deeds).map(|(number, deed)| Step { number, deed }).collect(),
        faults,
    }
}
