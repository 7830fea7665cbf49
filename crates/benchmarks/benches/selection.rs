//! Times the choice of a call's algorithm: `make bench-costs`.

use divan::Bencher;
use rustcoll::algorithms::Collective::Allreduce;
use rustcoll::selection::{Call, Rules};
use std::fmt::Write;

fn main() {
    divan::main();
}

const RANKS: usize = 100;

const RULES: [&str; 3] = ["built-in", "100 rules", "expression"];

fn rules(name: &str) -> Rules {
    match name {
        "built-in" => {
            let text = include_str!("../../../selection-rules/default.toml");
            Rules::parse(name, text).expect("they are right")
        }
        // Each rule has its own range of bytes.
        "100 rules" => {
            let rule = |mut line: String, number: usize| {
                let (first, last) = (number * 1000, number * 1000 + 999);
                write!(line, "bytes={first}..{last} commutative -> ring; ").expect("a text takes all");
                line
            };
            Rules::parse_line(name, Allreduce, &(0..100).fold(String::new(), rule)).expect("they are right")
        }
        _ => {
            let text = include_str!("../../../selection-rules/t3e-atlas.toml");
            Rules::parse(name, text).expect("they are right")
        }
    }
}

/// Returns a generator of calls with pseudo-random lengths below 100,000 bytes.
fn calls() -> impl FnMut() -> Call {
    let mut number: usize = 0;
    move || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Call::new(Allreduce, RANKS, (number >> 40) % 100_000)
    }
}

/// A look-up in a communicator's table, once for each call of a collective.
#[divan::bench(args = RULES)]
fn table(bencher: Bencher, name: &str) {
    let table = rules(name).for_communicator(Allreduce, RANKS, 1);
    bencher.with_inputs(calls()).bench_local_values(|call| table.rule(&call).is_some());
}

/// The same choice without a table: each rule is tried in turn.
#[divan::bench(args = RULES)]
fn rule_after_rule(bencher: Bencher, name: &str) {
    let rules = rules(name);
    bencher.with_inputs(calls()).bench_local_values(|call| rules.choose(&call).algorithm().is_some());
}

/// Making the table, once for each communicator and collective.
#[divan::bench(args = RULES)]
fn making_a_table(bencher: Bencher, name: &str) {
    let rules = rules(name);
    bencher.bench_local(|| rules.for_communicator(Allreduce, RANKS, 1));
}

/// Reading rules, once for each job.
#[divan::bench(args = RULES)]
fn reading(bencher: Bencher, name: &str) {
    bencher.bench_local(|| rules(name));
}
