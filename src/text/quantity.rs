//! Numbers, sizes and ranges as users write them.

use super::error::shortened;
use std::ops::RangeInclusive;

/// Units of bytes and their short forms.
pub const UNITS: [(&str, usize); 8] = [
    ("", 1),
    ("B", 1),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
];

/// Reads a number without a unit.
pub fn number(text: &str) -> Result<usize, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(format!("`{}` is not a number", shortened(text)));
    }
    text.parse().map_err(|_| too_large(text))
}

/// Reads a number of bytes, with or without a unit.
pub fn bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (count, name) = text.split_at(digits);
    if count.is_empty() {
        return Err(format!("`{}` is not a number of bytes", shortened(text)));
    }
    number(count)?.checked_mul(unit(name.trim_start())?).ok_or_else(|| too_large(text))
}

/// Returns a number of bytes as [`bytes`] reads it, in the largest unit of which it is a multiple.
pub fn in_units(bytes: usize) -> String {
    let mut units =
        UNITS.iter().filter(|(name, unit)| name.len() != 1 && bytes >= *unit && bytes.is_multiple_of(*unit));
    match units.next_back() {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Returns the bytes of a unit.
pub fn unit(name: &str) -> Result<usize, String> {
    let unit = UNITS.iter().find(|(known, _)| *known == name);
    let (_, bytes) = unit.ok_or_else(|| {
        format!("unknown unit `{}`; the units are B, KiB, MiB and GiB, or K, M and G", shortened(name.trim()))
    })?;
    Ok(*bytes)
}

/// Reads `first..last`, both included, `first..`, `..last` or a single quantity.
pub fn range(
    text: &str,
    quantity: impl Fn(&str) -> Result<usize, String>,
) -> Result<RangeInclusive<usize>, String> {
    let Some((first, last)) = text.split_once("..") else {
        return quantity(text).map(|only| only..=only);
    };
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() && last.is_empty() {
        return Err(format!("the range `{}` has no bound", shortened(text)));
    }
    let first = if first.is_empty() { 0 } else { quantity(first)? };
    let last = if last.is_empty() { usize::MAX } else { quantity(last)? };
    if first > last { Err(format!("the range `{text}` is empty")) } else { Ok(first..=last) }
}

/// The limit is lower where addresses have 32 bits, as in a page (WebAssembly).
fn too_large(text: &str) -> String {
    let here = if usize::BITS < u64::BITS { " for a page, which counts to 4 GiB" } else { "" };
    format!("`{}` is too large{here}", shortened(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        for (text, expected) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("2KiB", 2048),
            ("2K", 2048),
            ("1M", 1 << 20),
            ("3 MiB", 3 << 20),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(bytes(text), Ok(expected));
        }
        assert_eq!(
            bytes("2KB").unwrap_err(),
            "unknown unit `KB`; the units are B, KiB, MiB and GiB, or K, M and G"
        );
        assert_eq!(bytes("KiB").unwrap_err(), "`KiB` is not a number of bytes");
        assert_eq!(bytes("-1").unwrap_err(), "`-1` is not a number of bytes");
        assert_eq!(bytes("99999999999999999999").unwrap_err(), "`99999999999999999999` is too large");
        assert_eq!(bytes("99999999999999GiB").unwrap_err(), "`99999999999999GiB` is too large");
    }

    #[test]
    fn numbers_have_none() {
        assert_eq!(number("12"), Ok(12));
        for text in ["", "+1", "-1", "1B", "x", "1.5"] {
            assert_eq!(number(text), Err(format!("`{text}` is not a number")));
        }
    }

    #[test]
    fn both_ends_of_a_range_are_included() {
        assert_eq!(range("2..64", number), Ok(2..=64));
        assert_eq!(range("8 .. 8", number), Ok(8..=8));
        assert_eq!(range("33..", number), Ok(33..=usize::MAX));
        assert_eq!(range("..2KiB", bytes), Ok(0..=2048));
        assert_eq!(range("5", number), Ok(5..=5));
    }

    #[test]
    fn bytes_are_written_in_units() {
        for (number, expected) in
            [(0, "0"), (17, "17"), (1024, "1KiB"), (1536, "1536"), (3 << 20, "3MiB"), (2 << 30, "2GiB")]
        {
            assert_eq!(in_units(number), expected);
            assert_eq!(bytes(expected), Ok(number));
        }
    }

    #[test]
    fn ranges_are_neither_empty_nor_reversed() {
        assert_eq!(range("..", number).unwrap_err(), "the range `..` has no bound");
        assert_eq!(range("3..2", number).unwrap_err(), "the range `3..2` is empty");
        assert_eq!(range("1KiB..1023", bytes).unwrap_err(), "the range `1KiB..1023` is empty");
        for text in ["", "a..", "1...2", "1..=2"] {
            assert!(range(text, number).unwrap_err().ends_with("is not a number"), "{text}");
        }
    }
}
