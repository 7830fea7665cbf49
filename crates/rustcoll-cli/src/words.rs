//! Small pieces of messages.

/// Returns a number of things, with a plural s unless the number is 1.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Returns a part of one in percent, with one decimal place.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// Returns a part of one in percent, with the digits that the user gave: `7%` is not 7.000000000000001 %.
pub fn given_percent(part: f64) -> String {
    format!("{} %", (1e9 * 100.0 * part).round() / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "rule")), ["0 rules", "1 rule", "2 rules"]);
    }

    #[test]
    fn percentages_are_told_as_they_were_given() {
        let told = [0.07, 0.15, 0.0725].map(given_percent);
        assert_eq!(told, ["7 %", "15 %", "7.25 %"]);
    }
}
