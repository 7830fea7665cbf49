//! Checks the pages on troubleshooting: they have every message that users can see, and no other messages.

use std::fs;
use std::path::{Path, PathBuf};

/// The pages that explain messages.
const CHAPTER: &str = concat!(
    include_str!("../docs/troubleshooting.md"),
    include_str!("../docs/messages.md"),
    include_str!("../docs/rule-faults.md")
);

/// The folders and files with texts for users. The component's Rust is in one of the first two.
const SOURCES: &[&str] = &[
    "src/mpi",
    "src/coll_component",
    "src/interpose",
    "src/selection",
    "src/text",
    "src/algorithms/problem.rs",
    "src/engine/mock_up.rs",
    "crates/rustcoll-cli/src/rules/check.rs",
];

/// Files without messages: examples for tests, writers of files, names, and the output of `rustcoll rules explain` and
/// `ompi_info`.
const WITHOUT_MESSAGES: &[&str] = &[
    "tests.rs",
    "samples.rs",
    "measure.rs",
    "explain.rs",
    "writing/native.rs",
    "writing/open_mpi.rs",
    "writing/tuned.rs",
    "parameters.c",
    "src/mpi/parameters/registered.rs",
    "src/mpi/reporting/names.rs",
    "src/coll_component/parameters.rs",
];

/// Expressions for rules of other libraries, names of texts that cannot have faults, and formats of what is read or
/// written.
const NO_MESSAGES: &[&str] = &[
    "bytes * ranks >= {first}",
    "bytes * ranks <= {last}",
    "bytes >= {first} * ranks",
    "bytes < {next} * ranks",
    "nodes == 1 or ranks_per_node == 1",
    "ranks {sign} {most} * nodes",
    "the table",
    "/proc/{process}/fd/{descriptor}",
];

/// Code before texts that users do not see, or only users who look for faults of rustcoll.
const PRIVATE: &[&str] = &[".expect(", "panic!(", "unreachable!(", "log::debug!("];

#[test]
fn every_message_is_explained() {
    let quotes = quotes();
    let missing: Vec<String> = messages()
        .into_iter()
        .filter(|message| !quotes.iter().any(|quote| is_in(&message.parts, quote)))
        .map(|message| format!("{}: {}", message.place, message.parts.join("…")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/troubleshooting.md, messages.md and rule-faults.md do not quote\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_topic_of_the_help_is_explained() {
    let quotes = quotes();
    for (topic, text) in topics() {
        let paragraph = text.split("\n\n").next().unwrap_or_default();
        let parts = parts(paragraph, Language::C);
        assert!(
            quotes.iter().any(|quote| is_in(&parts, quote)),
            "docs/troubleshooting.md, messages.md and rule-faults.md do not quote the topic {topic}:\n{paragraph}"
        );
    }
}

#[test]
fn nothing_is_explained_that_nobody_prints() {
    let help = topics()
        .into_iter()
        .flat_map(|(_, text)| text.lines().map(|line| parts(line, Language::C)).collect::<Vec<_>>());
    let known: Vec<Vec<String>> = messages().into_iter().map(|message| message.parts).chain(help).collect();
    let known: Vec<_> = known.into_iter().filter(|parts| !parts.is_empty()).collect();
    for line in quoted_lines() {
        assert!(known.iter().any(|parts| is_in(parts, &line)), "nobody prints {line:?}");
    }
}

/// A text for users, as it is in its source.
struct Message {
    place: String,
    /// The text between the placeholders.
    parts: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Rust,
    C,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn messages() -> Vec<Message> {
    let files: Vec<PathBuf> = SOURCES.iter().flat_map(|source| files(&root().join(source))).collect();
    files.iter().flat_map(|file| messages_of(file)).collect()
}

/// Returns this file, or all files below this folder, if they have code with messages. Nothing if the path does not
/// exist.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        return entries.iter().flat_map(|entry| files(entry)).collect();
    }
    let is_code = path.extension().is_some_and(|extension| extension == "rs" || extension == "c");
    let has_messages = !WITHOUT_MESSAGES.iter().any(|name| path.ends_with(name));
    if path.is_file() && is_code && has_messages { vec![path.to_owned()] } else { Vec::new() }
}

/// Returns the literals of a file that are for users: several words, not in a test.
fn messages_of(file: &Path) -> Vec<Message> {
    let content = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let language = if file.extension().is_some_and(|extension| extension == "rs") {
        Language::Rust
    } else {
        Language::C
    };
    let code = without_descriptions(content.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default());
    let name = file.strip_prefix(root()).expect("a file of the project").display();
    let is_for_users = |literal: &&Literal| {
        let before = code[..literal.start].trim_end();
        let is_rule = literal.text.contains("->");
        let is_read = literal.text.contains("%31[");
        !is_rule
            && !is_read
            && !PRIVATE.iter().any(|opening| before.ends_with(opening))
            && !NO_MESSAGES.contains(&&*literal.text)
    };
    let message = |literal: &Literal| Message {
        place: format!("{name}:{}", 1 + code[..literal.start].matches('\n').count()),
        parts: parts(&literal.text, language),
    };
    let literals = literals(&code);
    let messages = literals.iter().filter(is_for_users).map(message);
    messages.filter(|message| is_for_people(&message.parts)).collect()
}

/// Returns the code with blanks in place of descriptions of parameters and requirements.
fn without_descriptions(code: &str) -> String {
    let mut pieces = code.split("fn description(");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (body, rest) = piece.split_once("\n    }\n").unwrap_or((piece, ""));
        kept.extend(body.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
        kept.push_str("\n    }\n");
        kept.push_str(rest);
    }
    kept
}

/// Whether a text has several words, or one word and a quotation.
fn is_for_people(parts: &[String]) -> bool {
    let has_letters = |word: &&str| word.chars().any(|letter| letter.is_ascii_alphabetic());
    let words: Vec<&str> =
        parts.iter().flat_map(|part| part.split_whitespace()).filter(has_letters).collect();
    let is_long = |word: &&str| word.len() > 3;
    words.iter().any(is_long) && (words.len() > 1 || parts.concat().contains('`'))
}

/// Returns a format's text between its placeholders, without spaces at the ends.
fn parts(format: &str, language: Language) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = format;
    while let Some(character) = rest.chars().next() {
        let placeholder = match language {
            // The code that formats the text replaces this later.
            Language::Rust if rest.starts_with("{{") => rest.find("}}").map(|end| end + 2),
            Language::Rust if character == '{' => rest.find('}').map(|end| end + 1),
            Language::C if character == '%' => {
                rest.find(|letter: char| letter.is_ascii_alphabetic()).map(|end| end + 1)
            }
            _ => None,
        };
        match placeholder {
            Some(length) => {
                parts.push(String::new());
                rest = &rest[length..];
            }
            None => {
                parts.last_mut().expect("never empty").push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    parts.iter().map(|part| spaced(part)).filter(|part| !part.is_empty()).collect()
}

/// Returns a text with single spaces between words, and none at the ends.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text contains all parts in this order.
fn is_in(parts: &[String], text: &str) -> bool {
    let mut rest = text;
    parts.iter().all(|part| match rest.find(part.as_str()) {
        Some(start) => {
            rest = &rest[start + part.len()..];
            true
        }
        None => false,
    })
}

struct Literal {
    /// The byte offset in the code.
    start: usize,
    text: String,
}

/// Returns the string literals of Rust or C code. Comments and character literals do not count.
fn literals(code: &str) -> Vec<Literal> {
    let mut literals = Vec::new();
    let mut place = 0;
    while let Some(character) = code[place..].chars().next() {
        let rest = &code[place..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if character == '"' {
            let (text, length) = quoted(rest);
            literals.push(Literal { start: place, text });
            length
        } else if character == '\'' {
            character_length(rest)
        } else {
            character.len_utf8()
        };
        place += length;
    }
    literals
}

/// Returns a literal's text with its escapes resolved, and its length in the code.
fn quoted(code: &str) -> (String, usize) {
    let mut text = String::new();
    let mut characters = code.char_indices().skip(1).peekable();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return (text, place + 1),
            '\\' => match characters.next() {
                // An escaped end of line.
                Some((_, '\n')) => while characters.next_if(|(_, next)| next.is_whitespace()).is_some() {},
                Some((_, 'n' | 't')) => text.push(' '),
                Some((_, escaped)) => text.push(escaped),
                None => {}
            },
            _ => text.push(character),
        }
    }
    panic!("a quote is not closed: {}", code.lines().next().unwrap_or_default());
}

/// Returns the length of a character literal; for a lifetime, the length of its quote.
fn character_length(code: &str) -> usize {
    let mut characters = code.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escaped, letter))) => {
            let after = escaped + letter.len_utf8();
            code[after..].find('\'').map_or(1, |end| after + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// Returns the topics of the component's help, and their texts.
fn topics() -> Vec<(String, String)> {
    let help = files_named("help-mca-coll-rustcoll.txt");
    let lines = help.lines().filter(|line| !line.starts_with('#'));
    let mut topics: Vec<(String, String)> = Vec::new();
    for line in lines {
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        match (name, topics.last_mut()) {
            (Some(name), _) => topics.push((name.to_owned(), String::new())),
            (None, Some((_, text))) => text.extend([line, "\n"]),
            (None, None) => panic!("a line before the first topic: {line}"),
        }
    }
    assert!(topics.len() > 5, "the help has topics");
    topics
}

fn files_named(name: &str) -> String {
    let paths = SOURCES.iter().map(|source| root().join(source).join(name));
    let texts: Vec<String> = paths.filter_map(|path| fs::read_to_string(path).ok()).collect();
    assert_eq!(texts.len(), 1, "{name} stands in one place");
    texts.concat()
}

/// Returns all quotations of the pages: blocks, and code within lines.
fn quotes() -> Vec<String> {
    let mut quotes: Vec<String> = blocks().iter().map(|block| spaced(block)).collect();
    for line in CHAPTER.lines() {
        quotes.extend(code_within(line));
    }
    quotes
}

/// Returns what the pages say that rustcoll prints: the lines of blocks, and the first code of each row of a table.
fn quoted_lines() -> Vec<String> {
    let lines = blocks().into_iter().flat_map(|block| block.lines().map(spaced).collect::<Vec<_>>());
    let rows = CHAPTER.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| code_within(row).into_iter().next());
    lines.chain(cells).filter(|line| !line.is_empty()).collect()
}

fn blocks() -> Vec<String> {
    CHAPTER
        .split("```text\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// Returns the pieces of a line between backquotes. A piece ends with as many backquotes as it begins.
fn code_within(line: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let opened = &rest[start..];
        let fence = &opened[..opened.len() - opened.trim_start_matches('`').len()];
        let inner = &opened[fence.len()..];
        let Some(end) = inner.find(fence) else { break };
        pieces.push(spaced(&inner[..end]));
        rest = &inner[end + fence.len()..];
    }
    pieces
}
