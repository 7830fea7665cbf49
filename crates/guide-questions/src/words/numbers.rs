//! Numbers in texts.

/// Returns numbers as ranges: `0–3,5`.
pub fn ranges(numbers: &[usize]) -> String {
    joined(numbers, ",")
}

/// Returns numbers as ranges for a sentence: `0–3, 5`.
pub fn listed(numbers: &[usize]) -> String {
    joined(numbers, ", ")
}

fn joined(numbers: &[usize], separator: &str) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if number <= *last + 1 => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}{separator}{last}"),
        _ => format!("{first}–{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(separator)
}

/// Returns a count with its noun: `1 block`, `3 blocks`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Returns a noun with its numbers: `block 2`, `blocks 2, 4–6`.
pub fn named(what: &str, numbers: &[usize]) -> String {
    format!("{what}{} {}", if numbers.len() == 1 { "" } else { "s" }, listed(numbers))
}

/// Returns the range of several counts: `2 blocks`, or `1 to 4 blocks`. `numbers` must not be empty.
pub fn counts(numbers: &[usize], what: &str) -> String {
    let (least, most) = (numbers.iter().min(), numbers.iter().max());
    match (least, most) {
        (Some(least), Some(most)) if least < most => format!("{least} to {}", count(*most, what)),
        _ => count(numbers[0], what),
    }
}

/// Returns a number in a base of at most 36, with the base as subscript: `110₂`.
pub fn in_base(number: usize, base: usize) -> String {
    let below: String = base.to_string().chars().filter_map(below).collect();
    format!("{}{below}", digits(number, base, 1))
}

/// Returns a decimal digit as a subscript.
fn below(digit: char) -> Option<char> {
    ('₀'..='₉').nth(digit.to_digit(10)? as usize)
}

/// Returns the digits of a number in a base of at most 36, at least `least` of them.
pub fn digits(mut number: usize, base: usize, least: usize) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.len() < least {
        digits.extend(char::from_digit((number % base) as u32, base as u32));
        number /= base;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[2, 0, 1, 3, 7, 6]), "0–3,6,7");
        assert_eq!(named("rank", &[4, 2, 3, 8]), "ranks 2–4, 8");
    }

    #[test]
    fn numbers_are_counted_with_their_least_and_most() {
        assert_eq!(counts(&[1], "block"), "1 block");
        assert_eq!(counts(&[2, 2], "block"), "2 blocks");
        assert_eq!(counts(&[4, 1], "block"), "1 to 4 blocks");
    }

    #[test]
    fn bases_stand_below() {
        assert_eq!([in_base(6, 2), in_base(0, 3), in_base(35, 16)], ["110₂", "0₃", "23₁₆"]);
        assert_eq!(digits(3, 2, 4), "0011");
    }
}
