//! Writes rules as a file for Open MPI 6, in JSON.

use super::super::Rules;
use super::Conversion;
use super::blocks::{Block, Series, Tuned, blocks};
use crate::algorithms::Collective;

pub fn write(rules: &Rules, most_ranks: usize) -> Conversion {
    let (collectives, notes) = blocks(rules, most_ranks, Series::Six);
    let of_collective = |(collective, blocks): &(Collective, Vec<Block>)| {
        let last = blocks.len() - 1;
        let blocks = blocks.iter().enumerate().map(|(position, one)| block(one, position == last));
        format!("    \"{}\": [\n{}\n    ]", collective.name(), blocks.collect::<Vec<_>>().join(",\n"))
    };
    let collectives: Vec<_> = collectives.iter().map(of_collective).collect();
    let text = format!(
        "{{\n  \"rule_file_version\": 3,\n  \"module\": \"tuned\",\n  \"collectives\": {{\n{}\n  }}\n}}\n",
        collectives.join(",\n")
    );
    Conversion { text, is_empty: collectives.is_empty(), notes }
}

/// Writes the decisions for a range of numbers of ranks. The last range has no upper bound.
fn block(Block { ranks, thresholds }: &Block, is_last: bool) -> String {
    let most = if is_last { String::new() } else { format!(" \"comm_size_max\": {},", ranks.end()) };
    let ends = thresholds.iter().skip(1).map(|threshold| Some(threshold.start() - 1)).chain([None]);
    let rules = thresholds.iter().zip(ends).map(|(threshold, end)| {
        let end = end.map_or(String::new(), |end| format!(" \"msg_size_max\": {end},"));
        format!(
            "          {{ \"msg_size_min\": {},{end} {} }}",
            threshold.start(),
            algorithm(threshold.tuned())
        )
    });
    let rules = rules.collect::<Vec<_>>().join(",\n");
    format!("      {{ \"comm_size_min\": {},{most} \"rules\": [\n{rules}\n      ] }}", ranks.start())
}

fn algorithm(tuned: Tuned) -> String {
    let options = [("faninout", tuned.fan), ("seg_size", tuned.segment), ("reqs", tuned.requests)];
    let options = options.into_iter().filter(|(_, value)| *value > 0);
    let options: String = options.map(|(key, value)| format!(", \"{key}\": {value}")).collect();
    let name = tuned.algorithm.names.last().expect("every algorithm has a name");
    format!("\"alg\": \"{name}\"{options}")
}
