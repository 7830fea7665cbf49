//! Every block goes straight to the rank that it is for.

use super::super::numbers::count;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Cut;
use rustcoll::trace::{Travel, Value};

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let values = scene.trace.values.all();
    let brought = scene.brought(travel);
    let all = |is_meant: &dyn Fn(Value) -> bool| {
        !brought.is_empty() && brought.iter().all(|value| is_meant(values[value.0]))
    };
    let is_for_target = |value: Value| value == Value::Input { rank: travel.source, block: travel.target };
    let is_of_source = |value: Value| matches!(value, Value::Input { rank, .. } if rank == travel.source);
    let cut = scene.collective().cut();
    let text = match cut {
        Cut::Pairs if all(&is_for_target) => {
            "Blocks go straight to the ranks that they are for: block j of rank i to rank j."
        }
        Cut::Edges if all(&is_of_source) => "Blocks go straight to the neighbours that they are for.",
        Cut::Ranks if scene.collective().reduces() && all(&is_for_target) => {
            "Every rank sends its part of a block straight to the rank that the block is for."
        }
        Cut::Ranks | Cut::Vector if all(&is_of_source) => {
            "What a rank has goes straight to the rank that needs it."
        }
        _ => return None,
    };
    Some(Phase { sentences: vec![Sentence::plain(text)], ..Phase::default() })
}

fn facts(scene: &Scene) -> Vec<String> {
    let messages = count(scene.size() - 1, "message");
    let is_among_all = scene.collective().cut() == Cut::Pairs && scene.problem().remote == 0;
    let fact = format!("Every rank sends p − 1 = {messages}, each of one block: no block travels twice.");
    if is_among_all { vec![fact] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step};
    use rustcoll::algorithms::Collective::{Allgather, Alltoall, ReduceScatter};
    use rustcoll::algorithms::Problem;

    #[test]
    fn spread_out_goes_round_by_round_further() {
        assert_eq!(
            step(Alltoall, "spread_out", &Problem::new(8), 2),
            [
                "Communication step 1",
                "Blocks go straight to the ranks that they are for: block j of rank i to rank j.",
                "Every rank i sends to rank (i + 2) mod 8. | (i + 2) mod 8; rank 3: (3 + 2) mod 8 = 5",
                "Each message has 1 block; rank 3 sends block 5 of its send buffer. | block 5 of rank 3",
            ]
        );
        assert_eq!(
            of_run(Alltoall, "spread_out", &Problem::new(8)),
            ["Every rank sends p − 1 = 7 messages, each of one block: no block travels twice."]
        );
    }

    #[test]
    fn partners_are_those_of_another_bit_pattern() {
        assert_eq!(
            step(Alltoall, "pairwise", &Problem::new(8), 2)[1..3],
            [
                "Blocks go straight to the ranks that they are for: block j of rank i to rank j.",
                "Every rank i exchanges with rank i XOR 2. | i XOR 2; rank 3: 011 XOR 010 = 001 = 1",
            ]
        );
        assert_eq!(
            step(ReduceScatter, "pairwise", &Problem::new(5), 0)[1],
            "Every rank sends its part of a block straight to the rank that the block is for."
        );
        assert_eq!(
            step(Allgather, "linear", &Problem::new(4), 1)[1],
            "What a rank has goes straight to the rank that needs it."
        );
    }
}
