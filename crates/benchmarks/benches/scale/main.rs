//! Measures the memory and the time that one rank of many needs for a call: `make bench-scale`.
//!
//! For each collective, the default rules choose an algorithm on nodes of 128 ranks. The first call decides
//! and binds at two of the ranks. Each call runs the plan over a transport that answers at once, so nothing is sent.
//! Arguments select collectives: `cargo bench -p benchmarks --bench scale -- bcast`. One that ends in `.svg` is where the
//! picture goes.

mod plot;

use plot::{Line, Panel};
use std::alloc::{GlobalAlloc, Layout, System};
use std::convert::Infallible;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustcoll::algorithms::{Collective, Cut, Nodes, Problem};
use rustcoll::engine::{
    Counts, Execution, LengthExchange, LentCopy, Plan, Region, SlotBounds, Transport, bind,
};
use rustcoll::schedule::Post;
use rustcoll::selection::{Call, Choice, Measure, Rules};

const RANKS: [usize; 3] = [1 << 12, 1 << 16, 1 << 20];

const RANKS_PER_NODE: usize = 128;

/// Bytes, by the collective's measure.
const BYTES: [usize; 3] = [8, 4 << 10, 1 << 20];

/// How many times each plan runs; the shortest time counts.
const REPETITIONS: usize = 5;

/// An allocator that counts the bytes in use.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator; this type only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Relaxed);
        // SAFETY: this function has the same contract as the one that it calls.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: this function has the same contract as the one that it calls.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

/// A transport that transfers nothing: every wait ends at once.
struct Instantly;

impl Transport for Instantly {
    type Error = Infallible;

    fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Infallible> {
        black_box((post, peer, region));
        Ok(())
    }

    fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Infallible> {
        black_box((post, peer, region));
        Ok(())
    }

    fn wait(&mut self, posts: &[Post]) -> Result<(), Infallible> {
        black_box(posts);
        Ok(())
    }

    fn test(&mut self, posts: &[Post]) -> Result<bool, Infallible> {
        black_box(posts);
        Ok(true)
    }

    fn copy(&mut self, source: Region, target: Region) -> Result<(), Infallible> {
        black_box((source, target));
        Ok(())
    }

    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Infallible> {
        black_box((left, right, target));
        Ok(())
    }

    fn lend(&mut self, region: Region, slot: u32, copy: LentCopy) -> Result<(), Infallible> {
        black_box((region, slot, copy));
        Ok(())
    }

    fn notify(&mut self, slot: u32) -> Result<(), Infallible> {
        black_box(slot);
        Ok(())
    }

    fn is_notified(&mut self, rank: u32, slot: u32, times: u32) -> Result<bool, Infallible> {
        black_box((rank, slot, times));
        Ok(true)
    }

    fn await_notification(&mut self, rank: u32, slot: u32, times: u32) -> Result<(), Infallible> {
        black_box((rank, slot, times));
        Ok(())
    }

    fn are_slots_free(&mut self) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn await_free_slots(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn end_stripe(&mut self) {}
}

/// The cost of a call for one rank, or the most of several.
#[derive(Clone, Copy)]
struct Cost {
    algorithm: &'static str,
    /// Bytes of the schedule and its plan.
    kept: usize,
    /// The time to decide, to make the schedule and to bind it.
    first: Duration,
    /// The time to run the plan once.
    each: Duration,
}

const PAGE: &str = "# Scale

This page is for sites with many thousands of ranks. It shows the memory and the time that one rank needs for a call, without the network.
`make bench-scale` writes this page in two minutes, on any machine.

The benchmark runs each collective with lengths of 8 B, 4 KiB and 1 MiB, by the collective's measure. It takes what the default rules choose on
4,096 (2^12), 65,536 (2^16) and 1,048,576 (2^20) ranks, 128 on each node. Two ranks decide, make their schedules, bind them to data, and carry them out
over a transport that answers at once. One is rank 0, the root and the leader of its node; the other is in the middle. Each number is that of the rank
for which it is larger. If a row names several algorithms, the later ones serve more ranks.

- *Kept*: bytes of the schedule and its plan, until the communicator is freed. **Bold**: more than 64 KiB; of an alltoall, more than 32 bytes for
  each rank.
- *First call*: microseconds to decide, to make the schedule and to bind it. **Bold**: more than 2 ms; of an alltoall, 20 ms.
- *Each call*: microseconds to carry it out, beside what network and memory take. **Bold**: more than 2 us; an alltoall has a message for each rank.
  About 0.1 us for each message: a ring on 2^20 ranks has as many messages as ranks. So has the root of a linear gather or scatter.

![Bytes kept and time of the first call, by the number of ranks](scale.svg)

The picture shows each row of the table as a line. Table and picture leave out the memory of the communicator itself. Besides Open MPI's own memory,
rustcoll takes at most 2 KiB for a communicator before its first call. After a first short call it takes at most 4 KiB, and 256 bytes more for each
rank of the node. Without shared memory, it takes about 2 KiB more than that. The places of the ranks take no memory if ranks are placed evenly: so
many on each node, node after node, and from the first node again. Otherwise they take 20 bytes for each rank, which all calls share.

| collective | bytes | algorithm | kept, 2^12 | 2^16 | 2^20 | first call, 2^12 | 2^16 | 2^20 | each call, 2^12 | 2^16 | 2^20 |
|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

fn main() {
    print!("{PAGE}");
    let (pictures, named): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .partition(|word| word.ends_with(".svg"));
    let is_named =
        |collective: &Collective| named.is_empty() || named.iter().any(|name| name == collective.name());
    let mut rows = Vec::new();
    for collective in Collective::ALL.into_iter().filter(is_named) {
        if collective.cut() == Cut::Edges {
            continue;
        }
        for bytes in BYTES {
            let costs = RANKS.map(|ranks| most(collective, bytes, ranks));
            let [Some(few), Some(more), Some(many)] = costs else { continue };
            let costs = [few, more, many];
            println!("{}", row(collective, bytes, &costs));
            rows.push((collective, costs));
        }
    }
    for picture in pictures {
        plot::write(Path::new(&picture), &panels(&rows)).expect("the picture can be written");
    }
}

fn panels(rows: &[(Collective, [Cost; RANKS.len()])]) -> [Panel; 2] {
    let panel = |title, value: fn(&Cost) -> f64| {
        let line = |(collective, costs): &(Collective, [Cost; RANKS.len()])| Line {
            goes_to_all: goes_to_all(*collective),
            points: RANKS.iter().map(|&ranks| ranks as f64).zip(costs.iter().map(value)).collect(),
        };
        Panel { title, lines: rows.iter().map(line).collect() }
    };
    [
        panel("bytes kept", |cost| cost.kept as f64),
        panel("first call, microseconds", |cost| cost.first.as_secs_f64() * 1e6),
    ]
}

fn goes_to_all(collective: Collective) -> bool {
    matches!(collective, Collective::Alltoall | Collective::Alltoallv | Collective::Alltoallw)
}

fn row(collective: Collective, bytes: usize, costs: &[Cost; RANKS.len()]) -> String {
    let mut algorithms: Vec<&str> = costs.iter().map(|cost| cost.algorithm).collect();
    algorithms.dedup();
    let goes_to_all = goes_to_all(collective);
    let [most_first, most_each] = if goes_to_all { [20e-3, f64::INFINITY] } else { [2e-3, 2e-6] };
    let kept = RANKS.iter().zip(costs).map(|(ranks, cost)| {
        let most = if goes_to_all { 32 * ranks } else { 64 << 10 };
        marked(cost.kept.to_string(), cost.kept > most)
    });
    let time = |time: Duration, most: f64| {
        marked(format!("{:.1}", time.as_secs_f64() * 1e6), time.as_secs_f64() > most)
    };
    let first = costs.iter().map(|cost| time(cost.first, most_first));
    let each = costs.iter().map(|cost| time(cost.each, most_each));
    let cells: Vec<String> = kept.chain(first).chain(each).collect();
    format!("| {} | {bytes} | {} | {} |", collective.name(), algorithms.join(", "), cells.join(" | "))
}

fn marked(text: String, is_beyond: bool) -> String {
    if is_beyond { format!("**{text}**") } else { text }
}

/// Returns the most that the root, which leads its node, and a rank in the middle need. `None`: there is no schedule.
fn most(collective: Collective, bytes: usize, ranks: usize) -> Option<Cost> {
    let [root, other] = [0, ranks / 3].map(|rank| cost(collective, bytes, ranks, rank));
    let (root, other) = (root?, other?);
    Some(Cost {
        kept: root.kept.max(other.kept),
        first: root.first.max(other.first),
        each: root.each.max(other.each),
        ..root
    })
}

fn cost(collective: Collective, bytes: usize, ranks: usize, rank: usize) -> Option<Cost> {
    let table = Rules::built_in().for_communicator(collective, ranks, 1);
    let call = Call {
        root: collective.is_rooted().then_some(0),
        is_on_several_nodes: true,
        nodes: Some(ranks / RANKS_PER_NODE),
        ranks_per_node: Some(RANKS_PER_NODE),
        ..Call::new(collective, ranks, bytes)
    };
    let before = HELD.load(Relaxed);
    let start = Instant::now();
    let Choice::Use { algorithm, parameters } = table.choose(&call) else { return None };
    if algorithm.calls().is_some() {
        return None;
    }
    let mut problem = Problem::new(ranks);
    if algorithm.takes_nodes() {
        problem.nodes = Nodes::even(ranks, RANKS_PER_NODE, ranks);
    }
    let problem = parameters.applied(algorithm, bytes, problem);
    let schedule = Arc::new(algorithm.schedule(&problem, rank));
    let of_block = if Measure::of(collective) == Measure::AllBlocks { bytes.div_ceil(ranks) } else { bytes };
    let count = Counts::One { count: of_block, bytes: 1 };
    let binding = bind(collective, rank, schedule.blocks, &count, &count);
    let bounds = SlotBounds::of_ranks(ranks, SlotBounds::DEFAULT.bank);
    let plan = match (schedule.slots > 0, LengthExchange::new(algorithm, &problem, &schedule, &binding)) {
        (true, _) => Plan::through_slots(&schedule, &binding, &binding, &bounds),
        (false, Some(exchange)) => exchange.plan,
        (false, None) => Plan::new(&schedule, &binding),
    };
    let run = || {
        let start = Instant::now();
        let Ok(()) = Execution::default().finish(&plan, &mut Instantly);
        start.elapsed()
    };
    let first = start.elapsed();
    let kept = HELD.load(Relaxed) - before;
    let each = (0..REPETITIONS).map(|_| run()).min().expect("there are some");
    Some(Cost { algorithm: algorithm.name, kept, first, each })
}
