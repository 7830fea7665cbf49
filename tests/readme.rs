//! The README's table of algorithms is the registry's.

use rustcoll::algorithms::Collective;

/// The algorithms that the README names for a collective, in its order.
fn documented(collective: Collective) -> Vec<&'static str> {
    let rows = include_str!("../README.md").lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split_once(" | "));
    let is_of = |names: &str| names.split(", ").any(|name| name == collective.name());
    let algorithms = cells.filter(|(names, _)| is_of(names)).map(|(_, algorithms)| algorithms);
    algorithms.flat_map(|algorithms| algorithms.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn every_algorithm_is_documented() {
    for collective in Collective::ALL {
        let mut registered: Vec<&str> = collective.algorithms().map(|algorithm| algorithm.name).collect();
        let mut documented = documented(collective);
        registered.sort();
        documented.sort();
        assert_eq!(documented, registered, "{}", collective.name());
    }
}
