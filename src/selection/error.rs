//! What is wrong with a rule file.

use std::fmt;

/// Why a text is no rule file, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for RuleError {}
