//! Shows on a terminal how far long work is.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on the standard error stream, if that is a terminal; gone when it is dropped.
pub struct Progress(ProgressBar);

/// In how many steps a bar grows.
const STEPS: u64 = 1000;

impl Progress {
    /// A bar for work of this name.
    pub fn new(work: &str) -> Progress {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} %, {eta} left");
        let bar = ProgressBar::new(STEPS).with_style(style.expect("it is well-formed"));
        Progress(bar.with_message(work.to_owned()))
    }

    /// Says what is being done: in front of the bar, or in a line of its own where there is no terminal.
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

/// A number that grows on the standard error stream, if that is a terminal.
pub struct Count(ProgressBar);

impl Count {
    /// None of these things yet.
    pub fn new(things: &str) -> Count {
        let style = ProgressStyle::with_template(&format!("{{msg}}, {{pos}} {things}"));
        Count(ProgressBar::no_length().with_style(style.expect("it is well-formed")))
    }

    /// One more, of which something is to be said on a terminal.
    pub fn add(&self, said: impl FnOnce() -> String) {
        self.0.inc(1);
        if !self.0.is_hidden() {
            self.0.set_message(said());
        }
    }

    /// How many there were; it is gone from the terminal.
    pub fn end(self) -> usize {
        self.0.finish_and_clear();
        self.0.position() as usize
    }
}
