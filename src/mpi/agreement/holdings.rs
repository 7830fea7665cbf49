//! What all ranks of a communicator must hold alike, so that they choose the same algorithms and do not hang. Each
//! rank publishes a text about what it holds, and compares it with the text of one other rank.

use crate::algorithms::{Parameter, compiled};
use crate::hash::hash;
use crate::mpi::decision::rules::{self, Collected, Source};
use crate::mpi::parameters::registered;
use crate::mpi::shim::bindings::rustcoll_shim_switches;
use std::ffi::CStr;
use std::sync::LazyLock;

const BUILT_IN_RULES: &str = include_str!("../../../selection-rules/default.toml");

/// The most characters of a thing's `shown` text that a rank publishes.
const MOST_SHOWN: usize = 500;

/// What must be equal on all ranks, in the order of the lines of the published text.
const THINGS: [&str; 4] = ["builds", "priorities", "parameters", "rules or schedule files"];

/// What a rank holds of one of the `THINGS`.
struct Holding {
    /// The text that ranks compare, by its digest.
    content: String,
    /// The text for users.
    shown: String,
}

/// Returns what this rank holds. `priority`: on communicators whose info keys do not name the component.
fn holdings(priority: Option<i32>) -> [Holding; THINGS.len()] {
    let priority = priority.map_or("off, for it is not asked for here".to_owned(), |it| it.to_string());
    let set = [registered::shaping(), switches()];
    let forced = set.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    [
        Holding { content: BUILD.clone(), shown: format!("version {}", env!("CARGO_PKG_VERSION")) },
        Holding { content: priority.clone(), shown: priority },
        Holding { shown: or_default(&forced), content: forced },
        rules(rules::given()),
    ]
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
pub fn published(priority: Option<i32>) -> String {
    let line = |Holding { content, shown, .. }: Holding| {
        let shown: String = shown.replace('\n', " ").chars().take(MOST_SHOWN).collect();
        format!("{:016x} {shown}", hash(content.as_bytes()))
    };
    holdings(priority).map(line).join("\n")
}

/// What differs between two ranks, and what each of them holds of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// One of the `THINGS`, or `components` if the other rank published nothing.
    pub what: &'static str,
    pub own: String,
    pub other: String,
}

/// Returns the first difference between this rank's published text and that of another rank, possibly of another
/// build. `other` is `None` if that rank published no text and so does not take part.
pub fn difference(own: &str, other: Option<&str>) -> Option<Difference> {
    let Some(other) = other else {
        let (own, other) = ("it runs".into(), "it is missing, or declined to run".into());
        return Some(Difference { what: "components", own, other });
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

    #[test]
    fn a_rank_agrees_with_itself() {
        assert_eq!(difference(&published(Some(60)), Some(&published(Some(60)))), None);
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
        let (own, other) = (published(Some(60)), published(None));
        let Difference { what, own, other } = difference(&own, Some(&other)).unwrap();
        assert_eq!((what, &*own, &*other), ("priorities", "60", "off, for it is not asked for here"));
    }

    #[test]
    fn a_rank_that_published_nothing_or_nonsense_differs() {
        let own = published(Some(60));
        assert_eq!(difference(&own, None).unwrap().what, "components");
        for nonsense in ["", "x", "\n\n\n\n", "0123456789abcdef version 0.0.9"] {
            assert_eq!(difference(&own, Some(nonsense)).unwrap().what, "builds", "{nonsense:?}");
        }
    }
}
