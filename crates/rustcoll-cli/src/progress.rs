//! Shows the progress of long work on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on the standard error stream, if that is a terminal. Dropping the value removes the bar.
pub struct Progress(ProgressBar);

/// The number of steps of a bar.
const STEPS: u64 = 1000;

impl Progress {
    /// Returns a bar for work of this name.
    pub fn new(work: &str) -> Progress {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {eta} left");
        let bar = ProgressBar::new(STEPS).with_style(style.expect("it is well-formed"));
        Progress(bar.with_message(work.to_owned()))
    }

    /// Shows the current work: before the bar, or on a line of its own if there is no terminal.
    pub fn say(&self, work: String) {
        if self.0.is_hidden() {
            eprintln!("rustcoll: {work}");
        } else {
            self.0.set_message(work);
        }
    }

    /// Shows which part of the work is done.
    pub fn show(&self, part: f64) {
        self.0.set_position((part * STEPS as f64) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A count on the standard error stream, if that is a terminal.
pub struct Count(ProgressBar);

impl Count {
    /// Returns a count of 0. `things` is the noun of what it counts.
    pub fn new(things: &str) -> Count {
        let style = ProgressStyle::with_template(&format!("{{msg}}, {{pos}} {things}"));
        Count(ProgressBar::no_length().with_style(style.expect("it is well-formed")))
    }

    /// Adds one. On a terminal, shows the text that `said` returns.
    pub fn add(&self, said: impl FnOnce() -> String) {
        self.0.inc(1);
        if !self.0.is_hidden() {
            self.0.set_message(said());
        }
    }

    /// Returns the count, and removes it from the terminal.
    pub fn end(self) -> usize {
        self.0.finish_and_clear();
        self.0.position() as usize
    }
}
