//! How fast a collective can be, with the best algorithm that is known, on a machine where a message of n bytes
//! takes alpha + n beta (Hockney's model).

use super::cells::Cells;
use super::plan::Experiment;
use measurements::{Operation, Series};
use rustcoll::algorithms::Collective;

/// Alpha and beta come from this many ranks.
pub const PAIR: usize = 2;

/// The formulas of [`Hockney::bound`], for the report.
pub const FORMULAS: &str = "\
- bcast: the least of q (alpha + n beta), by a tree; 2 q alpha + 2 n beta (p − 1) / p, by scatter and allgather; and
  (sqrt((q − 1) alpha) + sqrt(n beta))², by pipelining with the best number of segments.
- allreduce: the least of q (alpha + n beta), by doubling, and 2 q alpha + 2 n beta (p − 1) / p, by reduce-scatter and
  allgather.
";

/// The cost of a message, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hockney {
    /// For each message, however short.
    pub alpha: f64,
    /// For each byte.
    pub beta: f64,
}

impl Hockney {
    /// Returns alpha and beta from the broadcasts of two ranks, one message each, with the fewest and the most bytes.
    pub fn found_in(cells: &Cells, contestant: &str) -> Option<Hockney> {
        let time = |bytes| {
            let cell = cells.find(Collective::Bcast.name(), PAIR, bytes)?;
            Some((bytes as f64, cell.summary(contestant)?.median))
        };
        let sizes = || {
            let own = cells.0.iter().filter(|cell| cell.ranks == PAIR);
            own.filter(|cell| cell.collective == Collective::Bcast.name()).map(|cell| cell.bytes)
        };
        let ((few, short), (many, long)) = (time(sizes().min()?)?, time(sizes().max()?)?);
        let beta = (long - short) / (many - few);
        let hockney = Hockney { alpha: short - few * beta, beta };
        (beta > 0.0 && hockney.alpha > 0.0).then_some(hockney)
    }

    /// Returns the least time of a collective in seconds; `None` if its bound is not known here.
    pub fn bound(self, collective: Collective, ranks: usize, bytes: usize) -> Option<f64> {
        let rounds = f64::from(usize::BITS - (ranks - 1).leading_zeros());
        let (alpha, data) = (self.alpha, bytes as f64 * self.beta);
        let whole = rounds * (alpha + data);
        let halves = 2.0 * rounds * alpha + 2.0 * data * (ranks - 1) as f64 / ranks as f64;
        let pipelined = (((rounds - 1.0) * alpha).sqrt() + data.sqrt()).powi(2);
        // The best number of segments is sqrt((rounds - 1) data / alpha), and one is the fewest.
        let fits = (rounds - 1.0) * data >= alpha;
        match collective {
            Collective::Bcast if fits => Some(whole.min(halves).min(pipelined)),
            Collective::Bcast | Collective::Allreduce => Some(whole.min(halves)),
            _ => None,
        }
    }
}

/// Fails unless an experiment has the broadcasts that give alpha and beta, and only collectives with a bound.
pub fn check(experiment: &Experiment, series: &[&Series]) -> Result<(), String> {
    let broadcast = Operation::blocking(Collective::Bcast);
    let broadcasts = series.iter().find(|series| series.operation == broadcast);
    if !experiment.ranks.contains(&PAIR) || broadcasts.is_none_or(|series| series.bytes.len() < 2) {
        return Err(
            "alpha and beta come from its broadcasts between 2 ranks, of two numbers of bytes at least"
                .into(),
        );
    }
    let model = Hockney { alpha: 1.0, beta: 1.0 };
    let has_bound = |Series { operation, .. }: &Series| {
        operation.is_plain() && model.bound(operation.collective, PAIR, 1).is_some()
    };
    match series.iter().find(|series| !has_bound(series)) {
        Some(series) => Err(format!("there is no bound of {}, only of bcast and allreduce", series.name())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measurements::Measurement;

    const MODEL: Hockney = Hockney { alpha: 1e-3, beta: 1e-7 };

    #[test]
    fn alpha_and_beta_come_from_the_broadcasts_of_two_ranks() {
        let mut cells = Cells::default();
        for (ranks, bytes, nanoseconds) in
            [(2, 10, 1_001_000), (2, 500, 9), (2, 10_010, 2_001_000), (4, 8, 1)]
        {
            let (collective, contestant) = ("bcast".into(), "a".into());
            let (ran, nanoseconds) = (String::new(), vec![nanoseconds]);
            let (launch, late, computing) = (0, 0, 0);
            cells.add(Measurement {
                collective,
                ranks,
                bytes,
                contestant,
                launch,
                ran,
                late,
                computing,
                nanoseconds,
            });
        }
        let Hockney { alpha, beta } = Hockney::found_in(&cells, "a").unwrap();
        assert!((alpha / MODEL.alpha - 1.0).abs() < 1e-9 && (beta / MODEL.beta - 1.0).abs() < 1e-9);
        assert_eq!(Hockney::found_in(&cells, "b"), None);
        assert_eq!(Hockney::found_in(&Cells::default(), "a"), None);
    }

    #[test]
    fn the_best_algorithm_depends_on_the_bytes() {
        let bound = |collective, ranks, bytes| MODEL.bound(collective, ranks, bytes).unwrap();
        let is = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
        // 4 rounds of 1 ms and the vector's 0.8 µs.
        is(bound(Collective::Bcast, 13, 8), 4.0 * 1.0008e-3);
        is(bound(Collective::Allreduce, 16, 8), 4.0 * 1.0008e-3);
        is(bound(Collective::Bcast, 13, 1_000_000), (3e-3_f64.sqrt() + 0.1_f64.sqrt()).powi(2));
        is(bound(Collective::Allreduce, 16, 1_000_000), 8e-3 + 2.0 * 0.1 * 15.0 / 16.0);
        // Between two ranks a broadcast is a message.
        is(bound(Collective::Bcast, 2, 1_000_000), 0.101);
        assert_eq!(MODEL.bound(Collective::Alltoall, 4, 8), None);
    }
}
