//! The head of a schedule file: a key and its value in each line.

use super::Misread;
use crate::algorithms::{Collective, Cut, Root, compiled};
use crate::schedule::content;
use crate::text::nearest::unknown;

/// The first line of a schedule file.
pub const FIRST_LINE: &str = "rustcoll schedule, version 1";

/// The start of the first line in all versions.
const ANY_VERSION: &str = "rustcoll schedule, version ";

const KEYS: [&str; 5] = ["collective", "name", "root", "needs", "source"];

/// Longer names do not fit into tables.
const LONGEST_NAME: usize = 40;

/// The content of a head.
pub struct Head {
    pub collective: Collective,
    pub name: String,
    pub source: Option<String>,
    pub root: Root,
    pub needs_commutative: bool,
}

/// The value of a key, and where it is.
#[derive(Clone, Copy)]
struct Said<'text> {
    line: usize,
    column: usize,
    value: &'text str,
}

impl Said<'_> {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Misread> {
        Err(Misread { line: self.line, column: self.column, message: message.into() })
    }
}

impl Head {
    /// Reads the head of a file. Also returns how many lines it has.
    pub fn read<'text>(text: &'text str) -> Result<(Head, usize), Misread> {
        let mut said = [None; KEYS.len()];
        let mut is_begun = false;
        let mut lines = 0;
        for (line, number) in text.lines().zip(1..) {
            let line = content(line);
            let said_here = |value: &'text str| Said {
                line: number,
                column: line.chars().count() - value.chars().count() + 1,
                value,
            };
            let trimmed = line.trim_start();
            let (key, value) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
            if key == "rank" && is_begun {
                break;
            }
            lines = number;
            if trimmed.is_empty() {
                continue;
            }
            if !is_begun {
                check_version(trimmed).or_else(|message| said_here(trimmed).wrong(message))?;
                is_begun = true;
                continue;
            }
            let Some(place) = KEYS.iter().position(|&known| known == key) else {
                let known = KEYS.into_iter().chain(["rank"]);
                return said_here(trimmed).wrong(unknown("key", key, known));
            };
            if said[place].replace(said_here(value.trim_start())).is_some() {
                return said_here(trimmed).wrong(format!("a second line with {key}"));
            }
        }
        let end = Said { line: lines + 1, column: 1, value: "" };
        if !is_begun {
            return end.wrong(format!("a schedule file begins with \"{FIRST_LINE}\""));
        }
        Ok((Head::of(said, end)?, lines))
    }

    /// Returns what the lines say. `end` is the place behind the last one.
    fn of([collective, name, root, needs, source]: [Option<Said>; 5], end: Said) -> Result<Head, Misread> {
        let Some(collective) = collective else { return end.wrong("the head does not say which collective") };
        let Some(name) = name else { return end.wrong("the head does not say which name") };
        let collective = collective_of(collective)?;
        check_name(name, collective)?;
        let root = root.map_or(Ok(Root::Only(0)), |root| root_of(root, collective))?;
        let needs_commutative = needs.map_or(Ok(false), |needs| is_commutative_needed(needs, collective))?;
        let source = source.map(|source| source.value.to_owned());
        Ok(Head { collective, name: name.value.to_owned(), source, root, needs_commutative })
    }
}

fn check_version(line: &str) -> Result<(), String> {
    match line.strip_prefix(ANY_VERSION) {
        _ if line == FIRST_LINE => Ok(()),
        Some(version) => Err(format!("version {version:?} is not known: this reads \"{FIRST_LINE}\"")),
        None => Err(format!("a schedule file begins with \"{FIRST_LINE}\"")),
    }
}

fn collective_of(said: Said) -> Result<Collective, Misread> {
    match Collective::named(said.value) {
        None => said.wrong(unknown("collective", said.value, Collective::ALL.map(Collective::name))),
        Some(collective) if collective.cut() == Cut::Edges => {
            let name = collective.name();
            said.wrong(format!("{name} depends on the neighbours of each rank, which a file cannot describe"))
        }
        Some(collective) => Ok(collective),
    }
}

fn check_name(said: Said, collective: Collective) -> Result<(), Misread> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let begins = said.value.starts_with(|first: char| first.is_ascii_lowercase());
    if !begins || !said.value.chars().all(is_letter) || said.value.len() > LONGEST_NAME {
        return said.wrong(format!(
            "a name has up to {LONGEST_NAME} small letters, digits and underscores, and begins with a letter"
        ));
    }
    // Algorithms of files may have the name: this file may have been loaded before.
    let mut own = compiled().filter(|algorithm| algorithm.performs(collective));
    match own.any(|algorithm| algorithm.is_named(said.value)) {
        true => {
            let (collective, name) = (collective.name(), said.value);
            said.wrong(format!("rustcoll itself has a {collective} algorithm named {name}"))
        }
        false => Ok(()),
    }
}

fn root_of(said: Said, collective: Collective) -> Result<Root, Misread> {
    match said.value {
        _ if !collective.is_rooted() => said.wrong(format!("{} has no root", collective.name())),
        "any" => Ok(Root::Any),
        rank => match rank.parse() {
            Ok(rank) => Ok(Root::Only(rank)),
            Err(_) => said.wrong("expected the number of a rank, or \"any\""),
        },
    }
}

fn is_commutative_needed(said: Said, collective: Collective) -> Result<bool, Misread> {
    match said.value {
        "commutative" if !collective.reduces() => {
            said.wrong(format!("{} has no operator", collective.name()))
        }
        "commutative" => Ok(true),
        _ => said.wrong("expected \"commutative\""),
    }
}
