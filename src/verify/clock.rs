//! Vector clocks: what has happened before what.
//!
//! Each rank counts its steps. For every rank, a clock has the number of its steps that are known to have
//! happened, by program order, by messages that have arrived and by flags that were awaited.

/// How many steps of each rank have happened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

/// One step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub rank: usize,
    pub step: usize,
}

impl Clock {
    /// Returns the clock before the first steps of so many ranks.
    pub fn new(ranks: usize) -> Self {
        Clock(vec![0; ranks])
    }

    /// Notes a step of the rank that has this clock.
    pub fn pass(&mut self, moment: Moment) {
        self.0[moment.rank] = moment.step as u32 + 1;
    }

    /// Adds what has happened before `other`.
    pub fn join(&mut self, other: &Clock) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own = (*own).max(*other));
    }

    /// Whether a step has happened before.
    pub fn has_passed(&self, moment: Moment) -> bool {
        self.0[moment.rank] as usize > moment.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_has_happened_before_with_all_that_was_before_it() {
        let [first, second] = [Moment { rank: 0, step: 0 }, Moment { rank: 0, step: 1 }];
        let mut sender = Clock::new(2);
        sender.pass(first);
        let message = sender.clone();
        sender.pass(second);
        let mut receiver = Clock::new(2);
        assert!(!receiver.has_passed(first));
        receiver.pass(Moment { rank: 1, step: 0 });
        receiver.join(&message);
        assert!(receiver.has_passed(first) && receiver.has_passed(Moment { rank: 1, step: 0 }));
        assert!(!receiver.has_passed(second));
        assert!(!sender.has_passed(Moment { rank: 1, step: 0 }));
    }
}
