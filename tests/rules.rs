//! The shipped rule files, and the documentation of rules for users.
//!
//! Run with UPDATE_SNAPSHOTS=1 to rewrite the schema after an intended change.

use rustcoll::algorithms::{Collective, Collective::*, Parameter};
use rustcoll::selection::{Call, Choice, Measure, Rules, algorithm_names, keys};
use std::path::PathBuf;
use std::{env, fs};

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), name].iter().collect()
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn shipped(name: &str) -> Rules {
    let name = format!("selection-rules/{name}.toml");
    Rules::parse(&name, &read(&name)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn chosen(rules: &Rules, call: Call) -> &'static str {
    rules.choose(&call).algorithm().map_or("below", |algorithm| algorithm.name)
}

const KIB: usize = 1 << 10;

#[test]
fn all_shipped_files_are_right() {
    let files = fs::read_dir(path("selection-rules")).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<_> =
        files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    let shipped_names =
        ["cray-aries-bcast", "default", "mpich-2005", "open-mpi-4.1", "t3e-atlas", "theta-bruck"];
    assert_eq!(names, shipped_names);
    names.iter().for_each(|name| drop(shipped(name)));
}

#[test]
fn files_made_for_networks_with_a_gap_choose_what_was_the_fastest_there() {
    let alltoall = |gap: &str, ranks, bytes| {
        let name = format!("benches/rules/gap-{gap}.toml");
        let rules = Rules::parse(&name, &read(&name)).unwrap_or_else(|errors| panic!("{errors}"));
        chosen(&rules, Call::new(Alltoall, ranks, bytes))
    };
    for (gap, ranks, bytes, expected) in [
        ("none", 13, 8, "bruck_modified"),
        ("none", 12, 8, "spread_out"),
        ("none", 13, KIB, "spread_out"),
        ("none", 16, KIB, "postal"),
        ("none", 12, 8 * KIB, "linear_window"),
        ("300us", 16, 64, "bruck_modified"),
        ("300us", 12, 64, "postal"),
        ("300us", 12, 4 * KIB, "linear_window"),
        ("1ms", 16, 8, "postal"),
        ("1ms", 12, 4 * KIB, "postal"),
        ("1ms", 12, 8 * KIB, "linear_window"),
    ] {
        assert_eq!(alltoall(gap, ranks, bytes), expected, "gap {gap}, {ranks} ranks, {bytes} bytes");
    }
}

#[test]
fn decisions_on_the_t3e() {
    let rules = shipped("t3e-atlas");
    for ((size, bytes), expected) in [
        ((100, 1 << 20), "binary_blocks"),
        // The powers of two around 33 are 5 apart, and log2(16 KiB)/2 - 2.5 is 4.5.
        ((33, 16 * KIB), "rabenseifner"),
        ((33, 64 * KIB), "binary_blocks"),
        ((32, 64 * KIB), "rabenseifner"),
        ((100, 16 * KIB - 1), "rabenseifner"),
        ((13, 32), "recursive_doubling"),
        ((13, KIB), "reduce_bcast"),
        ((16, KIB), "below"),
        ((11, 2 * KIB), "ring"),
        ((12, 2 * KIB), "rabenseifner"),
    ] {
        assert_eq!(chosen(&rules, Call::new(Allreduce, size, bytes)), expected, "p = {size}, {bytes} bytes");
    }
}

#[test]
fn decisions_of_mpich() {
    let rules = shipped("mpich-2005");
    for ((collective, size, bytes), expected) in [
        ((Allgather, 64, 8 * KIB - 1), "recursive_doubling"),
        ((Allgather, 64, 8 * KIB), "ring"),
        ((Allgather, 10, 8 * KIB - 1), "bruck"),
        ((Allgather, 10, 8 * KIB), "ring"),
        ((Bcast, 100, 12 * KIB - 1), "binomial"),
        ((Bcast, 7, 1 << 30), "binomial"),
        ((Bcast, 8, 12 * KIB), "scatter_recursive_doubling_allgather"),
        ((Bcast, 9, 12 * KIB), "scatter_ring_allgather"),
        ((Bcast, 8, 512 * KIB), "scatter_ring_allgather"),
        ((Alltoall, 9, 256), "bruck"),
        ((Alltoall, 9, 257), "spread_out"),
        ((Alltoall, 9, 32 * KIB + 1), "pairwise"),
        ((ReduceScatter, 9, 512 * KIB - 1), "recursive_halving"),
        ((ReduceScatter, 9, 512 * KIB), "pairwise"),
        ((Reduce, 9, 2 * KIB), "binomial"),
        ((Allreduce, 9, 2 * KIB), "recursive_doubling"),
    ] {
        assert_eq!(chosen(&rules, Call::new(collective, size, bytes)), expected, "p = {size}, {bytes} bytes");
    }
    for (predefined, reduce, allreduce) in [
        (Some(true), "rabenseifner", "rabenseifner"),
        (Some(false), "binomial", "recursive_doubling"),
        (None, "binomial", "recursive_doubling"),
    ] {
        let long = |collective| Call { predefined, ..Call::new(collective, 9, 4 * KIB) };
        assert_eq!(chosen(&rules, long(Reduce)), reduce);
        assert_eq!(chosen(&rules, long(Allreduce)), allreduce);
    }
}

#[test]
fn decisions_of_open_mpi() {
    let rules = shipped("open-mpi-4.1");
    for ((collective, size, bytes), expected) in [
        ((Allgather, 2, KIB), "recursive_doubling"),
        ((Allgather, 13, 1 << 20), "bruck"),
        // The bytes of one block, not of all ranks' blocks.
        ((Allgather, 32, KIB - 1), "recursive_doubling"),
        ((Allgather, 32, KIB), "neighbor_exchange"),
        ((Allgather, 33, KIB), "ring"),
        ((Allgather, 300, 32), "bruck"),
        // The bytes of all blocks: 2 KiB for each of 2 ranks, 1 KiB for each of 13.
        ((Allgatherv, 2, 4 * KIB - 1), "ring"),
        ((Allgatherv, 2, 4 * KIB), "recursive_doubling"),
        ((Allgatherv, 13, 13 * KIB - 1), "gather_bcast"),
        ((Allgatherv, 13, 13 * KIB), "bruck"),
        ((Allgatherv, 5, 5 * 256), "ring"),
        ((Allreduce, 3, 4), "recursive_doubling"),
        ((Allreduce, 3, 4 * KIB), "ring"),
        ((Allreduce, 3, 64 * KIB), "ring"),
        ((Allreduce, 13, 8 * KIB - 1), "recursive_doubling"),
        ((Allreduce, 13, 8 * KIB), "rabenseifner"),
        ((Allreduce, 200, 8), "reduce_bcast"),
        ((Alltoall, 2, 64 * KIB), "spread_out"),
        ((Alltoall, 13, 8), "spread_out"),
        ((Alltoall, 16, 4), "bruck"),
        ((Alltoall, 64, 256 * KIB), "pairwise"),
        ((Alltoallv, 3, 0), "pairwise"),
        ((Alltoallv, 4, 0), "spread_out"),
        ((Barrier, 3, 0), "recursive_doubling"),
        ((Barrier, 4, 0), "below"),
        ((Barrier, 100, 0), "dissemination"),
        ((Bcast, 3, 128 * KIB), "chain"),
        ((Bcast, 13, 8), "binary"),
        ((Bcast, 13, 64), "knomial"),
        ((Bcast, 13, 16 * KIB), "binomial"),
        ((Bcast, 13, 64 * KIB), "linear"),
        ((Bcast, 16, 1 << 20), "scatter_recursive_doubling_allgather"),
        ((Bcast, 300, 16 * KIB), "below"),
        ((Gather, 5, KIB), "linear"),
        ((Gather, 5, 256 * KIB), "below"),
        ((Gather, 13, 256 * KIB), "binomial"),
        ((Reduce, 3, 256 * KIB), "chain"),
        ((Reduce, 13, 8 * KIB - 1), "below"),
        ((Reduce, 13, 8 * KIB), "binomial"),
        ((Reduce, 300, 8 * KIB), "binary_in_order"),
        ((ReduceScatter, 13, 256 * KIB - 1), "recursive_halving"),
        ((ReduceScatter, 13, 256 * KIB), "ring"),
        ((ReduceScatter, 32, 2 * KIB), "butterfly"),
        ((ReduceScatterBlock, 5, 8), "recursive_doubling"),
        ((ReduceScatterBlock, 13, 512 * KIB), "non_overlapping"),
        ((ReduceScatterBlock, 13, 4 << 20), "butterfly"),
        ((Scatter, 13, 16 * KIB - 1), "binomial"),
        ((Scatter, 13, 16 * KIB), "linear"),
    ] {
        let at = format!("{collective:?}, p = {size}, {bytes} bytes");
        assert_eq!(chosen(&rules, Call::new(collective, size, bytes)), expected, "{at}");
    }
    for ((collective, size, bytes), expected) in [
        ((Allreduce, 13, 1 << 20), "reduce_bcast"),
        ((Allreduce, 3, 128 * KIB), "linear"),
        ((Reduce, 13, KIB), "linear"),
        ((Reduce, 13, 8 * KIB), "binary_in_order"),
        ((ReduceScatter, 13, 8), "non_overlapping"),
        ((ReduceScatterBlock, 13, 8), "non_overlapping"),
    ] {
        let call = Call { commutative: false, ..Call::new(collective, size, bytes) };
        assert_eq!(chosen(&rules, call), expected, "{collective:?}, p = {size}, {bytes} bytes, in order");
    }
}

#[test]
fn decisions_on_theta_and_hornet() {
    let theta = shipped("theta-bruck");
    for (bytes, expected) in [(15, "below"), (16, "bruck"), (2 * KIB, "bruck"), (2 * KIB + 1, "below")] {
        assert_eq!(chosen(&theta, Call::new(Alltoall, 512, bytes)), expected);
    }
    let parameters = |choice| match choice {
        Choice::Below => panic!("below"),
        Choice::Use { parameters, .. } => parameters,
    };
    let radix = parameters(theta.choose(&Call::new(Alltoall, 512, 64))).get(Parameter::Radix);
    assert_eq!(radix, None, "the default is the square root");
    let hornet = shipped("cray-aries-bcast");
    for ((size, bytes), expected) in [
        ((129, 12287), "binomial"),
        ((129, 12288), "scatter_ring_allgather_opt"),
        ((64, 12288), "scatter_recursive_doubling_allgather"),
        ((64, 524_288), "scatter_ring_allgather_opt"),
    ] {
        assert_eq!(chosen(&hornet, Call::new(Bcast, size, bytes)), expected);
    }
}

#[test]
fn the_documentation_has_every_key_and_every_measure() {
    let text = read("docs/rules.md");
    for collective in Collective::ALL {
        for key in keys(collective) {
            assert!(text.contains(&format!("`{key}`")), "{key} is missing");
        }
        let between =
            if Measure::between_groups(collective) == Measure::Nothing { "none" } else { "the same" };
        let measure = Measure::on_stencils(collective);
        let between = if Measure::of(collective) == Measure::Nothing { "" } else { between };
        let row = format!("| {} | {} | {between} |", collective.name(), measure.description());
        assert!(text.contains(&row), "the table of measures has no row {row}");
    }
}

/// Parses every block of TOML and every line of rules in the documentation.
#[test]
fn the_examples_of_the_documentation_are_right() {
    let text = read("docs/rules.md");
    let blocks = |kind: &str| {
        let open = format!("```{kind}\n");
        let rest = text.split(&open[..]).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
        rest.collect::<Vec<_>>()
    };
    let (files, lines) = (blocks("toml"), blocks("rules"));
    assert!(!files.is_empty() && !lines.is_empty());
    for file in files {
        Rules::parse("docs/rules.md", &file).unwrap_or_else(|errors| panic!("{errors}\n{file}"));
    }
    for line in lines.iter().flat_map(|block| block.lines()) {
        Rules::parse_line("docs/rules.md", Allreduce, line)
            .unwrap_or_else(|errors| panic!("{errors}\n{line}"));
    }
}

#[test]
fn the_schema_has_the_names_of_the_registry() {
    let name = "docs/rules.schema.json";
    if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        fs::write(path(name), schema()).unwrap();
    }
    assert!(read(name) == schema(), "{name} is not what the registry says; UPDATE_SNAPSHOTS=1 rewrites it");
}

/// Returns the JSON schema of rule files. It is strict on names, but lenient where only the parser can check.
fn schema() -> String {
    let collectives: Vec<_> = Collective::ALL.into_iter().map(of_collective).collect();
    format!(
        "{{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \
         \"title\": \"Selection rules of rustcoll\",\n  \"type\": \"object\",\n  \"minProperties\": 1,\n  \
         \"additionalProperties\": false,\n  \"properties\": {{\n    \"priority\": {{ \"type\": \"integer\", \"minimum\": 0, \"maximum\": 100 }},\n{}\n  }},\n  \"$defs\": {{\n{}\n  }}\n}}\n",
        collectives.join(",\n"),
        DEFINITIONS.map(|(name, definition)| format!("    \"{name}\": {definition}")).join(",\n")
    )
}

const DEFINITIONS: [(&str, &str); 6] = [
    ("range", r#"{ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9., ]+$" }"#),
    (
        "numbers",
        r##"{ "anyOf": [{ "$ref": "#/$defs/range" }, { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/range" } }] }"##,
    ),
    ("size", r#"{ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9BKMGi., ]+$" }"#),
    (
        "sizes",
        r##"{ "anyOf": [{ "$ref": "#/$defs/size" }, { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/size" } }] }"##,
    ),
    ("truth", r#"{ "type": "boolean" }"#),
    ("expression", r#"{ "type": "string", "minLength": 1, "maxLength": 512 }"#),
];

fn of_collective(collective: Collective) -> String {
    let quoted: Vec<_> = algorithm_names(collective).map(|name| format!("\"{name}\"")).collect();
    let property = |key: &str| {
        let definition = match key {
            "algorithm" => format!("{{ \"enum\": [{}] }}", quoted.join(", ")),
            "ranks" | "root" | "groups" | "nodes" | "ranks_per_node" | "neighbours" | "dimensions" => {
                reference("numbers")
            }
            "bytes" => reference("sizes"),
            "when" => reference("expression"),
            "power_of_two" | "commutative" | "predefined" | "in_place" | "tcp" => reference("truth"),
            parameter => of_parameter(parameter),
        };
        format!("          \"{key}\": {definition}")
    };
    let properties: Vec<_> = keys(collective).map(property).collect();
    format!(
        "    \"{}\": {{\n      \"type\": \"array\",\n      \"maxItems\": 1000,\n      \"items\": {{\n        \
         \"type\": \"object\",\n        \"required\": [\"algorithm\"],\n        \"additionalProperties\": false,\n        \
         \"properties\": {{\n{}\n        }}\n      }}\n    }}",
        collective.name(),
        properties.join(",\n")
    )
}

fn reference(definition: &str) -> String {
    format!("{{ \"$ref\": \"#/$defs/{definition}\" }}")
}

fn of_parameter(name: &str) -> String {
    let is_it = |parameter: &Parameter| parameter.name() == name || parameter.aliases().contains(&name);
    let parameter =
        Parameter::ALL.into_iter().find(is_it).unwrap_or_else(|| panic!("{name} is no parameter"));
    let number = match parameter {
        Parameter::Segment => reference("size"),
        Parameter::Radix | Parameter::Window => {
            format!("{{ \"type\": \"integer\", \"minimum\": {} }}", parameter.minimum())
        }
    };
    format!("{{ \"anyOf\": [{{ \"const\": \"{}\" }}, {number}] }}", parameter.default_word())
}
