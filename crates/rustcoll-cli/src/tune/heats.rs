//! Cells as heats of a job.

use measurements::{Contestant, Heat, Operation, Series};
use tuning::CellKey;

/// A cell, and the contestants that race in it.
pub type Racing = (CellKey, Vec<Contestant>);

/// Returns heats: consecutive cells of a collective with the same contestants are one heat.
pub fn heats(cells: &[Racing]) -> Vec<Heat> {
    let is_alike = |(one, racers): &Racing, (other, others): &Racing| {
        one.collective == other.collective && racers == others
    };
    let heat = |cells: &[Racing]| {
        let (place, contestants) = &cells[0];
        let bytes = cells.iter().map(|(place, _)| place.bytes).collect();
        let series = Series { operation: Operation::blocking(place.collective), bytes };
        Heat { series, contestants: contestants.clone() }
    };
    cells.chunk_by(is_alike).map(heat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::Collective;

    #[test]
    fn neighbouring_cells_are_one_heat() {
        let cell = |collective, bytes, racers: &str| -> Racing {
            let contestants = racers.split(',').map(|one| one.parse().unwrap()).collect();
            (CellKey { collective, ranks: 4, bytes }, contestants)
        };
        let (bcast, scan) = (Collective::Bcast, Collective::Scan);
        let cells = [
            cell(bcast, 8, "rustcoll"),
            cell(bcast, 64, "rustcoll"),
            cell(bcast, 512, "rustcoll,tuned"),
            cell(scan, 512, "rustcoll,tuned"),
        ];
        let written: Vec<String> = heats(&cells).iter().map(Heat::to_string).collect();
        assert_eq!(written, ["bcast:8,64/rustcoll", "bcast:512/rustcoll,tuned", "scan:512/rustcoll,tuned"]);
    }
}
