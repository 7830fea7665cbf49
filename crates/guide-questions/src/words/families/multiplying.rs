//! Recursive multiplying: in groups of k ranks, each rank exchanges with each other one.

use super::super::numbers::in_base;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::arrangements::{participant, participants};
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let (size, radix) = (scene.size(), scene.problem().radix);
    let participants = participants(size, radix);
    let [own, other] = [travel.source, travel.target].map(|rank| participant(rank, size, participants));
    if own == other {
        let (title, text) = match travel.source > travel.target {
            true => ("Fold", "Ranks give their vectors to the rank before them that takes part for them."),
            false => ("Unfold", "Ranks that took part send the result to those for which they did."),
        };
        return Some(Phase::new(title, Sentence::plain(text)));
    }
    let position = own.abs_diff(other).ilog(radix);
    let weight = radix.pow(position);
    let is_one_digit = own / (weight * radix) == other / (weight * radix) && own % weight == other % weight;
    is_one_digit.then(|| {
        let text = format!(
            "Groups of {radix}, whose numbers differ in digit {position} only, exchange what they have combined, each with each; the results stand for {} participants.",
            weight * radix
        );
        let sample = |number| in_base(number, radix);
        let others: Vec<String> = (0..radix).map(|digit| sample(digit * weight)).collect();
        Phase::new(format!("Digit {position}"), Sentence::with(text, format!("a group: {}", others.join(", "))))
    })
}

fn facts(scene: &Scene) -> Vec<String> {
    let radix = scene.problem().radix;
    let participants = participants(scene.size(), radix);
    let position = participants.ilog(radix);
    vec![format!("Participants are {radix}^{position} = {participants} of {} ranks.", scene.size())]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::Allreduce;
    use rustcoll::algorithms::Problem;

    #[test]
    fn groups_differ_in_one_digit() {
        let problem = Problem { radix: 3, ..Problem::new(9) };
        assert_eq!(
            step(Allreduce, "recursive_multiplying", &problem, 3)[..2],
            [
                "Digit 1",
                "Groups of 3, whose numbers differ in digit 1 only, exchange what they have combined, each with each; the results stand for 9 participants. | a group: 0₃, 10₃, 20₃"
            ]
        );
    }

    #[test]
    fn others_are_folded() {
        let problem = Problem { radix: 3, ..Problem::new(7) };
        let titles = titles(Allreduce, "recursive_multiplying", &problem);
        assert_eq!((titles[0].as_str(), titles.last().unwrap().as_str()), ("Fold", "Unfold"));
        assert_eq!(
            of_run(Allreduce, "recursive_multiplying", &problem),
            ["Participants are 3^1 = 3 of 7 ranks."]
        );
    }
}
