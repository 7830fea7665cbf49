//! Times and bandwidths with their units.

use crate::text::error::shortened;

/// Units of time in seconds.
const TIMES: [(&str, f64); 5] = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Units of bandwidth in bytes a second.
const BANDWIDTHS: [(&str, f64); 11] = [
    ("bit/s", 0.125),
    ("kbit/s", 0.125e3),
    ("Mbit/s", 0.125e6),
    ("Gbit/s", 0.125e9),
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1024.0 * 1024.0),
    ("GiB/s", 1024.0 * 1024.0 * 1024.0),
];

/// Reads a time. Returns seconds, which may be 0.
pub fn time(text: &str) -> Result<f64, String> {
    quantity("time", text, &TIMES)
}

/// Reads a bandwidth. Returns the seconds for each byte.
pub fn byte_time(text: &str) -> Result<f64, String> {
    let bandwidth = quantity("bandwidth", text, &BANDWIDTHS)?;
    let time = bandwidth.recip();
    if time.is_finite() { Ok(time) } else { Err(format!("the bandwidth `{}` is too small", shortened(text))) }
}

fn quantity(what: &str, text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let is_of_number = |character: char| character.is_ascii_digit() || character == '.';
    let end = text.find(|character| !is_of_number(character)).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let Ok(number) = number.parse::<f64>() else {
        return Err(format!("`{}` is not a {what}, which is a number and a unit", shortened(text)));
    };
    let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let wrong = match unit {
            "" => format!("`{}` has no unit", shortened(text)),
            _ => format!("unknown unit `{}`", shortened(unit)),
        };
        return Err(format!("{wrong}; the units of a {what} are {}", names.join(", ")));
    };
    let value = number * factor;
    if value.is_finite() { Ok(value) } else { Err(format!("`{}` is too large", shortened(text))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, expected) in
            [("1.1ms", 1.1e-3), ("35us", 35e-6), ("35 µs", 35e-6), ("2s", 2.0), ("0ns", 0.0), (".5s", 0.5)]
        {
            let seconds = time(text).unwrap();
            assert!((seconds - expected).abs() <= 1e-12 * expected, "{text}: {seconds}");
        }
        let units = "the units of a time are ns, us, µs, ms, s";
        assert_eq!(time("3").unwrap_err(), format!("`3` has no unit; {units}"));
        assert_eq!(time("3 sec").unwrap_err(), format!("unknown unit `sec`; {units}"));
        for wrong in ["", "ms", "-1ms", "1.2.3ms", "inf", "NaN s"] {
            let expected = format!("`{wrong}` is not a time, which is a number and a unit");
            assert_eq!(time(wrong), Err(expected));
        }
        let long = "9".repeat(400);
        assert!(time(&format!("{long}s")).unwrap_err().ends_with("is too large"));
    }

    #[test]
    fn bandwidths_give_the_time_for_a_byte() {
        for (text, expected) in [
            ("100Mbit/s", 8e-8),
            ("12.5MB/s", 8e-8),
            ("1 GB/s", 1e-9),
            ("1KiB/s", 1.0 / 1024.0),
            ("8bit/s", 1.0),
        ] {
            let seconds = byte_time(text).unwrap();
            assert!((seconds - expected).abs() <= 1e-12 * expected, "{text}: {seconds}");
        }
        assert_eq!(byte_time("0B/s").unwrap_err(), "the bandwidth `0B/s` is too small");
        assert!(byte_time("100mbit/s").unwrap_err().starts_with("unknown unit `mbit/s`; the units of"));
    }
}
