//! The shipped machines, and their documentation for users.

use rustcoll::cost::Machine;
use rustcoll::cost::machine::{SHIPPED, Shipped, keys};
use std::fs;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), name].iter().collect()
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn machine(name: &str, text: &str) -> Machine {
    Machine::parse(name, text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_list_of_shipped_machines_has_every_file_and_all_are_right() {
    let files = fs::read_dir(path("machines")).unwrap().map(|file| file.unwrap().path());
    let machines = files.filter(|file| file.extension().is_some_and(|extension| extension == "toml"));
    let mut names: Vec<_> =
        machines.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut listed = SHIPPED.map(|shipped| shipped.name);
    listed.sort();
    assert_eq!(names, listed);
    for shipped in SHIPPED {
        assert_eq!(
            shipped.machine(),
            machine(shipped.name, &read(&format!("machines/{}.toml", shipped.name)))
        );
    }
}

/// Returns the time of a message between nodes, including the overhead of the processors on both sides.
fn ping(machine: &Machine, bytes: f64) -> f64 {
    2.0 * machine.between.overhead + machine.between.latency + bytes * machine.between.byte_time.at(bytes)
}

#[test]
fn published_times_come_out() {
    let shipped = |name| Shipped::named(name).unwrap().machine();
    let (aries, edr) = (shipped("cray-xc40-aries"), shipped("infiniband-edr"));
    for (machine, bytes, seconds) in
        [(&aries, 8.0, 1.20e-6), (&aries, (4 << 20) as f64, 435.6e-6), (&edr, 8.0, 0.9e-6)]
    {
        let found = ping(machine, bytes);
        assert!((found - seconds).abs() < 0.02 * seconds, "{found}, not {seconds}");
    }
}

#[test]
fn the_documentation_s_machines_are_right() {
    let text = read("docs/costs.md");
    let examples: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("what is before the end"))
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        machine("docs/costs.md", example);
    }
}

#[test]
fn documentation_and_schema_have_every_key() {
    let (documentation, schema) = (read("docs/costs.md"), read("docs/machine.schema.json"));
    for (_, key) in keys() {
        assert!(
            documentation.contains(&format!("`{key}`")) || documentation.contains(&format!("`[{key}]`")),
            "{key}"
        );
        assert!(schema.contains(&format!("\"{key}\": {{")), "{key}");
    }
}
