//! The machine at which the search begins if the user names none.

use crate::measured::Row;
use rustcoll::cost::{Link, Machine, Processor};

/// The overhead as a part of the latency, and the work as a part of the time for a byte.
const OVERHEAD: f64 = 0.05;
const WORK: f64 = 0.02;

/// With the fewest ranks, the shortest time is the latency, and the shortest time per byte is the bandwidth.
pub fn machine(rows: &[Row]) -> Machine {
    let ranks_per_node = rows.iter().filter_map(|row| row.ranks_per_node).max().unwrap_or(1);
    let fewest = rows.iter().map(|row| row.ranks).min().unwrap_or(2);
    let simplest = rows.iter().filter(|row| row.ranks == fewest);
    let latency = simplest.clone().map(|row| row.seconds).fold(f64::INFINITY, f64::min);
    let byte_times = simplest.filter(|row| row.bytes > 0).map(|row| row.seconds / row.bytes as f64);
    let byte_time = byte_times.fold(f64::INFINITY, f64::min).min(1.0);
    let hockney = Machine::hockney(latency, byte_time, WORK * byte_time);
    let handled = |link: Link| Link { overhead: OVERHEAD * latency, ..link };
    Machine {
        ranks_per_node,
        between: handled(hockney.between),
        within: handled(hockney.within),
        processor: Processor { copy_time: (WORK * byte_time).into(), ..hockney.processor },
        ..hockney
    }
}
