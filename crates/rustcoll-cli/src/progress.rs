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
