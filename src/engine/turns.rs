//! Whose turn it is in memory that ranks share: the stripes of calls use a few banks of slots and flags in turn.
//!
//! Consecutive stripes use consecutive banks, in a circle. Each rank counts the stripes for itself, because all ranks
//! go through the same ones. Three rules make this safe if flags and the numbers of ended stripes are *written with
//! release and read with acquire* order:
//!
//! 1. A rank reads a slot of a peer only after it has seen the slot's flag raised in this stripe.
//! 2. When a rank publishes that it has ended a stripe, it has read all that it needs of the stripe.
//! 3. A rank writes its slots of a bank only after all peers have ended the stripe that used the bank before.
//!
//! Flags only grow, so they need no reset: a late rank that sees the flag of a later stripe may go on as well.

use crate::schedule::MOST_TIMES;

const TIMES_BITS: u32 = MOST_TIMES.trailing_ones();

/// So many times as often as it has places, a bank is used with one place alone. The others pay off later: writing to memory
/// for the first time takes as long as is won by some such uses.
const USES_OF_ONE_PLACE: usize = 8;

/// A rank's position in the order of stripes, for one class of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// How many stripes this rank has ended.
    ended: u64,
    /// How many stripes all peers had ended when this rank last looked.
    known_ended: u64,
    banks: u64,
}

impl Turns {
    /// Starts before the first stripe. The number of banks is a power of two.
    pub const fn new(banks: usize) -> Self {
        assert!(banks.is_power_of_two());
        Turns { ended: 0, known_ended: 0, banks: banks as u64 }
    }

    /// Returns the bank of this stripe.
    #[inline]
    pub fn bank(&self) -> usize {
        (self.ended & (self.banks - 1)) as usize
    }

    /// Returns how many places of a bank are in use, at most `most`: slots that fit into a bank several times lie at another
    /// place each time that the bank is used. First there is one place, later each lap adds one; see
    /// [`USES_OF_ONE_PLACE`].
    #[inline]
    pub fn places(&self, most: usize) -> usize {
        most.min(1 + self.lap().saturating_sub(USES_OF_ONE_PLACE * most))
    }

    /// Returns the place of this stripe's slots in their bank; see [`Turns::places`].
    #[inline]
    pub fn place(&self, most: usize) -> usize {
        self.lap() % self.places(most)
    }

    /// How many times this bank was used before.
    fn lap(&self) -> usize {
        (self.ended >> self.banks.trailing_zeros()) as usize
    }

    /// Returns the value of a flag that was raised `times` times in this stripe.
    #[inline]
    pub fn flag_value(&self, times: u32) -> u64 {
        debug_assert!(times <= MOST_TIMES);
        (self.ended + 1) << TIMES_BITS | u64::from(times)
    }

    /// Returns the value of one of the rank's own flags after it is raised once more in this stripe.
    #[inline]
    pub fn raised(&self, flag: u64) -> u64 {
        flag.max(self.flag_value(0)) + 1
    }

    /// Whether the rank may write its slots in this stripe. `ended_by_peers` returns the least number of
    /// stripes that a peer has ended; it is called only if the last known number is too small.
    #[inline]
    pub fn may_write(&mut self, ended_by_peers: impl FnOnce() -> u64) -> bool {
        // Stripe n + 1 uses the bank that stripe n + 1 - banks has used.
        let needed = (self.ended + 1).saturating_sub(self.banks);
        if self.known_ended < needed {
            self.known_ended = ended_by_peers();
        }
        self.known_ended >= needed
    }

    /// Ends this stripe. Returns how many stripes the rank has ended, which the rank must publish.
    #[inline]
    pub fn end(&mut self) -> u64 {
        self.ended += 1;
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(stripes: usize, banks: usize) -> Turns {
        let mut turns = Turns::new(banks);
        (0..stripes).for_each(|_| {
            turns.end();
        });
        turns
    }

    #[test]
    fn stripes_go_through_the_banks_in_a_circle() {
        let banks: Vec<usize> = (0..6).map(|stripes| after(stripes, 4).bank()).collect();
        assert_eq!(banks, [0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn flags_grow_from_one_time_and_one_stripe_to_the_next() {
        let (first, second) = (after(0, 2), after(1, 2));
        let values = [first.flag_value(1), first.flag_value(MOST_TIMES), second.flag_value(1)];
        assert!(values.is_sorted() && values[0] > 0);
        assert!(second.flag_value(0) > first.flag_value(MOST_TIMES));
    }

    #[test]
    fn a_flag_counts_anew_in_each_stripe() {
        let (first, third) = (after(0, 2), after(2, 2));
        let once = first.raised(0);
        assert_eq!(once, first.flag_value(1));
        assert_eq!(first.raised(once), first.flag_value(2));
        assert_eq!(third.raised(once), third.flag_value(1));
    }

    #[test]
    fn the_first_stripes_need_nobody() {
        for stripes in 0..4 {
            assert!(after(stripes, 4).may_write(|| unreachable!("nobody has used the bank")));
        }
    }

    #[test]
    fn a_bank_is_written_again_when_all_have_ended_its_last_stripe() {
        let mut turns = after(5, 4);
        assert!(!turns.may_write(|| 1), "the bank was that of the second stripe");
        assert!(turns.may_write(|| 2));
        assert!(turns.may_write(|| unreachable!("it is known")));
        turns.end();
        assert!(!turns.may_write(|| 2));
    }

    #[test]
    fn places_of_a_bank_come_one_by_one_and_take_turns() {
        let laps = 8 * USES_OF_ONE_PLACE;
        let places =
            |most: usize| -> Vec<usize> { (0..laps).map(|lap| after(2 * lap, 2).place(most)).collect() };
        assert_eq!(places(1), vec![0; laps]);
        let of_three = places(3);
        let (first, later) = of_three.split_at(3 * USES_OF_ONE_PLACE);
        assert!(first.iter().all(|&place| place == 0));
        assert_eq!(later[..7], [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(after(9, 2).place(3), after(8, 2).place(3));
    }

    #[test]
    fn ended_stripes_are_counted() {
        assert_eq!(after(6, 4).end(), 7);
    }
}
