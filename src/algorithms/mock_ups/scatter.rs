//! Scatter by other collectives: guidelines GL21 and GL22.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

/// The root packs its blocks into bytes, because the other ranks have no memory that the root's datatype describes.
pub const BCAST: Algorithm = mock_up(
    &[Collective::Scatter],
    "scatter_as_bcast",
    "Hunold, Carpen-Amarie 2018, GL21",
    "A mock-up: MPI_Bcast of all blocks, of which each rank needs its own. MPI_Scatter should not be \
            slower than that.",
    Parts::Given,
    |problem, rank| {
        let is_root = rank == problem.root;
        let [send, all] = [Send, All].map(|area| area.blocks(0..problem.size));
        let mut acts = Vec::new();
        acts.extend(is_root.then(|| Act::Copy { from: send, to: all.clone() }));
        acts.push(InnerCall::new(Collective::Bcast, None, all).rooted(problem.root).into());
        let keeps = is_root && problem.in_place;
        acts.extend((!keeps).then(|| Act::Copy { from: All.block(rank), to: Recv.block(rank) }));
        acts
    },
);

pub const SCATTERV: Algorithm = mock_up(
    &[Collective::Scatter],
    "scatter_as_scatterv",
    "Hunold, Carpen-Amarie 2018, GL22",
    "A mock-up: MPI_Scatterv of equal blocks. MPI_Scatter should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let is_root = rank == problem.root;
        let send = is_root.then(|| Send.blocks(0..problem.size));
        let recv = (!(is_root && problem.in_place)).then(|| Recv.block(rank));
        let call = InnerCall::new(Collective::Scatterv, send, recv).rooted(problem.root);
        vec![InnerCall { in_place: is_root && problem.in_place, ..call }.into()]
    },
);
