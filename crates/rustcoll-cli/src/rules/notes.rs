//! Prints notes about rules.

use rustcoll::selection::Note;

/// Returns a line for each message, at the first rule that the message is about.
pub fn lines(notes: &[Note]) -> impl Iterator<Item = String> {
    notes.iter().enumerate().filter_map(|(position, note)| {
        let Note { origin, message } = note;
        let is_same = |other: &&Note| other.message == *message;
        if notes[..position].iter().any(|other| is_same(&other)) {
            return None;
        }
        Some(match notes[position + 1..].iter().filter(is_same).count() {
            0 => format!("{origin}: note: {message}"),
            1 => format!("{origin}: note: {message}; so it is for another rule"),
            others => format!("{origin}: note: {message}; so it is for {others} other rules"),
        })
    })
}
