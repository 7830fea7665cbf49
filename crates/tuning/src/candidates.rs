//! Contestants that are algorithms of rustcoll, and the neighbouring values of their parameters.

use measurements::Contestant;
use rustcoll::algorithms::{Algorithm, Collective, Parameter, default_radix};
use rustcoll::atlas::Candidate;
use rustcoll::selection::Parameters;

/// The small radices to try.
const SMALL_RADICES: [usize; 9] = [2, 3, 4, 5, 6, 7, 8, 10, 12];

/// The larger radices to try are these numbers times powers of two.
const LARGE_RADICES: [usize; 2] = [16, 24];

/// The shortest segment to try, in bytes.
const SHORTEST_SEGMENT: usize = 256;

/// The most segments of a vector.
const MOST_SEGMENTS: usize = 64;

/// The default window of the algorithms that have one.
const DEFAULT_WINDOW: usize = 32;

/// Returns a candidate as a contestant.
pub fn contestant(candidate: &Candidate) -> Contestant {
    Contestant {
        component: Contestant::OWN.into(),
        rules: None,
        algorithm: Some(candidate.algorithm.name.into()),
        parameters: candidate.parameters.given().map(|(key, value)| (key.name().into(), value)).collect(),
    }
}

/// Returns a contestant as a candidate, if it is an algorithm of rustcoll.
pub fn candidate(collective: Collective, contestant: &Contestant) -> Option<Candidate> {
    let name = contestant.algorithm.as_deref().filter(|_| contestant.is_own())?;
    let algorithm = collective.algorithms().find(|algorithm| algorithm.name == name)?;
    let mut parameters = Parameters::default();
    for (key, value) in &contestant.parameters {
        let parameter = Parameter::ALL.into_iter().find(|parameter| parameter.name() == key)?;
        parameters.set(parameter, Some(*value));
    }
    Some(Candidate { collective, algorithm, parameters })
}

/// Returns the position of a contestant's algorithm among the registered algorithms of a collective. The
/// position is behind all of them if the algorithm is not registered.
pub fn registered_place(collective: Collective, contestant: &Contestant) -> usize {
    let name = contestant.algorithm.as_deref();
    collective
        .algorithms()
        .position(|algorithm| Some(algorithm.name) == name)
        .unwrap_or_else(|| collective.algorithms().count())
}

/// Returns all radices to try on a number of ranks, in ascending order.
fn radices(ranks: usize) -> Vec<usize> {
    let large = (0..usize::BITS - 5).flat_map(|doubled| LARGE_RADICES.map(|radix| radix << doubled));
    let mut all: Vec<usize> =
        SMALL_RADICES.into_iter().chain(large).take_while(|radix| *radix < ranks).collect();
    all.push(ranks.max(2));
    all
}

/// Returns the candidates of an algorithm to predict; the first one has the default parameters. The others
/// have all radices, windows that are powers of two, and segments that are powers of four.
pub fn predicted(
    collective: Collective,
    algorithm: &'static Algorithm,
    ranks: usize,
    bytes: usize,
) -> Vec<Candidate> {
    let mut all = vec![Parameters::default()];
    for &parameter in algorithm.parameters {
        let values: Vec<usize> = match parameter {
            Parameter::Radix => radices(ranks),
            Parameter::Segment if algorithm.cuts_segments() => {
                (5..15).map(|power| 1 << (2 * power)).filter(|&segment| is_segment(segment, bytes)).collect()
            }
            Parameter::Segment => Vec::new(),
            Parameter::Window => (0..5).map(|power| 1 << power).filter(|window| window + 1 < ranks).collect(),
        };
        let more: Vec<Parameters> = all
            .iter()
            .flat_map(|&base| values.iter().map(move |&value| with(base, parameter, value)))
            .collect();
        all.extend(more);
    }
    all.into_iter().map(|parameters| Candidate { collective, algorithm, parameters }).collect()
}

fn with(mut parameters: Parameters, parameter: Parameter, value: usize) -> Parameters {
    parameters.set(parameter, Some(value));
    parameters
}

/// Whether segments of this length cut a vector, and not into too many segments.
fn is_segment(segment: usize, bytes: usize) -> bool {
    segment >= SHORTEST_SEGMENT && segment < bytes && bytes.div_ceil(segment) <= MOST_SEGMENTS
}

/// Returns the candidates that differ in one parameter by one step: the next smaller or larger radix, or half
/// or twice the segment or the window. Segments of blocks in shared memory have no steps.
pub fn neighbours(candidate: &Candidate, ranks: usize, bytes: usize) -> Vec<Candidate> {
    let Candidate { collective, algorithm, parameters } = *candidate;
    let beside = |parameter: Parameter| {
        let value = parameters.get(parameter);
        let values = match parameter {
            Parameter::Radix => beside_radix(value.unwrap_or(default_radix(ranks)), ranks),
            Parameter::Segment if algorithm.cuts_segments() => beside_segment(value, bytes),
            Parameter::Segment => Vec::new(),
            Parameter::Window => beside_window(value.unwrap_or(DEFAULT_WINDOW).min(ranks - 1), ranks),
        };
        values.into_iter().map(move |value| Candidate {
            collective,
            algorithm,
            parameters: with(parameters, parameter, value),
        })
    };
    algorithm.parameters.iter().copied().flat_map(beside).collect()
}

fn beside_radix(radix: usize, ranks: usize) -> Vec<usize> {
    let all = radices(ranks);
    let smaller = all.iter().rev().find(|other| **other < radix);
    let larger = all.iter().find(|other| **other > radix);
    smaller.into_iter().chain(larger).copied().collect()
}

fn beside_segment(segment: Option<usize>, bytes: usize) -> Vec<usize> {
    let segment = segment.unwrap_or(bytes);
    [segment / 2, segment * 2].into_iter().filter(|&segment| is_segment(segment, bytes)).collect()
}

fn beside_window(window: usize, ranks: usize) -> Vec<usize> {
    let is_window = |window: &usize| *window >= 1 && *window < ranks;
    [window / 2, window * 2].into_iter().filter(is_window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(collective: Collective, text: &str) -> Candidate {
        candidate(collective, &text.parse().unwrap()).unwrap()
    }

    fn beside(collective: Collective, text: &str, ranks: usize, bytes: usize) -> Vec<String> {
        let all = neighbours(&parsed(collective, text), ranks, bytes);
        all.iter().map(|candidate| contestant(candidate).to_string()).collect()
    }

    #[test]
    fn contestants_are_candidates_and_back() {
        for text in ["rustcoll:bruck:radix=4", "rustcoll:postal:window=2", "rustcoll:pairwise"] {
            assert_eq!(contestant(&parsed(Collective::Alltoall, text)).to_string(), text);
        }
        for text in ["rustcoll", "tuned:3", "rustcoll:nothing"] {
            assert!(candidate(Collective::Alltoall, &text.parse().unwrap()).is_none());
        }
    }

    #[test]
    fn a_step_changes_one_parameter() {
        let alltoall = Collective::Alltoall;
        let bruck = |radix| format!("rustcoll:bruck:radix={radix}");
        // The default is the square root, rounded up.
        assert_eq!(beside(alltoall, "rustcoll:bruck", 13, 8), [bruck(3), bruck(5)]);
        assert_eq!(beside(alltoall, "rustcoll:bruck:radix=12", 13, 8), [bruck(10), bruck(13)]);
        assert_eq!(beside(alltoall, "rustcoll:bruck:radix=2", 13, 8), [bruck(3)]);
        let window = |window| format!("rustcoll:postal:window={window}");
        assert_eq!(beside(alltoall, "rustcoll:postal", 13, 8), [window(6)]);
        assert_eq!(beside(alltoall, "rustcoll:postal:window=4", 13, 8), [window(2), window(8)]);
        assert!(beside(alltoall, "rustcoll:pairwise", 13, 8).is_empty());
    }

    #[test]
    fn segments_are_shorter_than_the_vector() {
        let chain = |text| beside(Collective::Bcast, text, 13, 64 << 10);
        assert_eq!(chain("rustcoll:chain"), ["rustcoll:chain:segment=32768"]);
        let around = ["rustcoll:chain:segment=8192", "rustcoll:chain:segment=32768"];
        assert_eq!(chain("rustcoll:chain:segment=16K"), around);
        assert!(beside(Collective::Bcast, "rustcoll:chain", 13, 8).is_empty());
    }

    #[test]
    fn radices_go_up_to_the_number_of_ranks() {
        assert_eq!(radices(2), [2]);
        assert_eq!(radices(9), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(radices(40), [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 40]);
    }
}
