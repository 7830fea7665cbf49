//! Scan by another collective: guideline GL20.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

pub const EXSCAN_REDUCE_LOCAL: Algorithm = mock_up(
    &[Collective::Scan],
    "scan_as_exscan_reducelocal",
    "Hunold, Carpen-Amarie 2018, GL20",
    "A mock-up: MPI_Exscan, to which each rank adds its own vector. MPI_Scan should not be slower than that.",
    Parts::Whole,
    |problem, rank| {
        let input = if problem.in_place { Recv } else { Send }.block(0);
        let mut acts = vec![InnerCall::new(Collective::Exscan, input.clone(), All.block(0)).into()];
        acts.extend((!problem.in_place).then(|| Act::Copy { from: input, to: Recv.block(0) }));
        acts.extend((rank > 0).then(|| Act::Reduce { from: All.block(0), to: Recv.block(0) }));
        acts
    },
);
