//! Writes rules as a file for Open MPI's tuned component, in numbers.

use super::super::Rules;
use super::super::foreign::tuned_algorithms::number;
use super::Conversion;
use super::blocks::{Block, Series, blocks};
use std::fmt::Write;

pub fn write(rules: &Rules, most_ranks: usize) -> Conversion {
    let (collectives, notes) = blocks(rules, most_ranks, Series::Classic);
    let mut text = format!(
        "# Rules for Open MPI's tuned component, on communicators of up to {most_ranks} ranks; larger ones are served like these.\n\
         # A message size, and from it on: algorithm, fan-out, segment size. Algorithm 0 leaves the decision to Open MPI.\n\
         {} # collectives\n",
        collectives.len()
    );
    for (collective, blocks) in &collectives {
        let of_collective = format!(
            "{} # {}\n{} # communicator sizes\n",
            number(*collective),
            collective.name(),
            blocks.len()
        );
        text.push_str(&of_collective);
        blocks.iter().for_each(|block| write_block(&mut text, block));
    }
    Conversion { text, is_empty: collectives.is_empty(), notes }
}

fn write_block(text: &mut String, Block { ranks, thresholds }: &Block) {
    let written = writeln!(text, "{} # ranks\n{} # message sizes", ranks.start(), thresholds.len());
    written.expect("a text takes everything");
    for threshold in thresholds {
        let (size, tuned) = (threshold.start(), threshold.tuned());
        let numbers = format!("{size} {} {} {}", tuned.algorithm.number, tuned.fan, tuned.segment);
        writeln!(text, "{numbers} # {}", tuned.algorithm.names[0]).expect("a text takes everything");
    }
}
