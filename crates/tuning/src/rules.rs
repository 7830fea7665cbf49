//! Writes the rule file of a tuning, in rustcoll's own format and for plain Open MPI.

use crate::settings::{Setting, Stretch};
use crate::words::{on_one_line, percent, probability, time};
use crate::{Decision, Provenance, Tuning, words};
use measurements::Contestant;
use rustcoll::selection::{Conversion, Measure, RuleErrors, Rules, quantity};
use std::fmt::Write;

/// The name of the rules in messages.
const NAME: &str = "rules.toml";

/// The comment on cells that the rules for plain Open MPI leave open.
const LEFT_TO_OPEN_MPI: &str = "\
# Measured against the default that rules.toml names; where that was kept Open MPI decides by itself, which was not measured.
";

/// The keys of conditions that other formats cannot express.
const PLACEMENT: [&str; 2] = ["nodes", "ranks_per_node"];

impl Decision {
    /// Returns the contestant that replaces the default choice, if a rule can express it.
    pub fn replacement(&self) -> Option<&Contestant> {
        let contestant = &self.candidates.get(self.chosen.as_ref()?.candidate)?.contestant;
        (contestant.is_own() && contestant.algorithm.is_some()).then_some(contestant)
    }
}

impl Tuning {
    /// Whether the tuning chose anything that a rule can express.
    pub fn has_rules(&self) -> bool {
        self.settings().iter().any(|setting| !setting.rules().is_empty())
    }
}

impl Setting<'_> {
    /// Returns the rules of this setting: their choices, with their cells and bytes. A collective without a
    /// measure of bytes has one rule, and only if all sizes agree.
    pub fn rules(&self) -> Vec<Stretch<'_, &Contestant>> {
        let mut rules = self.stretches(Decision::replacement);
        if !self.asks_for_bytes() {
            rules.retain(|rule| rule.cells.len() == self.cells.len());
        }
        rules
    }

    fn asks_for_bytes(&self) -> bool {
        Measure::of(self.collective) != Measure::Nothing
    }
}

/// Returns the rules of a tuning as a rule file, with comments on the measurements. Without a choice, the
/// file has only comments.
pub fn rules(tuning: &Tuning) -> String {
    let without = "\n# There are no rules: the default choice stays, and this file changes nothing.\n";
    let rest = if tuning.has_rules() { "" } else { without };
    head(&tuning.provenance) + rest + &lists(&tuning.settings())
}

fn lists(settings: &[Setting]) -> String {
    let mut text = String::new();
    for setting in settings {
        let rules = setting.rules();
        rules.iter().for_each(|rule| text += &written(setting, rule));
        let is_chosen = setting.cells.iter().any(|cell| cell.chosen.is_some());
        if !setting.asks_for_bytes() && rules.is_empty() && is_chosen {
            let (name, ranks) = (setting.collective.name(), setting.ranks);
            let reason = "rules cannot ask for its bytes, and not all sizes choose alike";
            line(&mut text, format_args!("\n# {name}, {ranks} ranks: {reason}."));
        }
    }
    text
}

/// Returns the rules in the format of Open MPI's tuned component, with notes on what the format cannot
/// express. Communicators of other sizes are left to Open MPI.
pub fn tuned_rules(tuning: &Tuning) -> Result<Conversion, RuleErrors> {
    let conversion = anywhere(tuning)?.to_tuned(most_ranks(tuning));
    Ok(Conversion { text: format!("{LEFT_TO_OPEN_MPI}{}", conversion.text), ..conversion })
}

/// Returns the rules in the JSON format of Open MPI 6; otherwise like [`tuned_rules`].
pub fn open_mpi_rules(tuning: &Tuning) -> Result<Conversion, RuleErrors> {
    Ok(anywhere(tuning)?.to_open_mpi(most_ranks(tuning)))
}

/// Returns one more than the most ranks that were measured. Other formats apply their rules for the most
/// ranks to all larger communicators as well, so these rules must not come from a measurement.
fn most_ranks(tuning: &Tuning) -> usize {
    1 + tuning.cells.iter().map(|cell| cell.ranks).max().unwrap_or(0)
}

/// Returns the rules without conditions on the placement of ranks. Lines keep their numbers: a condition
/// becomes an empty comment.
fn anywhere(tuning: &Tuning) -> Result<Rules, RuleErrors> {
    let text = head(&tuning.provenance) + &lists(&tuning.settings_by_ranks());
    let asks_for_placement = |line: &str| {
        PLACEMENT.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" =")))
    };
    let lines = text.lines().map(|line| if asks_for_placement(line) { "#" } else { line });
    Rules::parse(NAME, &lines.collect::<Vec<_>>().join("\n"))
}

fn line(text: &mut String, content: std::fmt::Arguments) {
    writeln!(text, "{content}").expect("a text takes everything");
}

fn head(provenance: &Provenance) -> String {
    let Provenance { machine, library, version, date, launcher, launches, rules } = provenance;
    let default = if rules.is_empty() { "the default rules".to_owned() } else { rules.join(", ") };
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "# What was measured to be faster than the default choice, by rustcoll {version} on {date}."
        ),
    );
    line(&mut text, format_args!("#"));
    for (what, said) in [
        ("Machine", machine),
        ("MPI", library),
        ("Jobs", &format!("{launches} for each comparison, by {launcher}")),
        ("Default", &default),
    ] {
        line(&mut text, format_args!("# {what}: {}", on_one_line(said)));
    }
    text += "#\n# Times are the medians of the jobs' medians. p is the probability of such times if both were as fast: that of all\n\
             # calls or that of the jobs, the greater one. Between two sizes of different choice the border lies at their\n\
             # geometric mean.\n";
    text
}

fn written(setting: &Setting, rule: &Stretch<&Contestant>) -> String {
    let mut text = String::from("\n");
    rule.cells.iter().for_each(|cell| line(&mut text, format_args!("# {}", reason(cell))));
    line(&mut text, format_args!("[[{}]]", setting.collective.name()));
    for (key, value) in conditions(setting, rule) {
        line(&mut text, format_args!("{key} = {value}"));
    }
    let algorithm = rule.held.algorithm.as_deref().unwrap_or_default();
    line(&mut text, format_args!("algorithm = \"{algorithm}\""));
    for (key, value) in &rule.held.parameters {
        line(&mut text, format_args!("{key} = {value}"));
    }
    text
}

/// Returns the reason for a cell's choice, in one line.
fn reason(cell: &Decision) -> String {
    let bytes = words::bytes(cell.bytes);
    let Some(chosen) = &cell.chosen else { return bytes };
    let time_of = |median: Option<f64>| median.map_or("?".into(), time);
    let ran = on_one_line(&cell.default.ran);
    let by = if ran.is_empty() { String::new() } else { format!(" by {ran}") };
    format!(
        "{bytes}: {}{by}, now {}: {} saved, p {}",
        time_of(cell.default.median()),
        time_of(cell.candidates[chosen.candidate].median()),
        percent(chosen.gain),
        match probability(chosen.probability) {
            tiny if tiny.starts_with('<') => tiny,
            other => format!("= {other}"),
        }
    )
}

fn conditions(setting: &Setting, rule: &Stretch<&Contestant>) -> Vec<(&'static str, String)> {
    let [nodes, ranks_per_node] = PLACEMENT;
    let mut conditions = vec![("ranks", setting.ranks.to_string())];
    match setting.nodes {
        0 => {}
        1 => conditions.push((nodes, "1".into())),
        _ => conditions.push((nodes, "\"2..\"".into())),
    }
    if setting.nodes > 1 && setting.ranks_per_node > 1 {
        conditions.push((ranks_per_node, setting.ranks_per_node.to_string()));
    }
    if setting.asks_for_bytes() {
        let [first, last] = [rule.bytes.start(), rule.bytes.end()].map(|bytes| quantity::in_units(*bytes));
        let first = if *rule.bytes.start() == 0 { String::new() } else { first };
        conditions.push(("bytes", format!("\"{first}..{last}\"")));
    }
    conditions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, decision};
    use fastrand::Rng;
    use rustcoll::algorithms::{Algorithm, Collective, Parameter};
    use rustcoll::selection::{Call, Choice, Parameters};

    const SIZES: [usize; 9] = [0, 1, 8, 32, 100, 1024, 1025, 65536, 1 << 20];

    fn call(cell: &Decision) -> Call {
        Call {
            nodes: Some(cell.nodes),
            is_on_several_nodes: cell.nodes > 1,
            ranks_per_node: Some(cell.ranks_per_node),
            ..Call::new(cell.collective, cell.ranks, cell.bytes)
        }
    }

    fn contestant(algorithm: &Algorithm, ranks: usize, random: &mut Rng) -> String {
        let mut text = format!("{}:{}", Contestant::OWN, algorithm.name);
        for parameter in algorithm.parameters {
            let value = match parameter {
                Parameter::Radix => random.usize(2..=ranks),
                Parameter::Segment => random.usize(1..9) << 10,
                Parameter::Window => random.usize(1..9),
            };
            if random.bool() {
                text += &format!(":{}={value}", parameter.name());
            }
        }
        text
    }

    /// Cells with few different algorithms, so that neighbouring cells often choose the same one.
    fn cells(collective: Collective, ranks: usize, random: &mut Rng) -> Vec<Decision> {
        let nodes = *random.choice(&[1, 2, ranks]).unwrap();
        let is_measured = Measure::of(collective) != Measure::Nothing;
        let sizes = SIZES.into_iter().filter(|_| random.bool()).collect::<Vec<_>>();
        let sizes = if is_measured { sizes } else { vec![0] };
        let cell = |bytes| Decision {
            nodes,
            ranks_per_node: ranks.div_ceil(nodes),
            ..decision(collective, ranks, bytes)
        };
        let serving: Vec<&Algorithm> =
            collective.algorithms().filter(|one| call(&cell(8)).is_served_by(one).is_ok()).collect();
        let known: Vec<String> =
            (0..3).map(|_| contestant(random.choice(&serving).unwrap(), ranks, random)).collect();
        let chosen = |bytes| match random.u8(..4) {
            0 => cell(bytes),
            other => {
                cell(bytes).with("rustcoll", 1.0).with(&known[usize::from(other) - 1], 0.5).choosing_it()
            }
        };
        sizes.into_iter().map(chosen).collect()
    }

    fn random_tuning(random: &mut Rng) -> Tuning {
        let collectives = Collective::ALL.into_iter().filter(|one| one.algorithms().next().is_some());
        let collectives: Vec<Collective> =
            collectives.filter(|one| !one.name().starts_with("neighbor")).collect();
        let mut all = Vec::new();
        for &collective in random.choose_multiple(collectives, 4).iter() {
            for ranks in [4, 13] {
                all.extend(cells(collective, ranks, random));
            }
        }
        samples::tuning(all)
    }

    fn expected(cell: &Decision) -> Choice {
        let Some(replacement) = cell.replacement() else { return Choice::Below };
        let name = replacement.algorithm.as_deref().unwrap();
        let algorithm = cell.collective.algorithms().find(|algorithm| algorithm.name == name).unwrap();
        let mut parameters = Parameters::default();
        for (key, value) in &replacement.parameters {
            let parameter = Parameter::ALL.into_iter().find(|parameter| parameter.name() == key).unwrap();
            parameters.set(parameter, Some(*value));
        }
        Choice::Use { algorithm, parameters }
    }

    #[test]
    fn rules_choose_in_each_cell_what_was_chosen() {
        let mut random = Rng::with_seed(5);
        let (mut chosen, mut left) = (0, 0);
        for _ in 0..300 {
            let tuning = random_tuning(&mut random);
            let text = rules(&tuning);
            let read = Rules::parse("rules.toml", &text).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
            let has_rules = Collective::ALL.into_iter().any(|collective| !read.of(collective).is_empty());
            assert_eq!(has_rules, tuning.has_rules(), "{text}");
            assert!(read.notes().is_empty(), "{text}");
            for cell in &tuning.cells {
                assert_eq!(read.choose(&call(cell)), expected(cell), "{:?}\n{text}", call(cell));
                let more = Decision { bytes: cell.bytes + (1 << 21), ..cell.clone() };
                let is_measured = Measure::of(cell.collective) != Measure::Nothing;
                assert!(!is_measured || read.choose(&call(&more)) == Choice::Below, "{text}");
                chosen += usize::from(cell.chosen.is_some());
                left += usize::from(cell.chosen.is_none());
            }
        }
        assert!(chosen > 1000 && left > 300, "{chosen} {left}");
    }

    fn sample() -> Tuning {
        let cell = |bytes| decision(Collective::Bcast, 13, bytes);
        samples::tuning(vec![
            cell(8),
            cell(64).with("rustcoll:binomial", 0.8).choosing_it(),
            cell(1024).with("rustcoll:knomial:radix=4", 0.9).with("rustcoll:binomial", 0.5).choosing_it(),
            cell(65536).with("rustcoll:chain:segment=8K", 0.2).choosing_it(),
        ])
    }

    #[test]
    fn a_rule_file_tells_where_it_comes_from() {
        let text = rules(&sample());
        for expected in [
            "by rustcoll 0.1.0 on 2026-11-22.",
            "# Machine: a host <of> \"many\" & more\n",
            "# MPI: Open MPI v4.1.4 [[bcast]]\n",
            "# Jobs: 3 for each comparison, by mpirun -n {ranks}\n",
            "# Default: the default rules\n",
            "\n# 64 bytes: 1.00 ms, now 800 us: 20 % saved, p = 0.0001\n# 1KiB: 1.00 ms, now 500 us: 50 % saved, p = 0.0001\n\
             [[bcast]]\nranks = 13\nnodes = \"2..\"\nbytes = \"23..8KiB\"\nalgorithm = \"binomial\"\n",
            "nodes = \"2..\"\nbytes = \"8193..64KiB\"\nalgorithm = \"chain\"\nsegment = 8192\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn ranks_that_share_hosts_have_rules_of_their_own() {
        let mut tuning = sample();
        let shared =
            |cell: &Decision, nodes, ranks_per_node| Decision { nodes, ranks_per_node, ..cell.clone() };
        let last = tuning.cells.pop().unwrap();
        let chain = last.clone();
        let ring =
            decision(Collective::Bcast, 13, 65536).with("rustcoll:scatter_ring_allgather", 0.3).choosing_it();
        tuning.cells = vec![chain, shared(&ring, 4, 4), shared(&last, 1, 13)];
        let read = Rules::parse("file", &rules(&tuning)).unwrap();
        for cell in &tuning.cells {
            assert_eq!(read.choose(&call(cell)), expected(cell));
        }
        // Other formats have one rule for all placements.
        assert_eq!(anywhere(&tuning).unwrap().of(Collective::Bcast).len(), 1);
    }

    #[test]
    fn what_rules_cannot_ask_for_must_agree() {
        let cell = |bytes| decision(Collective::Alltoallv, 4, bytes);
        let pairwise = |bytes| cell(bytes).with("rustcoll:pairwise", 0.5).choosing_it();
        let agreed = rules(&samples::tuning(vec![pairwise(8), pairwise(64)]));
        assert!(
            agreed.ends_with("[[alltoallv]]\nranks = 4\nnodes = \"2..\"\nalgorithm = \"pairwise\"\n"),
            "{agreed}"
        );
        let disagreeing = samples::tuning(vec![pairwise(8), cell(64)]);
        assert!(!disagreeing.has_rules());
        let text = rules(&disagreeing);
        assert!(
            text.ends_with(
                "# alltoallv, 4 ranks: rules cannot ask for its bytes, and not all sizes choose alike.\n"
            ),
            "{text}"
        );
    }

    fn name(choice: Choice) -> Option<&'static str> {
        choice.algorithm().map(|algorithm| algorithm.name)
    }

    #[test]
    fn open_mpi_gets_what_it_can_be_told() {
        let tuning = sample();
        let tuned = tuned_rules(&tuning).unwrap();
        for conversion in [&tuned, &open_mpi_rules(&tuning).unwrap()] {
            assert!(!conversion.is_empty);
            assert_eq!(conversion.notes, []);
            let read = Rules::parse("written", &conversion.text).unwrap_or_else(|faults| panic!("{faults}"));
            let chosen = |ranks, bytes| read.choose(&Call::new(Collective::Bcast, ranks, bytes));
            for cell in &tuning.cells {
                let names = [chosen(13, cell.bytes), expected(cell)].map(name);
                assert_eq!(names[0], names[1], "{}", conversion.text);
            }
            // Communicators of other sizes were not measured.
            assert_eq!([12, 14].map(|ranks| chosen(ranks, 1024)), [Choice::Below; 2], "{}", conversion.text);
            assert_eq!(chosen(13, 1 << 20), Choice::Below, "{}", conversion.text);
        }
        let circulant = decision(Collective::Allreduce, 13, 8).with("rustcoll:circulant", 0.5).choosing_it();
        let tuning = samples::tuning(vec![circulant]);
        let Conversion { is_empty, notes, .. } = tuned_rules(&tuning).unwrap();
        assert!(is_empty);
        let text = rules(&tuning);
        let line = 1 + text.lines().position(|line| line == "[[allreduce]]").unwrap();
        assert!(
            notes[0].to_string().starts_with(&format!("rules.toml:{line}:1: `circulant`")),
            "{}",
            notes[0]
        );
        assert!(tuned_rules(&samples::tuning(Vec::new())).unwrap().is_empty);
    }
}
