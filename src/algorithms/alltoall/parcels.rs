//! Bruck's algorithm with any radix among some ranks. They exchange parcels: scattered blocks that travel together.
//!
//! As in `bruck_modified`, parcels travel down by the digits of their distance and arrive at their final places. On the
//! way each rests in its own scratch blocks, so no block is written twice and parcels may have any length.

use crate::algorithms::digits::{digits, with_digit};
use crate::schedule::{Buffer::Scratch, Builder, Message, Run, Strided};
use std::mem::take;

/// A rank that takes part. Its parcel for another participant has its own `gives` times the other's `takes` blocks.
#[derive(Clone, Copy, Debug)]
pub struct Participant {
    pub rank: usize,
    pub gives: usize,
    pub takes: usize,
}

/// The parcels that one participant exchanges with the others.
#[derive(Debug)]
pub struct Parcels {
    /// The number of the participant whose program this is.
    pub own: usize,
    /// All participants. A distance is a difference of their numbers in this order, modulo how many there are.
    pub participants: Vec<Participant>,
    /// By distance: first the parcel for the participant so far below, later a parcel in transit with this distance.
    pub held: Vec<Vec<Strided>>,
    /// By distance: the final place of the parcel from the participant so far above.
    pub arriving: Vec<Vec<Strided>>,
}

/// Adds exchanges among equally many participants, all in the same rounds. `free` is the first unused scratch block.
pub fn exchange(program: &mut Builder, mut exchanges: impl AsMut<[Parcels]>, radix: usize, free: &mut usize) {
    let exchanges = exchanges.as_mut();
    let size = exchanges.first().map_or(0, |parcels| parcels.participants.len());
    for position in 0..digits(size, radix) {
        for digit in (1..radix).take_while(|digit| digit * radix.pow(position) < size) {
            for parcels in &mut *exchanges {
                parcels.hop(program, Hop { radix, position, digit }, free);
            }
        }
        program.end_round();
    }
}

/// A digit of the distances that parcels travel.
#[derive(Clone, Copy)]
struct Hop {
    radix: usize,
    position: u32,
    digit: usize,
}

impl Parcels {
    /// Sends all parcels whose distance has this digit, and receives as many.
    fn hop(&mut self, program: &mut Builder, Hop { radix, position, digit }: Hop, free: &mut usize) {
        let (own, size) = (self.own, self.participants.len());
        let weight = radix.pow(position);
        let (below, above) = ((own + size - digit * weight) % size, (own + digit * weight) % size);
        let distances = || with_digit(size, radix, position, digit);
        let sent: Message = distances().flat_map(|distance| take(&mut self.held[distance])).collect();
        for distance in distances() {
            let travelled = distance % (weight * radix);
            self.held[distance] = match travelled == distance {
                true => take(&mut self.arriving[distance]),
                false => vec![self.rest((own + travelled) % size, distance, free).into()],
            };
        }
        let received: Message =
            distances().flat_map(|distance| self.held[distance].iter().copied()).collect();
        program.receive(self.participants[above].rank, received);
        program.send(self.participants[below].rank, sent);
    }

    /// Reserves scratch blocks for the parcel that participant `source` sends down by `distance`.
    fn rest(&self, source: usize, distance: usize, free: &mut usize) -> Run {
        let size = self.participants.len();
        let target = (source + size - distance) % size;
        let first = *free;
        *free += self.participants[source].gives * self.participants[target].takes;
        Scratch.blocks(first..*free)
    }
}
