//! Questions of the visual guide's page and their answers, in JSON.
//!
//! The page computes nothing about collectives itself: it contains this crate as WebAssembly and asks it.
//! `tests/types.rs` writes the types of questions and answers as TypeScript for the page.

#![deny(unsafe_code)]

pub mod catalog;
pub mod decisions;
pub mod failure;
pub mod machine;
pub mod own;
// Its only `unsafe` is `#[unsafe(no_mangle)]` on exported functions.
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

/// Returns the answer to a question: `{"ok": …}` or `{"error": …}`; see [`Question`] and [`Failure`].
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
