//! The common clock of all ranks.

use std::cell::Cell;
use std::time::Duration;

use mpi_programs::clock::now as own_time;
use mpi_programs::communicator::Communicator;
use mpi_programs::environment::Error;

/// Seconds before an instant at which a rank stops sleeping, because it may wake late.
pub const AWAKE: f64 = 60e-6;

/// How often one rank asks another for the time.
const EXCHANGES: usize = 30;

/// The monotonic clock, and its offset from the clock of rank 0.
#[derive(Debug)]
pub struct Clock {
    /// Whether [`Clock::synchronise`] measures the offset. Otherwise all ranks share one clock.
    is_synchronised: bool,
    /// Seconds to add to the rank's own time.
    offset: Cell<f64>,
}

/// A question for the time: when it was asked and answered by the own clock, and the time that the other clock told.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    asked: f64,
    told: f64,
    answered: f64,
}

impl Exchange {
    fn round_trip(&self) -> f64 {
        self.answered - self.asked
    }
}

/// Returns how far the other clock is ahead of the own one, from the exchange with the shortest round trip.
/// How the round trip divides into its two ways is unknown, so the error is at most half of the round trip.
fn offset(exchanges: &[Exchange]) -> f64 {
    let shortest = exchanges.iter().min_by(|one, other| one.round_trip().total_cmp(&other.round_trip()));
    shortest.map_or(0.0, |exchange| exchange.told - (exchange.asked + exchange.answered) / 2.0)
}

impl Clock {
    /// Makes a clock. If it `is_synchronised`, ranks must call [`Clock::synchronise`]; otherwise they share one clock.
    pub fn new(is_synchronised: bool) -> Self {
        Clock { is_synchronised, offset: Cell::new(0.0) }
    }

    /// Returns seconds since an instant that is the same for all ranks.
    pub fn now(&self) -> f64 {
        own_time() + self.offset.get()
    }

    /// Returns at an instant, or at once if the instant has passed.
    pub fn sleep_until(&self, instant: f64) {
        let time = instant - AWAKE - self.now();
        if time > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(time));
        }
        while self.now() < instant {
            std::hint::spin_loop();
        }
    }

    /// Measures the offset from rank 0's clock, if the clock is to be synchronised. In each of ceil(log2(ranks))
    /// rounds, ranks that know the time tell others. Clocks drift by some microseconds a second, so the program
    /// repeats this often.
    pub fn synchronise(&self, control: &Communicator) -> Result<(), Error> {
        if !self.is_synchronised {
            return Ok(());
        }
        let (rank, mut distance) = (control.rank(), control.size().next_power_of_two());
        while distance > 1 {
            distance /= 2;
            if rank.is_multiple_of(2 * distance) && rank + distance < control.size() {
                self.tell(control, rank + distance)?;
            } else if rank % (2 * distance) == distance {
                self.offset.set(ask(control, rank - distance)?);
            }
        }
        Ok(())
    }

    fn tell(&self, control: &Communicator, rank: usize) -> Result<(), Error> {
        for _ in 0..EXCHANGES {
            control.receive(rank)?;
            control.send(&self.now().to_ne_bytes(), rank)?;
        }
        Ok(())
    }
}

fn ask(control: &Communicator, rank: usize) -> Result<f64, Error> {
    let mut exchanges = Vec::with_capacity(EXCHANGES);
    for _ in 0..EXCHANGES {
        let asked = own_time();
        control.send(&[], rank)?;
        let answer = control.receive(rank)?;
        let answered = own_time();
        let told = f64::from_ne_bytes(answer.try_into().expect("a time is sent as 8 bytes"));
        exchanges.push(Exchange { asked, told, answered });
    }
    Ok(offset(&exchanges))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an exchange with a clock that is 100 seconds ahead of the own one.
    fn exchange(asked: f64, there: f64, back: f64) -> Exchange {
        Exchange { asked, told: asked + there + 100.0, answered: asked + there + back }
    }

    #[test]
    fn the_offset_is_that_of_the_exchange_with_the_least_delay() {
        let exchanges = [exchange(1.0, 0.9, 0.1), exchange(2.0, 0.2, 0.2), exchange(3.0, 0.1, 0.8)];
        assert!((offset(&exchanges) - 100.0).abs() < 1e-12);
    }

    #[test]
    fn the_error_is_at_most_half_of_the_least_delay() {
        for (there, back) in [(0.0, 0.4), (0.1, 0.3), (0.4, 0.0)] {
            let error = offset(&[exchange(5.0, there, back), exchange(6.0, 3.0, 0.1)]) - 100.0;
            assert!((error - (there - back) / 2.0).abs() < 1e-12, "{there} {back}");
        }
    }
}
