//! Reduce by other collectives: guidelines GL14 to GL16.

use super::{Act, Algorithm, Area, AreaBlocks, Collective, Parts, Problem, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

/// Returns where a rank's input lies: at a root in place, where the result goes.
fn input(problem: &Problem, rank: usize, blocks: usize) -> AreaBlocks {
    let area = if problem.in_place && rank == problem.root { Recv } else { Send };
    area.blocks(0..blocks)
}

pub const ALLREDUCE: Algorithm = mock_up(
    &[Collective::Reduce],
    "reduce_as_allreduce",
    "Hunold, Carpen-Amarie 2018, GL14",
    "A mock-up: MPI_Allreduce, of which only the root needs the result. MPI_Reduce should not be slower \
            than that.",
    Parts::Whole,
    |problem, rank| {
        let input = input(problem, rank, 1);
        match rank == problem.root {
            false => vec![InnerCall::new(Collective::Allreduce, input, All.block(0)).into()],
            true if problem.in_place => vec![
                Act::Copy { from: input, to: All.block(0) },
                InnerCall::new(Collective::Allreduce, All.block(0), Recv.block(0)).into(),
            ],
            true => vec![InnerCall::new(Collective::Allreduce, input, Recv.block(0)).into()],
        }
    },
);

pub const REDUCE_SCATTER_BLOCK_GATHER: Algorithm = mock_up(
    &[Collective::Reduce],
    "reduce_as_reducescatterblock_gather",
    "Hunold, Carpen-Amarie 2018, GL15",
    "A mock-up: MPI_Reduce_scatter_block, then MPI_Gather at the root. MPI_Reduce should not be slower \
            than that.",
    Parts::Padded,
    |problem, rank| {
        let is_root = rank == problem.root;
        let all = All.blocks(0..problem.size);
        let gather = InnerCall::new(Collective::Gather, Own.block(rank), is_root.then(|| all.clone()));
        let mut acts = vec![
            Act::Copy { from: input(problem, rank, problem.size), to: all.clone() },
            InnerCall::new(Collective::ReduceScatterBlock, all.clone(), Own.block(rank)).into(),
            gather.rooted(problem.root).into(),
        ];
        acts.extend(is_root.then(|| Act::Copy { from: all, to: Recv.blocks(0..problem.size) }));
        acts
    },
);

pub const REDUCE_SCATTER_GATHERV: Algorithm = mock_up(
    &[Collective::Reduce],
    "reduce_as_reducescatter_gatherv",
    "Hunold, Carpen-Amarie 2018, GL16",
    "A mock-up: MPI_Reduce_scatter, then MPI_Gatherv at the root. MPI_Reduce should not be slower than that.",
    Parts::Balanced,
    |problem, rank| {
        let is_root = rank == problem.root;
        let recv = is_root.then(|| Recv.blocks(0..problem.size));
        vec![
            InnerCall::new(Collective::ReduceScatter, input(problem, rank, problem.size), Own.block(rank))
                .into(),
            InnerCall::new(Collective::Gatherv, Own.block(rank), recv).rooted(problem.root).into(),
        ]
    },
);
