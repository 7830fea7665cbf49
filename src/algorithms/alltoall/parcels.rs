//! Bruck's algorithm with any radix among some of the ranks, which exchange parcels: blocks that lie anywhere and travel together.
//!
//! Parcels travel downwards by the digits of their distance, as in `bruck_modified`, and arrive where the algorithm wants them. On the way each
//! rests in scratch blocks of its own, so that no block is written twice and parcels may be of any length.

use crate::algorithms::digits::{digits, with_digit};
use crate::schedule::{Buffer::Scratch, Builder, Message, Run, Strided};
use std::mem::take;

/// A rank that takes part. Its parcel for another one has `gives` blocks for each that the other one `takes`.
#[derive(Clone, Copy, Debug)]
pub struct Participant {
    pub rank: usize,
    pub gives: usize,
    pub takes: usize,
}

/// What one participant has to do with the others.
#[derive(Debug)]
pub struct Parcels {
    /// The number of the participant whose program this is.
    pub own: usize,
    /// All of them, in the order in which distances count.
    pub participants: Vec<Participant>,
    /// By distance, where the parcel for the participant so far below lies; later any parcel of that distance that passes through.
    pub held: Vec<Vec<Strided>>,
    /// By distance, where the parcel of the participant so far above belongs.
    pub arriving: Vec<Vec<Strided>>,
}

/// Exchanges parcels of equally many participants, all in the same rounds. `free`: the first scratch block that is not in use.
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
    /// Sends on all parcels whose distance has that digit, and receives as many.
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

    /// A place for the parcel that a participant sends so far down.
    fn rest(&self, source: usize, distance: usize, free: &mut usize) -> Run {
        let size = self.participants.len();
        let target = (source + size - distance) % size;
        let first = *free;
        *free += self.participants[source].gives * self.participants[target].takes;
        Scratch.blocks(first..*free)
    }
}
