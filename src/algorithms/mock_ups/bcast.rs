//! Broadcast by other collectives: guidelines GL9 and GL10.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

pub const ALLGATHERV: Algorithm = mock_up(
    &[Collective::Bcast],
    "bcast_as_allgatherv",
    "Hunold, Carpen-Amarie 2018, GL9",
    "A mock-up: MPI_Allgatherv in which only the root has a block. MPI_Bcast should not be slower than that.",
    Parts::Root,
    |problem, _| {
        let call = InnerCall::new(Collective::Allgatherv, None, Recv.blocks(0..problem.size));
        vec![call.in_place_if(true).into()]
    },
);

pub const SCATTER_ALLGATHER: Algorithm = mock_up(
    &[Collective::Bcast],
    "bcast_as_scatter_allgather",
    "Hunold, Carpen-Amarie 2018, GL10",
    "A mock-up: MPI_Scatter of the root's vector, then MPI_Allgather. MPI_Bcast should not be slower than \
            that.",
    Parts::Padded,
    |problem, rank| {
        let is_root = rank == problem.root;
        let [all, recv] = [All, Recv].map(|area| area.blocks(0..problem.size));
        let mut acts = Vec::new();
        acts.extend(is_root.then(|| Act::Copy { from: recv.clone(), to: all.clone() }));
        let scatter = InnerCall::new(Collective::Scatter, is_root.then(|| all.clone()), Own.block(rank));
        acts.push(scatter.rooted(problem.root).into());
        acts.push(InnerCall::new(Collective::Allgather, Own.block(rank), all.clone()).into());
        acts.extend((!is_root).then_some(Act::Copy { from: all, to: recv }));
        acts
    },
);
