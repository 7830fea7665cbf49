//! Bruck's algorithms: a block travels its distance digit by digit.

use super::super::Explained;
use super::super::numbers::{count, in_base, listed};
use super::super::pattern::{distance, sample_rank, with_others};
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Cut;
use rustcoll::algorithms::digits::{digits, with_digit, with_one_nonzero_digit};
use rustcoll::schedule::{Buffer, Step};
use rustcoll::trace::{Travel, Value};

pub const FAMILY: Family = Family { phase, work, facts, ..Family::NONE };

/// The only digit of a message's distance that is not zero.
pub struct Digit {
    pub position: u32,
    pub value: usize,
    pub distance: usize,
}

impl Digit {
    /// Returns none if the distance has several digits that are not zero.
    fn of(scene: &Scene, travel: &Travel) -> Option<Digit> {
        let up = distance(scene.size(), travel);
        Digit::of_distance(if is_upwards(scene) { up } else { scene.size() - up }, scene.problem().radix)
    }

    /// Returns none if the distance has several digits that are not zero.
    pub fn of_distance(distance: usize, radix: usize) -> Option<Digit> {
        let position = distance.checked_ilog(radix)?;
        let weight = radix.pow(position);
        let value = distance / weight;
        (value * weight == distance).then_some(Digit { position, value, distance })
    }

    pub fn title(&self, radix: usize) -> String {
        match radix {
            2 => format!("Communication step k = {}", self.position),
            _ => format!("Communication step k = {}, z = {}", self.position, self.value),
        }
    }

    pub fn formula(&self, radix: usize) -> String {
        format!("z · r^k = {} · {radix}^{} = {}", self.value, self.position, self.distance)
    }
}

/// Whether blocks travel to higher ranks.
fn is_upwards(scene: &Scene) -> bool {
    let is_named = |name| scene.subjects.algorithm.is_some_and(|algorithm| algorithm.name == name);
    is_exchange(scene) && (is_named("bruck") || is_named("bruck_padded"))
}

/// Whether each block is for one rank. Otherwise each block is for all ranks.
fn is_exchange(scene: &Scene) -> bool {
    scene.collective().cut() == Cut::Pairs
}

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let digit = Digit::of(scene, travel)?;
    if is_exchange(scene) { exchange(scene, travel, &digit) } else { collection(scene, travel, &digit) }
}

fn exchange(scene: &Scene, travel: &Travel, digit: &Digit) -> Option<Phase> {
    let radix = scene.problem().radix;
    let &Digit { position, value, distance } = digit;
    let blocks: Vec<usize> = with_digit(scene.size(), radix, position, value).collect();
    if blocks.len() != travel.from.blocks() {
        return None;
    }
    let (way, ranks) = (if is_upwards(scene) { "up" } else { "down" }, count(distance, "rank"));
    let meaning = format!(
        "The distance that a block has to go is written in base r = {radix}. Those whose digit k = {position} is z = {value} now go {ranks} {way}."
    );
    let numbers = blocks.iter().map(|&block| format!("{block} = {}", in_base(block, radix))).collect();
    let whose = if blocks.len() == 1 { "that of the distance" } else { "those of the distances" };
    let counted = count(blocks.len(), "block");
    Some(Phase {
        title: Some(digit.title(radix)),
        sentences: vec![Sentence::with(meaning, digit.formula(radix))],
        blocks: Some(Sentence::with(
            format!("Each message has {counted}: {whose} {}.", listed(&blocks)),
            with_others(numbers),
        )),
    })
}

fn collection(scene: &Scene, travel: &Travel, digit: &Digit) -> Option<Phase> {
    let radix = scene.problem().radix;
    let &Digit { position, distance, .. } = digit;
    let collected = radix.pow(position);
    if travel.from.blocks() != collected.min(scene.size() - distance) {
        return None;
    }
    let meaning = match collected {
        1 => format!("Every rank i gets the block of rank (i + {distance}) mod {}.", scene.size()),
        _ => format!(
            "Every rank i has the blocks of ranks i to i + {}, and gets those from i + {distance} on, all modulo {}.",
            distance - 1,
            scene.size()
        ),
    };
    Some(Phase::new(digit.title(radix), Sentence::with(meaning, digit.formula(radix))))
}

fn work(scene: &Scene) -> Option<Explained> {
    if !is_upwards(scene) || !scene.acts().iter().all(|(_, step)| matches!(step, Step::Copy { .. })) {
        return None;
    }
    if scene.step == 0 { first_rotation(scene) } else { last_rotation(scene) }
}

/// At first, scratch block j of rank i holds what is for rank i + j. In place, these blocks precede the saved input.
fn first_rotation(scene: &Scene) -> Option<Explained> {
    let size = scene.size();
    let is_rotated = |rank: usize, block: usize, value: Value| {
        block >= size || value == Value::Input { rank, block: (rank + block) % size }
    };
    all_written(scene, Buffer::Scratch, is_rotated).then_some(())?;
    let (sample, input) = (sample_rank(size), if scene.problem().in_place { "recv" } else { "send" });
    Some(Explained {
        title: "Rotation".into(),
        sentences: vec![Sentence::with(
            "Every rank i copies its blocks to scratch, rotated by i: there block j is the one that has to go the distance j.",
            format!(
                "scratch[j] = {input}[(i + j) mod {size}]; rank {sample}, j = 1: {input}[{}]",
                (sample + 1) % size
            ),
        )],
    })
}

/// The block that has gone the distance d comes from rank i − d.
fn last_rotation(scene: &Scene) -> Option<Explained> {
    let size = scene.size();
    let has_arrived =
        |rank: usize, block: usize, value: Value| value == Value::Input { rank: block, block: rank };
    all_written(scene, Buffer::Recv, has_arrived).then_some(())?;
    let sample = sample_rank(size);
    Some(Explained {
        title: "Last rotation".into(),
        sentences: vec![Sentence::with(
            "At every rank i the block that has gone the distance d comes from rank i − d, and is copied to that place of the receive buffer.",
            format!("recv[(i − d) mod {size}]; rank {sample}, d = 1: recv[{}]", (sample + size - 1) % size),
        )],
    })
}

/// Whether a step writes only to `buffer`, and each value is right for its rank and block.
fn all_written(scene: &Scene, buffer: Buffer, is_right: impl Fn(usize, usize, Value) -> bool) -> bool {
    let values = scene.trace.values.all();
    scene.moment().writes.iter().all(|write| {
        let place = write.place;
        let right = write.value.is_some_and(|value| is_right(place.rank, place.block, values[value.0]));
        place.buffer == buffer && right
    })
}

/// The counts of Fan et al. 2022, equations 2 and 3.
fn facts(scene: &Scene) -> Vec<String> {
    if !is_exchange(scene) {
        return Vec::new();
    }
    let (size, radix) = (scene.size(), scene.problem().radix);
    let width = digits(size, radix);
    if width == 0 {
        return Vec::new();
    }
    let (full, weight) = (radix.pow(width), radix.pow(width - 1));
    let messages = with_one_nonzero_digit(size, radix);
    let of_position =
        |position| (1..radix).map(|digit| with_digit(size, radix, position, digit).count()).sum();
    let blocks: Vec<usize> = (0..width).map(of_position).collect();
    let sent = count(blocks.iter().sum(), "block");
    let sum = match &blocks[..] {
        [_] => sent,
        _ => format!("{} = {sent}", blocks.iter().map(usize::to_string).collect::<Vec<_>>().join(" + ")),
    };
    vec![
        format!(
            "Distances below p = {size} have w = ⌈log_r p⌉ = {} in base r = {radix}.",
            count(width as usize, "digit")
        ),
        format!(
            "Every rank sends w(r − 1) − ⌊(r^w − p) / r^(w − 1)⌋ = {width} · {} − ⌊({full} − {size}) / {weight}⌋ = {}.",
            radix - 1,
            count(messages, "message")
        ),
        format!(
            "A block goes once for each digit of its distance that is not 0; digit by digit a rank sends {sum}."
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::{Allgather, Alltoall, Alltoallv};
    use rustcoll::algorithms::Problem;

    fn problem(size: usize, radix: usize) -> Problem {
        Problem { radix, ..Problem::new(size) }
    }

    #[test]
    fn steps_are_digits_between_rotations() {
        assert_eq!(
            titles(Alltoall, "bruck", &problem(8, 2)),
            [
                "Rotation",
                "Communication step k = 0",
                "Communication step k = 1",
                "Communication step k = 2",
                "Last rotation"
            ]
        );
        assert_eq!(
            titles(Alltoall, "bruck", &problem(5, 3))[1..4],
            [
                "Communication step k = 0, z = 1",
                "Communication step k = 0, z = 2",
                "Communication step k = 1, z = 1"
            ]
        );
    }

    #[test]
    fn a_step_of_bruck() {
        assert_eq!(
            step(Alltoall, "bruck", &problem(8, 3), 3),
            [
                "Communication step k = 1, z = 1",
                "The distance that a block has to go is written in base r = 3. Those whose digit k = 1 is z = 1 now go 3 ranks up. | z · r^k = 1 · 3^1 = 3",
                "Every rank i sends to rank (i + 3) mod 8. | (i + 3) mod 8; rank 3: (3 + 3) mod 8 = 6",
                "Each message has 3 blocks: those of the distances 3–5. | 3 = 10₃, 4 = 11₃, 5 = 12₃",
            ]
        );
    }

    #[test]
    fn rotations() {
        assert_eq!(
            step(Alltoall, "bruck", &problem(5, 2), 0),
            [
                "Rotation",
                "Every rank i copies its blocks to scratch, rotated by i: there block j is the one that has to go the distance j. | scratch[j] = send[(i + j) mod 5]; rank 3, j = 1: send[4]",
            ]
        );
        assert_eq!(
            step(Alltoall, "bruck", &problem(5, 2), 4),
            [
                "Last rotation",
                "At every rank i the block that has gone the distance d comes from rank i − d, and is copied to that place of the receive buffer. | recv[(i − d) mod 5]; rank 3, d = 1: recv[2]",
            ]
        );
    }

    #[test]
    fn the_modified_one_goes_down_and_copies_its_own_block() {
        assert_eq!(
            step(Alltoall, "bruck_modified", &problem(8, 2), 2),
            [
                "Communication step k = 1",
                "The distance that a block has to go is written in base r = 2. Those whose digit k = 1 is z = 1 now go 2 ranks down. | z · r^k = 1 · 2^1 = 2",
                "Every rank i sends to rank (i − 2) mod 8. | (i − 2) mod 8; rank 3: (3 − 2) mod 8 = 1",
                "Each message has 4 blocks: those of the distances 2, 3, 6, 7. | 2 = 10₂, 3 = 11₂, 6 = 110₂, 7 = 111₂",
            ]
        );
        assert_eq!(
            step(Alltoall, "bruck_modified", &problem(8, 2), 0),
            ["Copies", "Every rank copies 1 block from its send buffer to its receive buffer."]
        );
        assert_eq!(titles(Alltoallv, "bruck_two_phase", &problem(4, 2))[1], "Communication step k = 1");
    }

    #[test]
    fn an_allgather_collects() {
        assert_eq!(
            step(Allgather, "bruck", &problem(6, 2), 2)[..2],
            [
                "Communication step k = 1",
                "Every rank i has the blocks of ranks i to i + 1, and gets those from i + 2 on, all modulo 6. | z · r^k = 1 · 2^1 = 2",
            ]
        );
    }

    #[test]
    fn counts_are_those_of_the_schedules() {
        assert_eq!(
            of_run(Alltoall, "bruck", &problem(2, 2)),
            [
                "Distances below p = 2 have w = ⌈log_r p⌉ = 1 digit in base r = 2.",
                "Every rank sends w(r − 1) − ⌊(r^w − p) / r^(w − 1)⌋ = 1 · 1 − ⌊(2 − 2) / 1⌋ = 1 message.",
                "A block goes once for each digit of its distance that is not 0; digit by digit a rank sends 1 block.",
            ]
        );
        assert_eq!(
            of_run(Alltoall, "bruck", &problem(5, 3)),
            [
                "Distances below p = 5 have w = ⌈log_r p⌉ = 2 digits in base r = 3.",
                "Every rank sends w(r − 1) − ⌊(r^w − p) / r^(w − 1)⌋ = 2 · 2 − ⌊(9 − 5) / 3⌋ = 3 messages.",
                "A block goes once for each digit of its distance that is not 0; digit by digit a rank sends 3 + 2 = 5 blocks.",
            ]
        );
    }
}
