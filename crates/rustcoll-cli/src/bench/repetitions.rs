//! The measuring program's options about repetitions.

use crate::command_line::RepetitionOptions;

impl RepetitionOptions {
    /// Returns the options as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let RepetitionOptions { at_least, at_most, budget, hot, fresh } = self;
        let numbers =
            [("--at-least", u64::from(*at_least)), ("--at-most", u64::from(*at_most)), ("--budget", *budget)];
        let mut words: Vec<String> =
            numbers.iter().flat_map(|(name, value)| [name.to_string(), value.to_string()]).collect();
        words.extend(hot.then(|| "--hot".to_owned()));
        words.extend(fresh.then(|| "--fresh".to_owned()));
        words
    }
}
