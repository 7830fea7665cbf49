//! Gather by other collectives: guidelines GL11 to GL13.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up, own_block};
use crate::algorithms::InnerCall;
use Area::*;

/// A root in place copies its block first, because this block must not overlap the gathered ones.
pub const ALLGATHER: Algorithm = mock_up(
    &[Collective::Gather],
    "gather_as_allgather",
    "Hunold, Carpen-Amarie 2018, GL11",
    "A mock-up: MPI_Allgather, of which only the root needs the result. MPI_Gather should not be slower \
            than that.",
    Parts::Given,
    |problem, rank| {
        let is_root = rank == problem.root;
        let recv = if is_root { Recv } else { All }.blocks(0..problem.size);
        match is_root && problem.in_place {
            true => vec![
                Act::Copy { from: Recv.block(rank), to: Own.block(rank) },
                InnerCall::new(Collective::Allgather, Own.block(rank), recv).into(),
            ],
            false => vec![InnerCall::new(Collective::Allgather, Send.block(rank), recv).into()],
        }
    },
);

pub const GATHERV: Algorithm = mock_up(
    &[Collective::Gather],
    "gather_as_gatherv",
    "Hunold, Carpen-Amarie 2018, GL12",
    "A mock-up: MPI_Gatherv of equal blocks. MPI_Gather should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let is_root = rank == problem.root;
        let recv = is_root.then(|| Recv.blocks(0..problem.size));
        let call = InnerCall::new(Collective::Gatherv, Send.block(rank), recv).rooted(problem.root);
        vec![call.in_place_if(is_root && problem.in_place).into()]
    },
);

pub const REDUCE: Algorithm = mock_up(
    &[Collective::Gather],
    "gather_as_reduce",
    "Hunold, Carpen-Amarie 2018, GL13",
    "A mock-up: MPI_Reduce of vectors that are zero but for the own block. MPI_Gather should not be \
            slower than that.",
    Parts::Given,
    |problem, rank| {
        let is_root = rank == problem.root;
        let all = All.blocks(0..problem.size);
        let (send, recv) = if is_root { (None, Some(all.clone())) } else { (Some(all.clone()), None) };
        let reduce = InnerCall::new(Collective::Reduce, send, recv).rooted(problem.root).uniting();
        let mut acts = vec![
            Act::Clear(all.clone()),
            Act::Copy { from: own_block(problem, rank, is_root && problem.in_place), to: All.block(rank) },
            reduce.in_place_if(is_root).into(),
        ];
        acts.extend(is_root.then(|| Act::Copy { from: all, to: Recv.blocks(0..problem.size) }));
        acts
    },
);
