//! Alltoall by another collective: guideline GL8.

use super::{Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;

pub const ALLTOALLV: Algorithm = mock_up(
    &[Collective::Alltoall],
    "alltoall_as_alltoallv",
    "Hunold, Carpen-Amarie 2018, GL8",
    "A mock-up: MPI_Alltoallv of equal blocks. MPI_Alltoall should not be slower than that.",
    Parts::Given,
    |problem, _| {
        let [send, recv] = [Area::Send, Area::Recv].map(|area| area.blocks(0..problem.size));
        vec![InnerCall::new(Collective::Alltoallv, send, recv).in_place_if(problem.in_place).into()]
    },
);
