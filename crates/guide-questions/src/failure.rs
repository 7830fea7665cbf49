//! Why a question has no answer.

use crate::problem::control;
use rustcoll::algorithms::description::Misdescribed;
use rustcoll::algorithms::{Reason, Requirement};
use rustcoll::text::TextErrors;
use serde::Serialize;
use ts_rs::TS;

/// What is wrong with a question, in words for users.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Failure {
    pub message: String,
    /// The page's control at fault; none if no single control is.
    pub field: Option<String>,
    /// The faulty places, if a text is at fault.
    pub places: Vec<TextPlace>,
}

/// A message about a place in a text.
#[derive(Clone, Debug, Serialize, TS)]
pub struct TextPlace {
    /// Line, from 1; 0 is the text as a whole.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    pub message: String,
}

impl Failure {
    /// Returns a failure of the question as a whole.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), field: None, places: Vec::new() }
    }

    /// Returns a failure that blames the value of one control.
    pub fn of(field: &str, message: impl Into<String>) -> Failure {
        Failure { field: Some(field.into()), ..Failure::new(message) }
    }
}

impl From<Misdescribed> for Failure {
    fn from(wrong: Misdescribed) -> Failure {
        match wrong {
            Misdescribed::Field { name, message } => {
                let control = control(name);
                Failure::of(&control, format!("{control} {message}"))
            }
            Misdescribed::Unserved { reason, .. } => {
                let field = control_at_fault(reason).map(str::to_string);
                Failure { field, ..Failure::new(wrong.to_string()) }
            }
        }
    }
}

/// Returns the control that the user must change so that an algorithm can serve at all.
fn control_at_fault(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::Unmet(Requirement::EvenSize) => Some("ranks"),
        Reason::Unmet(Requirement::OneGroup | Requirement::TwoGroups) => Some("remote"),
        _ => None,
    }
}

impl From<TextErrors> for Failure {
    fn from(errors: TextErrors) -> Failure {
        let place = |error: &rustcoll::text::TextError| TextPlace {
            line: error.origin.line,
            column: error.origin.column,
            message: error.message.clone(),
        };
        Failure { places: errors.0.iter().map(place).collect(), ..Failure::new(errors.to_string()) }
    }
}
