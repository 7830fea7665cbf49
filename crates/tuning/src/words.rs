//! Formats numbers for messages and files.

use rustcoll::selection::quantity;

/// Formats a time with three significant digits and a unit.
pub fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= 0.9995 * unit).unwrap_or(units[2]);
    let number = seconds / unit;
    let decimals = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.decimals$} {name}")
}

/// Formats a part of 1 in percent.
pub fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Formats a probability; below 0.0001 as `< 0.0001`.
pub fn probability(probability: f64) -> String {
    if probability < 1e-4 { "< 0.0001".into() } else { format!("{probability:.4}") }
}

/// Formats a number of bytes with its unit: `8 bytes`, `64KiB`.
pub fn bytes(number: usize) -> String {
    let text = quantity::in_units(number);
    if text.ends_with('B') { text } else { format!("{text} bytes") }
}

/// Replaces control characters, which include line ends, by spaces.
pub fn on_one_line(text: &str) -> String {
    text.split(char::is_control).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_unit() {
        assert_eq!([8, 1000, 64 << 10].map(bytes), ["8 bytes", "1000 bytes", "64KiB"]);
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        for (seconds, expected) in [
            (0.0, "0.00 us"),
            (1.234e-6, "1.23 us"),
            (123.4e-6, "123 us"),
            (12.34e-3, "12.3 ms"),
            (9.999e-3, "10.0 ms"),
            (99.96e-3, "100 ms"),
            (0.9997, "1.00 s"),
            (2.0, "2.00 s"),
            (1234.0, "1234 s"),
        ] {
            assert_eq!(time(seconds), expected);
        }
    }

    #[test]
    fn tiny_probabilities_are_only_said_to_be_so() {
        assert_eq!([0.04567, 0.0].map(probability), ["0.0457", "< 0.0001"]);
    }

    #[test]
    fn nothing_ends_a_line() {
        assert_eq!(on_one_line("\na\r\n b\t\u{0}"), "a b");
    }
}
