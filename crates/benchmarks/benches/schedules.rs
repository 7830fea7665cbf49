//! Times the making of one rank's schedule among many ranks, once for each communicator and kind of call.

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

/// Every algorithm for intra-communicators, with its default parameters.
#[divan::bench(args = Allreduce.scheduled().filter(|one| !one.is_for_two_groups()).map(|one| one.name))]
fn allreduce(bencher: Bencher, name: &str) {
    build(bencher, Allreduce, name, &Problem::new(RANKS));
}

/// The algorithms that the default rules choose for 4096 ranks. Each should take at most 200 µs.
#[divan::bench(args = ["allgather_reduce", "recursive_multiplying", "circulant"])]
fn allreduce_by_rules(bencher: Bencher, name: &str) {
    build(bencher, Allreduce, name, &Problem { radix: 4, ..Problem::new(RANKS) });
}

/// Each radix should take at most a millisecond.
#[divan::bench(args = [2, 4, 16, 64])]
fn bruck(bencher: Bencher, radix: usize) {
    build(bencher, Alltoall, "bruck", &Problem { radix, ..Problem::new(RANKS) });
}

/// Each radix should take at most a millisecond.
#[divan::bench(args = [2, 4, 16, 64])]
fn bruck_modified(bencher: Bencher, radix: usize) {
    build(bencher, Alltoall, "bruck_modified", &Problem { radix, ..Problem::new(RANKS) });
}
