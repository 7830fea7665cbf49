//! The measuring program's options about repetitions.

use crate::command_line::RepetitionOptions;
use crate::failure::Failure;
use std::num::NonZeroU32;

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

    /// Fails if the least number of repetitions is greater than the greatest.
    pub fn check(&self) -> Result<(), Failure> {
        let RepetitionOptions { at_least, at_most, .. } = self;
        match at_least > at_most {
            true => Err(Failure::Usage(format!("--at-least {at_least} is more than --at-most {at_most}"))),
            false => Ok(()),
        }
    }
}

/// Returns the option for communicators that live for so many calls.
pub fn short_lived_words(calls: Option<NonZeroU32>) -> Vec<String> {
    calls.iter().map(|calls| format!("--short-lived={calls}")).collect()
}
