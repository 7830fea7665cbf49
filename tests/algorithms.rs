//! Checks the book's reference of algorithms against the registry, the headers of the algorithms' files, and the
//! schedules.
//!
//! Run with UPDATE_SNAPSHOTS=1 to rewrite it after an intended change.

use rustcoll::algorithms::{
    Algorithm, Collective, Cut, Dimension, Graph, MOCK_UPS, Problem, REGISTRY, Requirement, Stencil,
};
use rustcoll::cost::Cost;
use rustcoll::schedule::Schedule;
use rustcoll::trace::{Event, Trace, Travel};
use rustcoll::verify::grids;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const REFERENCE: &str = "docs/algorithms.md";

/// Numbers of ranks in the tables of costs: powers of two and others.
const RANKS: [usize; 3] = [8, 13, 64];

const RANKS_PER_NODE: usize = 4;

/// Number of ranks in a drawing.
const DRAWN: usize = 8;

#[test]
fn the_reference_is_what_the_registry_says() {
    let reference = reference();
    if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        fs::write(path(REFERENCE), &reference).expect("writing the reference");
    }
    let written = fs::read_to_string(path(REFERENCE)).unwrap_or_default();
    assert!(
        written == reference,
        "{REFERENCE} is not what the registry says; UPDATE_SNAPSHOTS=1 rewrites it"
    );
}

#[test]
fn every_algorithm_has_a_section() {
    let reference = reference();
    for algorithm in REGISTRY {
        let heading = format!("\n### {}\n", algorithm.title());
        assert_eq!(reference.matches(&heading).count(), 1, "{heading}");
    }
}

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), name].iter().collect()
}

fn reference() -> String {
    let mut text = format!(
        "# Algorithms\n\n\
         For readers who want to know what an algorithm does and what it costs. *p* is the number of ranks, *n* the bytes of a vector. \
         `rustcoll guide`\nshows each algorithm step by step ([guide.md](guide.md)). `rustcoll algorithms allreduce ring` prints the \
         same for any number of ranks.\n\n\
         The tables count in the schedules, at the busiest rank. Parameters have their defaults: a radix is the square root of the ranks, \
         rounded up.\n\n\
         | Column | Meaning |\n|---|---|\n\
         | rounds | steps, if a rank sends and receives at most one message in each ([costs.md](costs.md)). The texts follow papers, in \
         which a round may have several messages |\n\
         | messages | how many it sends, or receives if those are more; blocks likewise |\n\
         | sent, reduced | whole vectors; blocks, where ranks have blocks of their own |\n\
         | read | the same, in the shared memory of others |\n\
         | temporary | the same, for which it needs memory besides the buffers |\n\n\
         Where nodes matter, {RANKS_PER_NODE} neighbouring ranks share one. Two groups are halves. Neighbours are those of a ring. A \
         drawing shows who\nsends to whom on {DRAWN} ranks, and how many of how many blocks each sends.\n"
    );
    let files = files();
    for collective in Collective::ALL {
        write!(text, "\n## {}\n", collective.name()).unwrap();
        for (algorithm, file) in REGISTRY.iter().zip(&files) {
            if algorithm.contract() == collective {
                describe(algorithm, file, &mut text);
            }
        }
        refer(collective, &mut text);
        list_mock_ups(collective, &mut text);
    }
    text
}

/// Returns the file of each registered algorithm, from its line in the registry.
fn files() -> Vec<String> {
    let registry = fs::read_to_string(path("src/algorithms/mod.rs")).expect("the registry");
    let (_, lines) = registry.split_once("pub static REGISTRY").expect("the registry's start");
    let (lines, _) = lines.split_once("];").expect("the registry's end");
    let entries = lines.lines().filter_map(|line| line.trim().strip_prefix('&')?.strip_suffix(','));
    let files: Vec<String> = entries
        .map(|entry| entry.rsplit_once("::").expect("a path").0.replace("::", "/"))
        .map(|module| format!("src/algorithms/{module}.rs"))
        .collect();
    assert_eq!(files.len(), REGISTRY.len(), "each line of the registry names one algorithm");
    files
}

/// Lists the algorithms that the reference describes under another collective.
fn refer(collective: Collective, text: &mut String) {
    let described_before = collective.scheduled().filter(|algorithm| algorithm.contract() != collective);
    for (position, algorithm) in described_before.enumerate() {
        let separator = if position == 0 { "\n" } else { "" };
        let title = algorithm.title();
        let anchor = title.replace(',', "").replace(' ', "-");
        writeln!(text, "{separator}- {}: [{title}](#{anchor})", algorithm.name).unwrap();
    }
}

fn describe(algorithm: &Algorithm, file: &str, text: &mut String) {
    let header = header(file);
    let (what, details) = header.split_once("\n\n").unwrap_or((&header, ""));
    let paragraphs = [what, algorithm.idea, details].into_iter().filter(|paragraph| !paragraph.is_empty());
    writeln!(text, "\n### {}\n", algorithm.title()).unwrap();
    paragraphs.for_each(|paragraph| writeln!(text, "{paragraph}\n").unwrap());
    let words = |words: &mut dyn Iterator<Item = &str>| words.collect::<Vec<_>>().join(", ");
    for (what, said) in [
        ("Avoid when", algorithm.avoid_when.to_owned()),
        ("Source", algorithm.source.to_owned()),
        ("Other names", words(&mut algorithm.aliases.iter().copied())),
        ("Parameters", words(&mut algorithm.parameters.iter().map(|parameter| parameter.name()))),
        ("Needs", words(&mut algorithm.requires.iter().map(|requirement| requirement.description()))),
        ("Operator", operator(algorithm).to_owned()),
    ] {
        if !said.is_empty() {
            writeln!(text, "- {what}: {said}").unwrap();
        }
    }
    writeln!(text, "- File: `{file}`\n").unwrap();
    price(algorithm, text);
    draw(algorithm, text);
}

/// Returns the text at the beginning of an algorithm's file. A drawing in it stays as it is.
fn header(file: &str) -> String {
    let content = fs::read_to_string(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines = content.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn operator(algorithm: &Algorithm) -> &'static str {
    match () {
        () if !algorithm.contract().reduces() => "",
        () if algorithm.is_reproducible() => "operands keep their order; the results are reproducible",
        () if algorithm.keeps_order() => "operands keep their order",
        () => "",
    }
}

/// Returns a problem of `size` ranks, if the algorithm can serve it.
fn problem(algorithm: &Algorithm, size: usize) -> Option<Problem> {
    let remote = if algorithm.is_for_two_groups() { size / 2 } else { 0 };
    algorithm.serves(size, remote, true).ok()?;
    let mut problem = Problem { remote, ..Problem::new(size) };
    if algorithm.takes_nodes() {
        problem.nodes = (0..size).map(|rank| (rank / RANKS_PER_NODE) as u32).collect();
    }
    if algorithm.contract().cut() == Cut::Edges {
        problem.graph = match algorithm.takes_stencil() {
            true => Graph::of_stencil(Stencil::around(&grids(size)[4])),
            false => Graph::grid(&[Dimension { length: size, periodic: true }]),
        };
    }
    Some(problem)
}

fn price(algorithm: &Algorithm, text: &mut String) {
    let counts_vectors = algorithm.contract().cut() == Cut::Vector;
    text.push_str(
        "| ranks | rounds | messages | sent | reduced | read | temporary |\n|---|---|---|---|---|---|---|\n",
    );
    for (size, problem) in RANKS.into_iter().filter_map(|size| Some((size, problem(algorithm, size)?))) {
        let schedules = algorithm.programs(&problem);
        let Cost { rounds, messages, blocks, reduced, read } = Cost::count(&schedules);
        let temporary = schedules.iter().map(Schedule::scratch_blocks).max().unwrap_or(0);
        let unit = if counts_vectors { schedules[0].blocks.max(1) } else { 1 };
        let [sent, reduced, read, temporary] =
            [blocks, reduced, read, temporary].map(|count| quantity(count, unit));
        writeln!(text, "| {size} | {rounds} | {messages} | {sent} | {reduced} | {read} | {temporary} |")
            .unwrap();
    }
}

/// Returns the number of units, each of which consists of `unit` pieces.
fn quantity(pieces: usize, unit: usize) -> String {
    match pieces % unit {
        0 => (pieces / unit).to_string(),
        _ => format!("{:.2}", pieces as f64 / unit as f64),
    }
}

/// Draws which ranks send to which in each step that has messages.
fn draw(algorithm: &Algorithm, text: &mut String) {
    let Some(problem) = problem(algorithm, DRAWN) else { return };
    let schedules = algorithm.programs(&problem);
    let trace = Trace::new(algorithm.contract(), &problem, &schedules).expect("it is verified");
    let steps = trace.steps.iter().filter_map(|step| match &step.event {
        Event::Messages(messages) => Some(in_one_line(messages, schedules[0].blocks)),
        Event::Work(_) => None,
    });
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() {
        return;
    }
    text.push_str("\n```text\n");
    let mut first = 0;
    for alike in steps.chunk_by(PartialEq::eq) {
        let last = first + alike.len();
        let numbers = if alike.len() == 1 { last.to_string() } else { format!("{}-{last}", first + 1) };
        writeln!(text, "{numbers:>5}  {}", alike[0]).unwrap();
        first = last;
    }
    text.push_str("```\n");
}

fn in_one_line(messages: &[Travel], of_blocks: usize) -> String {
    let mut arrows: Vec<(usize, usize)> =
        messages.iter().map(|message| (message.source, message.target)).collect();
    arrows.sort();
    let arrows: Vec<String> =
        arrows.into_iter().map(|(source, target)| format!("{source}→{target}")).collect();
    let sizes = messages.iter().map(|message| message.from.blocks());
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let each = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let each = if most == 0 { String::new() } else { format!("   {each} of {of_blocks}") };
    format!("{:<width$}{each}", arrows.join(" "), width = 4 * DRAWN - 1)
}

fn list_mock_ups(collective: Collective, text: &mut String) {
    let mock_ups: Vec<&Algorithm> =
        MOCK_UPS.iter().copied().filter(|algorithm| algorithm.performs(collective)).collect();
    if mock_ups.is_empty() {
        return;
    }
    let needs = Requirement::OtherCollectives.description();
    write!(
        text,
        "\n### Mock-ups of {}\n\nThey call other collectives of the communicator ([component.md](component.md#mock-ups)), and serve\n{needs}. \
         Each costs what those cost.\n\n| Name | Guideline | Source |\n|---|---|---|\n",
        collective.name()
    )
    .unwrap();
    for algorithm in mock_ups {
        let guideline = algorithm.guideline().unwrap_or_default();
        writeln!(text, "| {} | `{guideline}` | {} |", algorithm.name, algorithm.source).unwrap();
    }
}
