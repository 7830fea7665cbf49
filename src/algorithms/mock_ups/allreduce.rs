//! Allreduce by other collectives: guidelines GL5 to GL7.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

pub const REDUCE_BCAST: Algorithm = mock_up(
    &[Collective::Allreduce],
    "allreduce_as_reduce_bcast",
    "Hunold, Carpen-Amarie 2018, GL5",
    "A mock-up: MPI_Reduce to rank 0, then MPI_Bcast. MPI_Allreduce should not be slower than that.",
    Parts::Whole,
    |problem, rank| {
        let is_root = rank == 0;
        let input = if problem.in_place { Recv.block(0) } else { Send.block(0) };
        let reduce = InnerCall::new(Collective::Reduce, input, is_root.then(|| Recv.block(0)));
        vec![
            reduce.in_place_if(problem.in_place && is_root).into(),
            InnerCall::new(Collective::Bcast, None, Recv.block(0)).into(),
        ]
    },
);

pub const REDUCE_SCATTER_BLOCK_ALLGATHER: Algorithm = mock_up(
    &[Collective::Allreduce],
    "allreduce_as_reducescatterblock_allgather",
    "Hunold, Carpen-Amarie 2018, GL6",
    "A mock-up: MPI_Reduce_scatter_block, then MPI_Allgather. MPI_Allreduce should not be slower than that.",
    Parts::Padded,
    |problem, rank| {
        let blocks = 0..problem.size;
        let (all, recv) = (All.blocks(blocks.clone()), Recv.blocks(blocks.clone()));
        let input = if problem.in_place { recv.clone() } else { Send.blocks(blocks) };
        vec![
            Act::Copy { from: input, to: all.clone() },
            InnerCall::new(Collective::ReduceScatterBlock, all.clone(), Own.block(rank)).into(),
            InnerCall::new(Collective::Allgather, Own.block(rank), all.clone()).into(),
            Act::Copy { from: all, to: recv },
        ]
    },
);

/// In place, the rank's block of the result must not overlap the input, so it needs memory of its own.
pub const REDUCE_SCATTER_ALLGATHERV: Algorithm = mock_up(
    &[Collective::Allreduce],
    "allreduce_as_reducescatter_allgatherv",
    "Hunold, Carpen-Amarie 2018, GL7",
    "A mock-up: MPI_Reduce_scatter, then MPI_Allgatherv. MPI_Allreduce should not be slower than that.",
    Parts::Balanced,
    |problem, rank| {
        let recv = Recv.blocks(0..problem.size);
        match problem.in_place {
            true => vec![
                InnerCall::new(Collective::ReduceScatter, recv.clone(), Own.block(rank)).into(),
                InnerCall::new(Collective::Allgatherv, Own.block(rank), recv).into(),
            ],
            false => vec![
                InnerCall::new(Collective::ReduceScatter, Send.blocks(0..problem.size), Recv.block(rank))
                    .into(),
                InnerCall::new(Collective::Allgatherv, None, recv).in_place_if(true).into(),
            ],
        }
    },
);
