//! What many times have in common.

/// The number below which a part of sorted numbers lies, between two of them if need be. There is one at least.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The middle of times, and how far the middle half of them spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// From the first to the third quartile.
    pub spread: f64,
}

impl Summary {
    /// Of numbers of which there is one at least.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Summary {
        let mut sorted: Vec<f64> = numbers.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let [first, median, third] = [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part));
        Summary { median, spread: third - first }
    }

    /// Of the times of several jobs, of which there is one at least: the median of their medians, and how far the middle half
    /// of all times spreads. Jobs differ from each other by more than the calls of a job.
    pub fn of_launches(launches: &[Vec<f64>]) -> Summary {
        let medians = launches.iter().map(|times| Summary::of(times.iter().copied()).median);
        Summary { median: Summary::of(medians).median, ..Summary::of(launches.concat()) }
    }
}

/// The geometric mean of ratios; `None` if there are none.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.into_iter().map(f64::ln).collect();
    let count = logarithms.len() as f64;
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_quartiles_may_lie_between_times() {
        assert_eq!(Summary::of([3.0]), Summary { median: 3.0, spread: 0.0 });
        assert_eq!(Summary::of([4.0, 1.0, 2.0, 3.0]), Summary { median: 2.5, spread: 1.5 });
        assert_eq!(Summary::of([5.0, 1.0, 2.0, 100.0, 3.0]), Summary { median: 3.0, spread: 3.0 });
    }

    #[test]
    fn one_job_among_several_does_not_decide() {
        let launches = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 4.0], vec![90.0; 9]];
        assert_eq!(Summary::of_launches(&launches).median, 3.0);
        assert_eq!(Summary::of_launches(&launches[..1]), Summary::of(launches[0].clone()));
    }

    #[test]
    fn twice_and_half_are_level() {
        assert_eq!(geometric_mean([2.0, 0.5]), Some(1.0));
        assert_eq!(geometric_mean([]), None);
    }
}
