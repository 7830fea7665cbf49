//! Explanations of collectives, algorithms and steps.
//!
//! The messages and works of a step explain any schedule, also a user's. The families of algorithms (`families`)
//! say what these messages and works are for. A family says nothing about a step that does not fit it.

mod collectives;
mod families;
mod numbers;
mod pattern;
mod scene;
mod works;

pub use collectives::of_collective;
pub use numbers::ranges;

use crate::trace::{Sentence, Subjects};
use families::{Family, Phase};
use rustcoll::trace::{Event, Trace, Travel};
use scene::Scene;

/// The explanation of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    pub title: String,
    pub sentences: Vec<Sentence>,
}

/// Explains a step of a run.
pub fn explain(subjects: &Subjects, trace: &Trace, step: usize) -> Explained {
    let scene = Scene { subjects, trace, step };
    let family = subjects.algorithm.and_then(Family::of).unwrap_or_default();
    match &trace.steps[step].event {
        Event::Messages(travels) => messages(&scene, travels, &family),
        Event::Work(_) => (family.work)(&scene).unwrap_or_else(|| works::explain(&scene)),
    }
}

/// Returns facts about a run as a whole.
pub fn facts(subjects: &Subjects, trace: &Trace) -> Vec<String> {
    let family = subjects.algorithm.and_then(Family::of).unwrap_or_default();
    (family.facts)(&Scene { subjects, trace, step: 0 })
}

fn messages(scene: &Scene, travels: &[Travel], family: &Family) -> Explained {
    let phases = phases(scene, travels, family);
    let mut titles: Vec<&str> = Vec::new();
    for title in phases.iter().filter_map(|(phase, _)| phase.title.as_deref()) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let title = match titles.is_empty() {
        true => format!("Communication step {}", scene.round()),
        false => titles.join("; "),
    };
    let mut sentences = Vec::new();
    for (phase, travels) in &phases {
        let whose = if phases.len() > 1 { format!("{}: ", pattern::arrows(travels)) } else { String::new() };
        let named = |(number, said): (usize, &Sentence)| match number {
            0 => Sentence { text: format!("{whose}{}", said.text), ..said.clone() },
            _ => said.clone(),
        };
        sentences.extend(phase.sentences.iter().enumerate().map(named));
    }
    if !phases.is_empty() {
        sentences.extend((family.whole)(scene));
    }
    sentences.push(pattern::who(scene, travels));
    let blocks = match &phases[..] {
        [(phase, _)] => phase.blocks.clone(),
        _ => None,
    };
    sentences.push(blocks.unwrap_or_else(|| pattern::what(scene, travels)));
    Explained { title, sentences }
}

/// Returns the phases of the messages, each with its messages; empty if a message belongs to no phase.
fn phases<'a>(scene: &Scene, travels: &'a [Travel], family: &Family) -> Vec<(Phase, Vec<&'a Travel>)> {
    let mut phases: Vec<(Phase, Vec<&Travel>)> = Vec::new();
    for travel in travels {
        let Some(phase) = (family.phase)(scene, travel) else { return Vec::new() };
        match phases.iter_mut().find(|(known, _)| *known == phase) {
            Some((_, of_phase)) => of_phase.push(travel),
            None => phases.push((phase, vec![travel])),
        }
    }
    phases
}

#[cfg(test)]
mod claims;

#[cfg(test)]
mod tests {
    use super::claims::{Claim, is_sent};
    use super::*;
    use rustcoll::algorithms::{Problem, REGISTRY};
    use rustcoll::verify::problems;

    /// Whether a noun in the plural follows a 1: `1 blocks`, not `rank 1 sends`.
    fn has_wrong_plural(text: &str) -> bool {
        let words: Vec<&str> = ["."].into_iter().chain(text.split(' ')).collect();
        words.windows(3).any(|words| {
            let [before, number, noun] = words else { return false };
            let is_count = *number == "1" && !before.ends_with("ank");
            is_count && noun.trim_end_matches(['.', ',', ';', ':']).ends_with('s') && *noun != "is"
        })
    }

    /// Checks what holds for every text.
    fn check_form(text: &str, label: &str) {
        assert!(text.ends_with('.') && !has_wrong_plural(text), "{label}: {text}");
    }

    /// Checks that exactly one sentence says who sends to whom, and that it and its example are true.
    fn check_who(sentences: &[Sentence], problem: &Problem, travels: &[Travel], label: &str) {
        let claims = sentences.iter().filter_map(|said| Some((Claim::read(&said.text, problem)?, said)));
        let claims: Vec<(Claim, &Sentence)> = claims.collect();
        let [(claim, said)] = &claims[..] else { panic!("{label}: {claims:?}") };
        assert!(claim.holds(travels), "{label}: {said:?}, {travels:?}");
        assert!(said.formula.as_ref().is_none_or(|formula| is_sent(formula, travels)), "{label}: {said:?}");
    }

    #[test]
    fn what_is_said_of_the_steps_of_every_algorithm_is_true() {
        for algorithm in REGISTRY {
            for problem in (2..=9).flat_map(|size| problems(algorithm, size)) {
                let schedules = algorithm.programs(&problem);
                let collective = algorithm.contract();
                let trace = Trace::new(collective, &problem, &schedules).unwrap();
                let subjects = Subjects {
                    collective,
                    algorithm: Some(algorithm),
                    problem: &problem,
                    schedules: &schedules,
                };
                let label = format!("{} {problem:?}", algorithm.title());
                facts(&subjects, &trace).iter().for_each(|fact| check_form(fact, &label));
                for (step, moment) in trace.steps.iter().enumerate() {
                    let label = format!("{label}, step {step}");
                    let Explained { title, sentences } = explain(&subjects, &trace, step);
                    assert!(!title.is_empty() && !sentences.is_empty(), "{label}");
                    sentences.iter().for_each(|said| check_form(&said.text, &label));
                    let is_again = |number: usize| sentences[..number].contains(&sentences[number]);
                    assert!(!(0..sentences.len()).any(is_again), "{label}: {sentences:?}");
                    if let Event::Messages(travels) = &moment.event {
                        check_who(&sentences, &problem, travels, &label);
                    }
                }
            }
        }
    }

    #[test]
    fn of_a_user_s_schedule_is_said_what_it_shows() {
        let collective = rustcoll::algorithms::Collective::Allgather;
        let problem = rustcoll::algorithms::Problem::new(4);
        let algorithm = collective.algorithm("ring").unwrap();
        let schedules = algorithm.programs(&problem);
        let trace = Trace::new(collective, &problem, &schedules).unwrap();
        let subjects = Subjects { collective, algorithm: None, problem: &problem, schedules: &schedules };
        assert_eq!(
            explain(&subjects, &trace, 1),
            Explained {
                title: "Communication step 0".into(),
                sentences: vec![
                    Sentence::with(
                        "Every rank i sends to rank (i + 1) mod 4.",
                        "(i + 1) mod 4; rank 3: (3 + 1) mod 4 = 0"
                    ),
                    Sentence::with(
                        "Each message has 1 block; rank 3 sends block 3 of its send buffer.",
                        "block 3 of rank 3"
                    ),
                ],
            }
        );
        assert!(facts(&subjects, &trace).is_empty());
    }
}
