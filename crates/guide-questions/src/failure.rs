//! Why a question has no answer.

use crate::problem::control;
use rustcoll::algorithms::description::Misdescribed;
use rustcoll::algorithms::{Reason, Requirement};
use rustcoll::text::TextErrors;
use serde::Serialize;
use ts_rs::TS;

/// What is wrong with a question, for users.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Failure {
    /// What is wrong.
    pub message: String,
    /// The name of the control at fault, if it is one.
    pub field: Option<String>,
    /// What is wrong where, if it is a text.
    pub places: Vec<TextPlace>,
}

/// Something to be said of a place in a text.
#[derive(Clone, Debug, Serialize, TS)]
pub struct TextPlace {
    /// Number of the line, from 1; 0 stands for the text as a whole.
    pub line: usize,
    /// Number of the character in its line, from 1.
    pub column: usize,
    /// What is to be said.
    pub message: String,
}

impl Failure {
    /// Of the question as a whole.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), field: None, places: Vec::new() }
    }

    /// Of what a control says.
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

/// The control that decides whether an algorithm can serve at all.
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
