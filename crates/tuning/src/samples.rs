//! Made-up tunings for tests.

use crate::{Chosen, Decision, Provenance, Tried, Tuning};
use rustcoll::algorithms::Collective;

/// A contestant with times from three jobs, near `seconds`.
pub fn tried(contestant: &str, seconds: f64) -> Tried {
    let times = |noise: f64| (0..10).map(|number| seconds * (noise + f64::from(number) * 0.001)).collect();
    Tried {
        contestant: contestant.parse().unwrap(),
        ran: String::new(),
        launches: [0.97, 0.9955, 1.02].map(times).to_vec(),
    }
}

/// A cell with one rank on each host, in which only the default was measured.
pub fn decision(collective: Collective, ranks: usize, bytes: usize) -> Decision {
    Decision {
        collective,
        ranks,
        nodes: ranks,
        ranks_per_node: 1,
        bytes,
        default: tried("rustcoll", 1e-3),
        candidates: Vec::new(),
        skipped: Vec::new(),
        chosen: None,
        verified: None,
    }
}

impl Decision {
    /// Adds a candidate that takes this part of the default's time.
    pub fn with(mut self, contestant: &str, part: f64) -> Decision {
        self.candidates.push(tried(contestant, part * 1e-3));
        self
    }

    /// Chooses the last candidate.
    pub fn choosing_it(mut self) -> Decision {
        let candidate = self.candidates.len() - 1;
        let gain = 1.0 - self.candidates[candidate].median().unwrap() / self.default.median().unwrap();
        self.chosen = Some(Chosen { candidate, gain, probability: 0.0001 });
        self
    }
}

/// A tuning whose texts contain characters that must be escaped in output files.
pub fn tuning(cells: Vec<Decision>) -> Tuning {
    let provenance = Provenance {
        machine: "a host <of> \"many\" & more".into(),
        library: "Open MPI v4.1.4\n[[bcast]]".into(),
        version: "0.1.0".into(),
        date: "2026-11-22".into(),
        launcher: "mpirun -n {ranks}".into(),
        launches: 3,
        rules: Vec::new(),
    };
    Tuning { provenance, cells, seconds_saved: 12.0 }
}
