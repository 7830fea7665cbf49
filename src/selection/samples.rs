//! Random rules and calls for tests.

use super::{Call, Choice, Measure, Neighbourhood, Rules};
use crate::algorithms::{Collective, Cut};
use crate::random::Random;

/// Collectives whose calls allow different conditions.
pub const COLLECTIVES: [Collective; 6] = [
    Collective::Allreduce,
    Collective::Alltoall,
    Collective::Bcast,
    Collective::Allgather,
    Collective::ReduceScatter,
    Collective::NeighborAlltoall,
];

const CONDITIONS: [&str; 27] = [
    "ranks=4..16",
    "ranks=..7",
    "ranks=1,3,9..",
    "ranks=8",
    "bytes=..2K",
    "bytes=1K..64K",
    "bytes=0,512..",
    "bytes=100",
    "power_of_two",
    "power_of_two=false",
    "commutative",
    "commutative=false",
    "in_place",
    "in_place=false",
    "predefined=false",
    "tcp",
    "tcp=false",
    "root=0",
    "root=2..",
    "groups=1",
    "groups=2",
    "nodes=2..",
    "ranks_per_node=..4",
    "neighbours=8..",
    "dimensions=2",
    "when=\"longest * ranks > 4 * bytes\"",
    "when=\"delta_expo_max < log2(bytes)/2 - 2.5 or ranks > 12\"",
];

/// Reads rules of one collective from a line. Panics if they have faults.
pub fn line(collective: Collective, line: &str) -> Rules {
    Rules::parse_line("line", collective, line).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Reads rules from a file's text. Panics if they have faults.
pub fn read(text: &str) -> Rules {
    Rules::parse("file", text).unwrap_or_else(|errors| panic!("{errors}"))
}

pub fn notes(rules: &Rules) -> Vec<String> {
    rules.notes().iter().map(|note| note.to_string()).collect()
}

/// Returns the name of the algorithm that rules choose for a call.
pub fn chosen(rules: &Rules, call: Call) -> &'static str {
    name(&rules.choose(&call))
}

/// Returns the name of the chosen algorithm.
pub fn name(choice: &Choice) -> &'static str {
    choice.algorithm().map_or("below", |algorithm| algorithm.name)
}

/// Makes a random rule, which may have faults.
pub fn rule(collective: Collective, random: &mut Random) -> String {
    let conditions: Vec<_> =
        (0..random.below(4)).map(|_| CONDITIONS[random.below(CONDITIONS.len())]).collect();
    let algorithms: Vec<_> =
        collective.algorithms().map(|algorithm| algorithm.name).chain(["below"]).collect();
    format!("{} -> {}", conditions.join(" "), algorithms[random.below(algorithms.len())])
}

/// Makes up to `most` random rules that can all decide.
pub fn rules(collective: Collective, most: usize, random: &mut Random) -> Rules {
    let mut line = String::new();
    let mut rules = Rules::default();
    for _ in 0..most {
        let longer = format!("{line}; {}", rule(collective, random));
        if let Ok(read) = Rules::parse_line("random", collective, &longer) {
            (line, rules) = (longer, read);
        }
    }
    rules
}

/// Makes a random call near the bounds in the conditions.
pub fn call(collective: Collective, random: &mut Random) -> Call {
    let size = 1 + random.below(20);
    let remote = if random.below(4) == 0 { random.below(size) } else { 0 };
    let mut maybe = |bound: usize| (random.below(3) > 0).then(|| random.below(bound));
    let (nodes, ranks_per_node, predefined) = (maybe(4), maybe(6), maybe(2).map(|number| number > 0));
    let is_on_several_nodes = nodes.is_none() && remote == 0 && size > 1 && random.below(2) > 0;
    let bytes = [0, 99, 100, 101, 511, 512, 1 << 10, 2 << 10, 2049, 64 << 10, 65537, 1 << 30];
    let neighbourhood = Neighbourhood { neighbours: 6 + random.below(4), dimensions: 1 + random.below(3) };
    let has_neighbours = collective.cut() == Cut::Edges && remote == 0 && random.below(2) > 0;
    let is_rooted = collective.is_rooted() && remote == 0;
    let is_uneven = Measure::of(collective) == Measure::AllBlocks && random.below(2) > 0;
    let power = random.below(20);
    let longest = random.below(2 << power);
    // The ranks of two groups do not know each other's nodes.
    let [nodes, ranks_per_node] = [nodes, ranks_per_node].map(|number| number.filter(|_| remote == 0));
    Call {
        remote,
        longest: is_uneven.then_some(longest),
        root: is_rooted.then(|| random.below(size)),
        commutative: !collective.reduces() || random.below(2) > 0,
        predefined,
        in_place: random.below(2) > 0,
        goes_by_tcp: random.below(2) > 0,
        reproducible: collective.reduces() && random.below(4) == 0,
        shares_memory: random.below(2) > 0,
        copies_singly: random.below(2) > 0,
        calls_others: random.below(2) > 0,
        knows_neighbours_of_node: collective.cut() == Cut::Edges && random.below(2) > 0,
        is_on_several_nodes,
        nodes,
        ranks_per_node,
        neighbourhood: has_neighbours.then_some(neighbourhood),
        ..Call::new(collective, size, bytes[random.below(bytes.len())])
    }
}
