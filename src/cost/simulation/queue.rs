//! A queue of events in the order of time.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): as time does not go back, it sorts events only when
//! their time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event at some time.
pub trait Timed: Ord {
    /// Seconds, not negative. An earlier event must also be less in its order.
    fn time(&self) -> f64;
}

/// Events that have yet to happen.
pub struct Queue<Event> {
    /// The bits of the time up to which all events are in [`Queue::near`]. Bits are in the order of the
    /// times.
    reached: u64,
    near: BinaryHeap<Reverse<Event>>,
    /// Later events, by the highest bit in which their times differ from `reached`.
    far: [Vec<Event>; u64::BITS as usize],
}

impl<Event: Timed> Queue<Event> {
    pub fn new() -> Self {
        Queue { reached: 0, near: BinaryHeap::new(), far: [const { Vec::new() }; u64::BITS as usize] }
    }

    pub fn push(&mut self, event: Event) {
        let time = event.time().to_bits();
        if time <= self.reached {
            self.near.push(Reverse(event));
        } else {
            self.far[(time ^ self.reached).ilog2() as usize].push(event);
        }
    }

    /// Takes the least event.
    pub fn pop(&mut self) -> Option<Event> {
        if self.near.is_empty() {
            let bucket = self.far.iter().position(|bucket| !bucket.is_empty())?;
            let mut events = std::mem::take(&mut self.far[bucket]);
            let times = events.iter().map(|event| event.time().to_bits());
            self.reached = times.min().expect("the bucket is not empty");
            events.drain(..).for_each(|event| self.push(event));
            // Keeps the bucket's memory.
            self.far[bucket] = events;
        }
        self.near.pop().map(|Reverse(event)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Microseconds, and a number that tells events of one time apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Event(usize, usize);

    impl Timed for Event {
        fn time(&self) -> f64 {
            1e-6 * self.0 as f64
        }
    }

    #[test]
    fn events_come_in_order_while_others_are_added() {
        let mut random = Random(7);
        for span in [1, 3, 1000, 1 << 20] {
            let (mut queue, mut expected, mut now) = (Queue::new(), BinaryHeap::new(), 0);
            for number in 0..5000 {
                for _ in 0..random.below(3) {
                    let event = Event(now + random.below(span), number);
                    queue.push(event);
                    expected.push(Reverse(event));
                }
                let next = queue.pop();
                assert_eq!(next, expected.pop().map(|Reverse(event)| event));
                now = next.map_or(now, |event| event.0);
            }
            while let Some(Reverse(event)) = expected.pop() {
                assert_eq!(queue.pop(), Some(event));
            }
            assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn what_comes_too_late_is_next() {
        let mut queue = Queue::new();
        queue.push(Event(5, 0));
        queue.push(Event(9, 0));
        assert_eq!(queue.pop(), Some(Event(5, 0)));
        queue.push(Event(4, 0));
        assert_eq!([queue.pop(), queue.pop()], [Some(Event(4, 0)), Some(Event(9, 0))]);
    }
}
