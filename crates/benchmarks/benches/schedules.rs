//! What it costs to build the schedule of one rank among many, once for each communicator and kind of call.

use divan::Bencher;
use rustcoll::algorithms::Collective::{self, Allreduce, Alltoall};
use rustcoll::algorithms::Problem;

fn main() {
    divan::main();
}

const RANKS: usize = 4096;

/// Neither the first rank nor the last.
const RANK: usize = RANKS / 3;

fn build(bencher: Bencher, collective: Collective, name: &str, problem: &Problem) {
    let algorithm = collective.algorithm(name).expect("it is registered");
    bencher.bench_local(|| algorithm.schedule(problem, RANK));
}

/// Every algorithm of one group, with its default parameters.
#[divan::bench(args = Allreduce.scheduled().filter(|one| !one.is_for_two_groups()).map(|one| one.name))]
fn allreduce(bencher: Bencher, name: &str) {
    build(bencher, Allreduce, name, &Problem::new(RANKS));
}

/// As the default rules have it for so many ranks; at most 200 µs.
#[divan::bench(args = ["allgather_reduce", "recursive_multiplying", "circulant"])]
fn allreduce_by_rules(bencher: Bencher, name: &str) {
    build(bencher, Allreduce, name, &Problem { radix: 4, ..Problem::new(RANKS) });
}

/// By radix; at most a millisecond.
#[divan::bench(args = [2, 4, 16, 64])]
fn bruck(bencher: Bencher, radix: usize) {
    build(bencher, Alltoall, "bruck", &Problem { radix, ..Problem::new(RANKS) });
}

/// The same.
#[divan::bench(args = [2, 4, 16, 64])]
fn bruck_modified(bencher: Bencher, radix: usize) {
    build(bencher, Alltoall, "bruck_modified", &Problem { radix, ..Problem::new(RANKS) });
}
