//! Splits texts into lines and words. Comments go from `#` to the end of a line.

use std::ops::Range;

/// Returns the places of the words of each line.
pub fn lines(text: &str) -> impl Iterator<Item = Vec<Range<usize>>> {
    let lines = text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    });
    lines.map(|(start, line)| words(start, line))
}

fn words(start: usize, line: &str) -> Vec<Range<usize>> {
    let content = line.split('#').next().unwrap_or_default();
    let place = |word: &str| {
        let place = start + (word.as_ptr() as usize - line.as_ptr() as usize);
        place..place + word.len()
    };
    content.split_whitespace().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places_and_comments_none() {
        let text = "a bc # d\n#e\n\tf\n";
        let found: Vec<Vec<&str>> =
            lines(text).map(|line| line.into_iter().map(|place| &text[place]).collect()).collect();
        assert_eq!(found, [vec!["a", "bc"], vec![], vec!["f"]]);
    }
}
