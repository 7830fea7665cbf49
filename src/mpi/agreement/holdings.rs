//! What all ranks of a communicator must hold alike, so that they choose the same algorithms and do not hang. Each
//! rank publishes a text about what it holds, and compares it with the text of one other rank.

use crate::algorithms::{Parameter, compiled};
use crate::hash::hash;
use crate::mpi::decision::rules::{self, Collected, Source};
use crate::mpi::parameters::registered;
use crate::mpi::shim::bindings::rustcoll_shim_switches;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::LazyLock;

const BUILT_IN_RULES: &str = include_str!("../../../selection-rules/default.toml");

/// The most characters of a thing's `shown` text that a rank publishes.
const MOST_SHOWN: usize = 500;

/// What must be equal on all ranks, in the order of the lines of the published text.
const THINGS: [&str; 5] = ["builds", "priorities", "parameters", "rules or schedule files", COMPONENTS];

const COMPONENTS: &str = "components";

/// How a rank takes part, as its shim knows.
#[derive(Default)]
pub struct Participation<'a> {
    /// The priority on communicators whose info keys do not name the component.
    pub priority: Option<i32>,
    /// The parameter `coll`, a list of components, or of excluded ones after a `^`.
    pub components: Option<&'a str>,
    /// The name of a parameter that does not exist, or whose value is illegal.
    pub wrong: Option<&'a str>,
}

/// What a rank holds of one of the `THINGS`.
struct Holding {
    /// The text that ranks compare, by its digest.
    content: String,
    /// The text for users.
    shown: String,
}

/// Returns what this rank holds.
fn holdings(participation: &Participation) -> [Holding; THINGS.len()] {
    let Participation { priority, components, wrong } = *participation;
    let priority = priority.map_or("off, for it is not asked for here".to_owned(), |it| it.to_string());
    let wrong = wrong.map_or(String::new(), |name| format!("{name}, which is wrong"));
    let set = [registered::shaping(), switches(), wrong];
    let forced = set.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    [
        Holding { content: BUILD.clone(), shown: format!("version {}", env!("CARGO_PKG_VERSION")) },
        Holding { content: priority.clone(), shown: priority },
        Holding { shown: or_default(&forced), content: forced },
        rules(rules::given()),
        self::components(components),
    ]
}

/// Returns the components that the user lists. Which of them there are decides what a rank can leave to another one; their
/// order decides nothing.
fn components(list: Option<&str>) -> Holding {
    let given = list.unwrap_or_default();
    let (sign, names) = given.strip_prefix('^').map_or(("", given), |excluded| ("^", excluded));
    let names: BTreeSet<&str> = names.split(',').map(str::trim).collect();
    let content = format!("{sign}{}", Vec::from_iter(names).join(","));
    Holding { content, shown: list.map_or_else(|| or_default(""), |list| format!("coll={list}")) }
}

/// Returns the switches that are on, of those that the shim reads itself and that must be equal on all ranks.
fn switches() -> String {
    // SAFETY: the shim returns a C string that lives as long as the process.
    unsafe { CStr::from_ptr(rustcoll_shim_switches()) }.to_string_lossy().into_owned()
}

/// Returns the schedule files and rules in force; `shown` also says why others were left out. `content` has no file
/// names, because hosts may keep the same file in different places.
fn rules(Collected { sources, faults, .. }: &Collected) -> Holding {
    let digest = |source: &Source| format!("{:016x}", hash(&source.content));
    let content = sources.iter().map(|source| match source.is_file {
        true => digest(source),
        false => format!("{} {}", source.name, digest(source)),
    });
    let shown = sources.iter().map(|source| match source.is_file {
        true => format!("{} ({} bytes, digest {})", source.name, source.content.len(), digest(source)),
        false => format!("{}={}", source.name, String::from_utf8_lossy(&source.content)),
    });
    let shown = or_default(&shown.collect::<Vec<_>>().join(", "));
    let left_out = match &faults[..] {
        [] => String::new(),
        faults => format!("; left out: {}", faults.join("; ")),
    };
    Holding { content: content.collect::<Vec<_>>().join(" "), shown: shown + &left_out }
}

fn or_default(given: &str) -> String {
    if given.is_empty() { "all as by default".into() } else { given.into() }
}

/// A digest of the properties of the build, apart from its code, on which choices and messages depend. Kept, because
/// preloaded ranks compare it on each communicator.
static BUILD: LazyLock<String> = LazyLock::new(build);

fn build() -> String {
    let algorithms = compiled().map(|algorithm| {
        let parameters: Vec<_> =
            algorithm.parameters.iter().map(|&parameter| Parameter::name(parameter)).collect();
        format!("{} {parameters:?}", algorithm.title())
    });
    // Byte order and word length.
    let representation = format!("{:?}", 1usize.to_ne_bytes());
    let whole: Vec<String> =
        [env!("CARGO_PKG_VERSION").to_owned(), representation, BUILT_IN_RULES.to_owned()]
            .into_iter()
            .chain(algorithms)
            .collect();
    format!("{:016x}", hash(whole.join("\n").as_bytes()))
}

/// Returns the text to publish: for each thing a line with the digest of `content`, and `shown`, cut.
pub fn published(participation: &Participation) -> String {
    let line = |Holding { content, shown, .. }: Holding| {
        let shown: String = shown.replace('\n', " ").chars().take(MOST_SHOWN).collect();
        format!("{:016x} {shown}", hash(content.as_bytes()))
    };
    holdings(participation).map(line).join("\n")
}

/// What differs between two ranks, and what each of them holds of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// One of the `THINGS`.
    pub what: &'static str,
    pub own: String,
    pub other: String,
}

/// Returns the first difference between this rank's published text and that of another rank, possibly of another
/// build. `other` is `None` if that rank published no text and so does not take part.
pub fn difference(own: &str, other: Option<&str>) -> Option<Difference> {
    let Some(other) = other else {
        let (own, other) = ("it runs".into(), "it is missing, or declined to run".into());
        return Some(Difference { what: COMPONENTS, own, other });
    };
    let mut others = other.lines();
    for (line, what) in own.lines().zip(THINGS) {
        let (digest, own) = split(line);
        let (other_digest, other) = split(others.next().unwrap_or_default());
        if digest != other_digest {
            return Some(Difference { what, own: own.into(), other: other.into() });
        }
    }
    None
}

fn split(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;

    /// Returns the text of a rank that names the component.
    fn of_naming(components: &str, wrong: Option<&str>) -> String {
        published(&Participation { priority: Some(60), components: Some(components), wrong })
    }

    #[test]
    fn a_rank_agrees_with_itself() {
        assert_eq!(difference(&of_naming("rustcoll", None), Some(&of_naming("rustcoll", None))), None);
    }

    #[test]
    fn the_order_of_listed_components_does_not_count() {
        let differ = |own, other| difference(&of_naming(own, None), Some(&of_naming(other, None)));
        assert_eq!(differ("rustcoll,tuned,basic", "tuned, basic,rustcoll"), None);
        assert_eq!(differ("^han,hcoll", "^hcoll,han"), None);
        let Difference { what, own, other } = differ("rustcoll", "rustcoll,tuned").unwrap();
        assert_eq!((what, &*own, &*other), ("components", "coll=rustcoll", "coll=rustcoll,tuned"));
        assert!(differ("han", "^han").is_some());
    }

    #[test]
    fn a_wrong_parameter_counts() {
        let own = of_naming("rustcoll", Some("coll_rustcoll_alreduce_algorithm"));
        let Difference { what, own, other } = difference(&own, Some(&of_naming("rustcoll", None))).unwrap();
        assert_eq!((what, &*other), ("parameters", "all as by default"));
        assert_eq!(own, "coll_rustcoll_alreduce_algorithm, which is wrong");
    }

    #[test]
    fn what_is_left_out_is_shown_and_does_not_count() {
        let mut given = Collected::default();
        given.add_files("files", "/nowhere/rules.toml");
        let Holding { content, shown } = rules(&given);
        assert_eq!(content, rules(&Collected::default()).content);
        let reason = "/nowhere/rules.toml: cannot be read: No such file or directory (os error 2)";
        assert_eq!(shown, format!("all as by default; left out: {reason}"));
        given.add_line("line", Collective::Bcast, "-> chain");
        assert_eq!(rules(&given).shown, format!("line=-> chain; left out: {reason}"));
    }

    #[test]
    fn the_first_difference_is_told_with_both_sides() {
        let (own, other) = (of_naming("rustcoll", None), published(&Participation::default()));
        let Difference { what, own, other } = difference(&own, Some(&other)).unwrap();
        assert_eq!((what, &*own, &*other), ("priorities", "60", "off, for it is not asked for here"));
    }

    #[test]
    fn a_rank_that_published_nothing_or_nonsense_differs() {
        let own = of_naming("rustcoll", None);
        assert_eq!(difference(&own, None).unwrap().what, "components");
        for nonsense in ["", "x", "\n\n\n\n", "0123456789abcdef version 0.0.9"] {
            assert_eq!(difference(&own, Some(nonsense)).unwrap().what, "builds", "{nonsense:?}");
        }
    }
}
