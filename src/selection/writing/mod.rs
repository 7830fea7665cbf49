//! Writes rules as files, in rustcoll's own format and in Open MPI's formats.

mod blocks;
mod native;
mod open_mpi;
mod tuned;

use super::{Note, Rules};

/// Rules in another library's format.
#[derive(Clone, Debug)]
pub struct Conversion {
    pub text: String,
    /// Whether the file changes none of the other library's own decisions.
    pub is_empty: bool,
    /// Notes on what the file cannot express, with the places of the rules.
    pub notes: Vec<Note>,
}

impl Rules {
    /// Writes a file in rustcoll's format, rule by rule. If the rules come from several texts, some may never
    /// decide; the file then has faults.
    pub fn to_native(&self) -> String {
        native::write(self)
    }

    /// Writes a file for Open MPI's tuned component that all series of Open MPI read. It has the decisions
    /// for up to `most_ranks` ranks. Open MPI serves larger communicators like those of `most_ranks` ranks.
    pub fn to_tuned(&self, most_ranks: usize) -> Conversion {
        tuned::write(self, most_ranks)
    }

    /// Like [`Rules::to_tuned`], for Open MPI 6 in JSON.
    pub fn to_open_mpi(&self, most_ranks: usize) -> Conversion {
        open_mpi::write(self, most_ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Collective, Collective::*};
    use crate::random::Random;
    use crate::selection::{Call, samples};

    fn parse(text: &str) -> Rules {
        Rules::parse("file", text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
    }

    fn shipped() -> [Rules; 6] {
        [
            include_str!("../../../selection-rules/default.toml"),
            include_str!("../../../selection-rules/mpich-2005.toml"),
            include_str!("../../../selection-rules/open-mpi-4.1.toml"),
            include_str!("../../../selection-rules/t3e-atlas.toml"),
            include_str!("../../../selection-rules/theta-bruck.toml"),
            include_str!("../../../selection-rules/cray-aries-bcast.toml"),
        ]
        .map(parse)
    }

    #[test]
    fn a_native_file_says_what_its_rules_say() {
        let mut random = Random(31);
        let random = samples::COLLECTIVES.map(|collective| samples::rules(collective, 20, &mut random));
        for rules in shipped().iter().chain(&random) {
            let written = parse(&rules.to_native());
            for collective in Collective::ALL {
                let [ones, others] = [rules, &written].map(|rules| rules.of(collective));
                assert_eq!(ones.len(), others.len());
                for (one, other) in ones.iter().zip(others) {
                    assert_eq!(one.choice, other.choice);
                    assert!(
                        other.conditions.iter().all(|condition| one.conditions.contains(condition)),
                        "{one:?}, {other:?}"
                    );
                    assert_eq!(one.conditions.len(), other.conditions.len());
                }
            }
        }
        assert!(parse("priority = 7").to_native().starts_with("priority = 7\n"));
    }

    /// Asserts that a file, written from rules and read back, decides like these rules, except where a note
    /// says otherwise.
    fn assert_alike(rules: &Rules, written: &Rules, notes: &[Note], most_ranks: usize) -> usize {
        let mut compared = 0;
        for size in 1..=most_ranks {
            for collective in Collective::ALL {
                let call = Call::new(collective, size, 0);
                let is_left_out = format!("does not serve {}", collective.name());
                if notes.iter().any(|note| note.message.ends_with(&is_left_out)) {
                    continue;
                }
                for piece in rules.decisions(&call) {
                    let is_noted = notes.iter().any(|note| {
                        Some(&note.origin) == piece.decision.origin.as_ref()
                            && !note.message.contains("beyond")
                    });
                    if is_noted
                        || rules.of(collective).is_empty()
                        || !call.is_measured() && *piece.bytes.start() > 0
                    {
                        continue;
                    }
                    for bytes in [*piece.bytes.start(), (*piece.bytes.end()).min(1 << 40)] {
                        let call = Call { bytes, ..call };
                        let [one, other] = [rules, written].map(|rules| rules.choose(&call));
                        assert!(super::blocks::is_same(one, other, size), "{call:?}: {one:?}, {other:?}");
                        compared += 1;
                    }
                }
            }
        }
        compared
    }

    #[test]
    fn files_for_open_mpi_decide_alike() {
        let mut compared = [0; 2];
        for rules in shipped() {
            for (number, conversion) in [rules.to_tuned(40), rules.to_open_mpi(40)].into_iter().enumerate() {
                // Some of these rules decide nothing for so few ranks.
                if let Ok(written) = Rules::parse("written", &conversion.text) {
                    compared[number] += assert_alike(&rules, &written, &conversion.notes, 40);
                }
            }
        }
        assert!(compared[0] > 2000 && compared[1] >= compared[0], "{compared:?}");
    }

    #[test]
    fn a_tuned_file_survives_being_read_and_written() {
        let text = "4\n2 2\n8 2\n0 3 0 0\n4096 4 0 0\n16 1\n0 6 0 0\n3 1\n1 3\n0 3 0 0\n3000 1 0 0\n524288 2 0 0\n\
                    7 1\n1 2\n0 6 0 1024\n65536 3 0 8192\n0 1\n1 3\n0 2 0 0\n1000 3 0 0\n5000 5 0 0\n";
        let rules = parse(text);
        let Conversion { text: written, notes, is_empty } = rules.to_tuned(50);
        assert!(!is_empty);
        assert_eq!(notes, []);
        let numbers = |text: &str| -> Vec<String> {
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
            lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        // The collectives are in another order, the first communicator size is 1, and a pipeline is written
        // as a chain with the fan-out 1.
        let expected = "4\n0 1\n1 3\n0 2 0 0\n1000 3 0 0\n5000 5 0 0\n2 2\n1 2\n0 3 0 0\n4096 4 0 0\n16 1\n0 6 0 0\n3 1\n1 3\n0 3 0 0\n\
                        3000 1 0 0\n524288 2 0 0\n7 1\n1 2\n0 6 0 1024\n65536 2 1 8192\n";
        assert_eq!(numbers(&written).join(" "), numbers(expected).join(" "), "{written}");
        assert!(parse(&written).differences(&rules, 1..=50).is_empty());
        let json = parse(&rules.to_open_mpi(50).text);
        assert!(json.differences(&rules, 1..=50).is_empty());
    }

    #[test]
    fn what_changes_on_larger_communicators_is_noted() {
        let notes = |rules: &str| -> Vec<String> {
            parse(rules).to_tuned(100).notes.iter().map(|note| note.to_string()).collect()
        };
        let beyond = "the file says what holds on up to 100 ranks, and the same beyond";
        let otherwise = |line: usize| {
            format!("file:{line}:1: {beyond}, where this rule decides otherwise; --most-ranks writes more")
        };
        assert_eq!(
            notes("[[allreduce]]\nranks = \"100..200\"\nalgorithm = \"ring\"\n"),
            [format!("file:1:1: {beyond}; for this rule set --most-ranks 201")]
        );
        let power = "[[allgather]]\npower_of_two = true\nalgorithm = \"recursive_doubling\"\n[[allgather]]\n\
                     algorithm = \"ring\"\n";
        assert_eq!(notes(power), [otherwise(1)]);
        assert_eq!(notes("[[allreduce]]\nwhen = \"ranks >= 1000\"\nalgorithm = \"ring\"\n"), [otherwise(1)]);
        assert_eq!(notes("[[allreduce]]\nwhen = \"ranks < 1000\"\nalgorithm = \"ring\"\n"), [otherwise(1)]);
        let by_bytes = "[[alltoall]]\nbytes = \"..100\"\nalgorithm = \"spread_out\"\n[[alltoall]]\n\
                        algorithm = \"pairwise\"\n";
        assert_eq!(notes(by_bytes), [otherwise(1)]);
        assert_eq!(
            notes(
                &by_bytes
                    .replace("alltoall", "bcast")
                    .replace("spread_out", "chain")
                    .replace("pairwise", "linear")
            ),
            [""; 0]
        );
    }

    #[test]
    fn what_open_mpi_cannot_say_is_noted() {
        let rules = parse(
            "[[allreduce]]\ncommutative = false\nalgorithm = \"linear\"\n[[allreduce]]\nalgorithm = \"circulant\"\n\
             [[alltoallw]]\nalgorithm = \"pairwise\"\n[[bcast]]\nalgorithm = \"inter_leaders\"\n[[scan]]\nbytes = 8\n\
             algorithm = \"linear\"\n[[allgatherv]]\nbytes = \"..1000\"\nalgorithm = \"ring\"\n[[alltoall]]\n\
             algorithm = \"linear_window\"\nwindow = 3\n",
        );
        let Conversion { text, notes, .. } = rules.to_tuned(4);
        let notes: Vec<_> = notes.iter().map(|note| note.to_string()).collect();
        assert_eq!(
            notes,
            [
                "file:1:1: the file cannot say commutative=false: it says what holds for operators that commute, a call that is \
                 not in place, and nodes and roots that are not known",
                "file:4:1: `circulant` is not in Open MPI; Open MPI decides these calls itself",
                "file:6:1: Open MPI's tuned component does not serve alltoallw",
                "file:8:1: Open MPI's tuned component does not serve inter-communicators",
                "file:10:1: Open MPI does not measure these calls by their bytes, and decides them itself",
                "file:13:1: Open MPI compares the bytes divided by the ranks, so this bound is rounded up",
                "file:13:1: the file says what holds on up to 4 ranks, and the same beyond, where this rule decides otherwise; \
                 --most-ranks writes more",
                "file:16:1: `linear_window` is in Open MPI with other parameters only; Open MPI decides these calls itself",
            ],
            "{text}"
        );
        let six = rules.to_open_mpi(4);
        assert!(six.text.contains("\"alg\": \"linear_sync\", \"reqs\": 3"), "{}", six.text);
        assert_eq!(rules.of(Alltoall).len(), 1);
        let nothing = parse("[[allreduce]]\nalgorithm = \"circulant\"\n");
        assert!(nothing.to_tuned(4).is_empty && nothing.to_open_mpi(4).is_empty);
    }
}
