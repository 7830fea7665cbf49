//! Small pieces of messages.

/// Returns a number of things, with a plural s unless the number is 1.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Returns a part of one in percent, with one decimal place.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "rule")), ["0 rules", "1 rule", "2 rules"]);
    }
}
