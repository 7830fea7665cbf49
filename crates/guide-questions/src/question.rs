//! The kinds of questions.

use crate::catalog::Catalog;
use crate::decisions::{Decisions, DecisionsQuestion};
use crate::failure::Failure;
use crate::own::{self, OwnSchedule};
use crate::prices::{Prices, PricesQuestion};
use crate::problem::Subject;
use crate::schedule::{self, ScheduleQuestion};
use crate::timeline::{Timeline, TimelineQuestion};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A question: its kind and its input.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// All collectives, algorithms and machines.
    Catalog {},
    /// The run of an algorithm.
    Trace(Subject),
    /// The run of schedules that a user has written, and whether they are right.
    Own(OwnSchedule),
    /// The schedules of all ranks as text.
    Schedule(ScheduleQuestion),
    /// When each rank does what, by the cost model.
    Timeline(TimelineQuestion),
    /// Which rule decides, by ranks and bytes.
    Decisions(DecisionsQuestion),
    /// Times of a collective's algorithms.
    Prices(PricesQuestion),
}

/// The answer to a question of the same kind.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Catalog(Catalog),
    Trace(Box<Trace>),
    Schedule(String),
    Timeline(Timeline),
    Decisions(Decisions),
    Prices(Prices),
}

/// The type of each question's answer, for TypeScript.
#[derive(TS)]
pub struct Answers {
    pub catalog: Catalog,
    pub trace: Trace,
    pub own: Trace,
    pub schedule: String,
    pub timeline: Timeline,
    pub decisions: Decisions,
    pub prices: Prices,
}

/// The type of each question's input, for TypeScript.
#[derive(TS)]
pub struct Questions {
    pub catalog: Nothing,
    pub trace: Subject,
    pub own: OwnSchedule,
    pub schedule: ScheduleQuestion,
    pub timeline: TimelineQuestion,
    pub decisions: DecisionsQuestion,
    pub prices: PricesQuestion,
}

/// The input of a question that has none.
#[derive(TS)]
pub struct Nothing {}

impl Question {
    pub fn answer(&self) -> Result<Answer, Failure> {
        Ok(match self {
            Question::Catalog {} => Answer::Catalog(Catalog::new()),
            Question::Trace(subject) => Answer::Trace(Box::new(Trace::of(subject)?)),
            Question::Own(schedule) => Answer::Trace(Box::new(own::trace(schedule)?)),
            Question::Schedule(question) => Answer::Schedule(schedule::text(question)?),
            Question::Timeline(question) => Answer::Timeline(question.answer()?),
            Question::Decisions(question) => Answer::Decisions(question.answer()?),
            Question::Prices(question) => Answer::Prices(question.answer()?),
        })
    }
}
