//! Rules in one line, for a parameter: `ranks=33.. bytes=16K.. commutative -> binary_blocks; ranks=..8 -> ring`.
//!
//! Conditions come before the arrow, the algorithm and its parameters behind it. Semicolons separate rules. A
//! condition without a value asks for `true`. Values with spaces or semicolons need single or double quotes.

use super::entry::{ALGORITHM, Entry, Item, Provenance, Word};
use super::error::Fault;
use super::reading::is_condition;
use std::ops::Range;

const ARROW: &str = "->";
const SEPARATOR: &str = ";";

/// Reads a line. Parts that cannot be read are left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Vec<Entry> {
    let tokens = tokens(text, faults);
    let rules = tokens.split(|token| &text[token.clone()] == SEPARATOR).filter(|rule| !rule.is_empty());
    rules.filter_map(|rule| entry(text, rule, faults)).collect()
}

fn entry(text: &str, tokens: &[Range<usize>], faults: &mut Vec<Fault>) -> Option<Entry> {
    let place = tokens.first()?.start..tokens.last()?.end;
    let arrow = tokens.iter().position(|token| &text[token.clone()] == ARROW);
    let Some((arrow, name)) = arrow.and_then(|arrow| Some((arrow, tokens.get(arrow + 1)?.clone()))) else {
        let message = format!("expected `{ARROW}` and an algorithm");
        faults.push(Fault { place: place.end..place.end, message });
        return None;
    };
    let key = Word { text: ALGORITHM.to_owned(), place: name.clone() };
    let algorithm = Item { key, values: vec![word(text, name)] };
    let mut items = side(text, &tokens[..arrow], true, faults);
    items.push(algorithm);
    items.extend(side(text, &tokens[arrow + 2..], false, faults));
    Some(Entry { place, items, provenance: Provenance::Written })
}

/// Reads the conditions before the arrow, or the parameters behind the algorithm. Items that belong to the
/// other side are left out and reported.
fn side(text: &str, tokens: &[Range<usize>], of_conditions: bool, faults: &mut Vec<Fault>) -> Vec<Item> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for item in tokens.iter().map(|token| item(text, token.clone())) {
        let is_right = is_condition(&item.key.text).is_none_or(|is_condition| is_condition == of_conditions);
        if is_right { right.push(item) } else { wrong.push(item.key) }
    }
    faults.extend(wrong.into_iter().map(|Word { text, place }| {
        let message = match of_conditions {
            true => format!("`{text}` is no condition and stands behind the algorithm, not before the arrow"),
            false => format!("`{text}` is a condition and stands before the arrow, not behind the algorithm"),
        };
        Fault { place, message }
    }));
    right
}

fn item(text: &str, token: Range<usize>) -> Item {
    let Some(equals) = text[token.clone()].find('=') else {
        return Item { key: word(text, token), values: Vec::new() };
    };
    let equals = token.start + equals;
    let value = unquoted(text, equals + 1..token.end);
    Item { key: word(text, token.start..equals), values: vec![word(text, value)] }
}

fn word(text: &str, place: Range<usize>) -> Word {
    Word { text: text[place.clone()].to_owned(), place }
}

fn unquoted(text: &str, place: Range<usize>) -> Range<usize> {
    let value = &text[place.clone()];
    let is_quoted = |quote| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    if is_quoted('"') || is_quoted('\'') { place.start + 1..place.end - 1 } else { place }
}

/// Returns the places of separators, arrows, and the items between these and spaces.
fn tokens(text: &str, faults: &mut Vec<Fault>) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < text.len() {
        let rest = &text[place..];
        let length = match rest.chars().next() {
            Some(space) if space.is_whitespace() => {
                place += space.len_utf8();
                continue;
            }
            _ if rest.starts_with(SEPARATOR) => SEPARATOR.len(),
            _ if rest.starts_with(ARROW) => ARROW.len(),
            _ => match item_length(rest) {
                Ok(length) => length,
                Err(quote) => {
                    let message = "the quote is not closed".to_owned();
                    faults.push(Fault { place: place + quote..text.len(), message });
                    rest.len()
                }
            },
        };
        tokens.push(place..place + length);
        place += length;
    }
    tokens
}

/// Returns the length of a condition, an algorithm or a parameter. Fails with the position of a quote that is
/// not closed.
fn item_length(text: &str) -> Result<usize, usize> {
    let mut open: Option<(usize, char)> = None;
    for (place, character) in text.char_indices() {
        let is_end = || {
            character.is_whitespace() || [SEPARATOR, ARROW].iter().any(|end| text[place..].starts_with(end))
        };
        match open {
            Some((_, quote)) if character == quote => open = None,
            Some(_) => {}
            None if "\"'".contains(character) => open = Some((place, character)),
            None if is_end() => return Ok(place),
            None => {}
        }
    }
    open.map_or(Ok(text.len()), |(place, _)| Err(place))
}

#[cfg(test)]
mod tests {
    use crate::algorithms::{Collective, Parameter};
    use crate::selection::{Call, Choice, Rules};

    fn errors(line: &str) -> String {
        Rules::parse_line("line", Collective::Allreduce, line).unwrap_err().to_string()
    }

    #[test]
    fn lines_and_files_say_the_same() {
        let line = "ranks=4,33.. bytes=16K..1MiB commutative in_place=false when='bytes > 2 * ranks' -> binary_blocks;\
                    ranks=..8->recursive_multiplying k=4 ;;";
        let file = "[[allreduce]]\nranks = [4, \"33..\"]\nbytes = \"16KiB..1MiB\"\ncommutative = true\n\
                    in_place = false\nwhen = \"bytes > 2 * ranks\"\nalgorithm = \"binary_blocks\"\n\
                    [[allreduce]]\nranks = \"..8\"\nalgorithm = \"recursive_multiplying\"\nradix = 4\n";
        let [line, file] =
            [Rules::parse_line("line", Collective::Allreduce, line), Rules::parse("file", file)]
                .map(|rules| rules.unwrap_or_else(|errors| panic!("{errors}")));
        let [line, file] = [&line, &file].map(|rules| rules.of(Collective::Allreduce));
        assert_eq!(line.len(), 2);
        for (line, file) in line.iter().zip(file) {
            assert_eq!(line.conditions, file.conditions);
            assert_eq!(format!("{:?}", line.choice), format!("{:?}", file.choice));
        }
    }

    #[test]
    fn the_parts_of_a_line_decide() {
        let line =
            "ranks=33.. bytes=16K.. commutative -> binary_blocks; ranks=..8 -> recursive_multiplying radix=4";
        let rules = Rules::parse_line("line", Collective::Allreduce, line).unwrap();
        let chosen = |size, bytes| match rules.choose(&Call::new(Collective::Allreduce, size, bytes)) {
            Choice::Below => ("below", None),
            Choice::Use { algorithm, parameters } => (algorithm.name, parameters.get(Parameter::Radix)),
        };
        assert_eq!(chosen(33, 16 << 10), ("binary_blocks", None));
        assert_eq!(chosen(33, (16 << 10) - 1), ("below", None));
        assert_eq!(chosen(8, 1), ("recursive_multiplying", Some(4)));
        assert_eq!(rules.of(Collective::Allreduce)[1].origin.to_string(), "line:1:54");
    }

    #[test]
    fn faults_have_columns() {
        for (line, expected) in [
            ("", "line: there are no rules"),
            (" ; ", "line: there are no rules"),
            ("ranks=3", "line:1:8: expected `->` and an algorithm"),
            ("ranks=3 ->", "line:1:11: expected `->` and an algorithm"),
            (
                "ranks=3 -> rinq",
                "line:1:12: unknown allreduce algorithm `rinq`; the nearest known one is `ring`",
            ),
            ("rank=3 -> ring", "line:1:1: unknown key `rank`; the nearest known one is `ranks`"),
            ("ranks=3,x -> ring", "line:1:9: `x` is not a number"),
            ("ranks -> ring", "line:1:1: `ranks` needs a value"),
            ("when='bytes > 2 -> ring", "line:1:6: the quote is not closed"),
            (
                "when='bytes > 2x' -> ring",
                "line:1:16: unknown unit `x`; the units are B, KiB, MiB and GiB, or K, M and G",
            ),
            ("-> ring radix=2", "line:1:9: `ring` takes no radix"),
            ("-> ring; ranks=3 ranks=4 -> ring", "line:1:18: `ranks` stands twice in this rule"),
            ("-> ring -> linear", "line:1:9: unknown key `->`; the nearest known one is `k`"),
            ("-> recursive_multiplying k=2 radix=4", "line:1:30: `radix` stands twice in this rule"),
            (
                "-> ring ranks=3",
                "line:1:9: `ranks` is a condition and stands before the arrow, not behind the algorithm",
            ),
            (
                "k=2 -> recursive_multiplying",
                "line:1:1: `k` is no condition and stands behind the algorithm, not before the arrow",
            ),
            (
                "algorithm=ring -> ring",
                "line:1:1: `algorithm` is no condition and stands behind the algorithm, not before the arrow",
            ),
        ] {
            let errors = errors(line);
            assert_eq!(errors.lines().next(), Some(expected), "{line}");
        }
    }

    #[test]
    fn all_faults_are_found() {
        let errors = errors("rank=3 bytes=x -> rinq; ranks=2 -> linear; ranks=y -> ring foo=1");
        let columns: Vec<_> = errors.lines().map(|line| line.split(':').nth(2).unwrap()).collect();
        assert_eq!(columns, ["1", "14", "19", "50", "60"], "{errors}");
    }
}
