//! The README must be short, and its example must be a right algorithm. The book's table of algorithms must equal the
//! registry's.
//!
//! Run with UPDATE_SNAPSHOTS=1 to rewrite the table after an intended change.

use rustcoll::algorithms::{Algorithm, Collective, Parameter, Problem};
use rustcoll::schedule::{Buffer::*, Builder, Schedule};
use rustcoll::verify::verify_schedules;
use std::path::PathBuf;
use std::{env, fs};

const README: &str = include_str!("../README.md");
const TABLE: &str = "docs/algorithm-table.md";

// The README quotes this example.
fn ring(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut program = Builder::new(rank, size, size);
    program.copy(Send.block(rank), Recv.block(rank));
    for step in 0..size - 1 {
        program.receive(previous, Recv.block((previous + size - step) % size));
        program.send(next, Recv.block((rank + size - step) % size));
        program.end_round();
    }
    program.build()
}

#[test]
fn the_example_is_quoted_and_right() {
    let (_, code) = README.split_once("```rust\n").expect("code in Rust");
    let (code, _) = code.split_once("```").expect("the end of the code");
    assert!(include_str!("readme.rs").contains(code), "tests/readme.rs does not contain\n{code}");
    for size in 1..=32 {
        let problem = Problem::new(size);
        let schedules: Vec<Schedule> = (0..size).map(|rank| ring(&problem, rank)).collect();
        verify_schedules(Collective::Allgather, &problem, true, &schedules)
            .unwrap_or_else(|violation| panic!("{size} ranks: {violation}"));
    }
}

#[test]
fn the_readme_is_short() {
    let lines = README.lines().count();
    assert!(lines <= 90, "README.md has {lines} lines; it may have 90");
}

#[test]
fn every_algorithm_is_in_the_table() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), TABLE].iter().collect();
    let table = page();
    if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        fs::write(&path, &table).expect("writing the table");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == table, "{TABLE} is not what the registry says; UPDATE_SNAPSHOTS=1 rewrites it");
    for algorithm in Collective::ALL.into_iter().flat_map(Collective::algorithms) {
        assert!(table.contains(&format!("`{}`", algorithm.name)), "{}", algorithm.name);
    }
}

fn page() -> String {
    format!(
        "\
# Table of algorithms

This page lists the names of all algorithms, for users who force one or write rules. [algorithms.md](algorithms.md) describes each of
them. Parameters are in parentheses.

| Collective | Algorithms |
|---|---|
{}
Algorithms with names that begin with `inter_` serve inter-communicators only; all others serve intra-communicators only. Forcing an
algorithm of one kind of communicators does not affect the other kind: rules choose there, and the log says so once for each
communicator and collective.

Algorithms with names that begin with `shared` serve calls with MPI's own operators, where all ranks of a
node share memory.
`coll_rustcoll_shared_memory_size` limits this memory on one communicator, and `coll_rustcoll_shared_memory_limit` on all communicators of a process
([component.md](component.md#shared-memory)).

## Mock-ups

A mock-up calls other collectives of the communicator. Performance guidelines (GL1 to GL22 of Hunold and Carpen-Amarie, 2018) say that
mock-ups should not be faster than the collective itself. They run only when they are forced or named in rules. They serve blocking
calls ([component.md](component.md#mock-ups)).

| Collective | Mock-ups |
|---|---|
{}",
        rows(|algorithm| !algorithm.is_mock_up()),
        rows(Algorithm::is_mock_up),
    )
}

/// Returns a row for each list of algorithms. Consecutive collectives with the same list share a row.
fn rows(is_listed: fn(&Algorithm) -> bool) -> String {
    let mut rows: Vec<(Vec<&str>, String)> = Vec::new();
    for collective in Collective::ALL {
        let listed = collective.algorithms().filter(|algorithm| is_listed(algorithm));
        let names = listed.map(described).collect::<Vec<_>>().join(", ");
        match rows.last_mut() {
            _ if names.is_empty() => {}
            Some((collectives, same)) if *same == names => collectives.push(collective.name()),
            _ => rows.push((vec![collective.name()], names)),
        }
    }
    rows.iter().map(|(collectives, names)| format!("| {} | {names} |\n", collectives.join(", "))).collect()
}

fn described(algorithm: &Algorithm) -> String {
    let parameters: Vec<&str> = algorithm.parameters.iter().copied().map(Parameter::name).collect();
    match parameters.is_empty() {
        true => format!("`{}`", algorithm.name),
        false => format!("`{}` ({})", algorithm.name, parameters.join(", ")),
    }
}
