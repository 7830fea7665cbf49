//! What the page of the visual guide asks the library: questions and answers in JSON.
//!
//! The page computes nothing about collectives itself. It holds this crate as WebAssembly and puts to it what a user wants to see;
//! the types of questions and answers are written out as TypeScript for it (`tests/types.rs`).

#![deny(unsafe_code)]

pub mod catalog;
pub mod decisions;
pub mod failure;
pub mod machine;
pub mod own;
// No unsafe code, but names that the linker must keep.
#[allow(unsafe_code)]
pub mod page;
pub mod prices;
pub mod problem;
pub mod question;
pub mod schedule;
pub mod timeline;
pub mod trace;
pub mod words;

use failure::Failure;
use question::{Answer, Question};

/// The answer to a question: `{"ok": …}` or `{"error": …}`; see [`Question`] and [`Failure`].
pub fn answer(question: &str) -> String {
    let answer = serde_json::from_str(question)
        .map_err(|error| Failure::new(format!("the question is none: {error}")))
        .and_then(|question: Question| question.answer());
    let reply = match answer {
        Ok(answer) => Reply::Ok(answer),
        Err(failure) => Reply::Error(failure),
    };
    serde_json::to_string(&reply).expect("answers have no keys but names")
}

#[derive(serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Ok(Answer),
    Error(Failure),
}
