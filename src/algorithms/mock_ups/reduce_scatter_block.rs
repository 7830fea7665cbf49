//! Reduce-scatter of equal blocks by other collectives: guidelines GL17 to GL19.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up};
use crate::algorithms::InnerCall;
use Area::*;

pub const REDUCE_THEN_SCATTER: Algorithm = mock_up(
    &[Collective::ReduceScatterBlock],
    "reducescatterblock_as_reduce_scatter",
    "Hunold, Carpen-Amarie 2018, GL17",
    "A mock-up: MPI_Reduce to rank 0, then MPI_Scatter. MPI_Reduce_scatter_block should not be slower \
            than that.",
    Parts::Given,
    |problem, rank| {
        let all = (rank == 0).then(|| All.blocks(0..problem.size));
        vec![
            InnerCall::new(Collective::Reduce, Send.blocks(0..problem.size), all.clone()).into(),
            InnerCall::new(Collective::Scatter, all, Recv.block(rank)).into(),
        ]
    },
);

pub const REDUCE_SCATTER: Algorithm = mock_up(
    &[Collective::ReduceScatterBlock],
    "reducescatterblock_as_reducescatter",
    "Hunold, Carpen-Amarie 2018, GL18",
    "A mock-up: MPI_Reduce_scatter of equal blocks. MPI_Reduce_scatter_block should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let call = InnerCall::new(Collective::ReduceScatter, Send.blocks(0..problem.size), Recv.block(rank));
        vec![InnerCall { in_place: problem.in_place, ..call }.into()]
    },
);

pub const ALLREDUCE: Algorithm = mock_up(
    &[Collective::ReduceScatterBlock],
    "reducescatterblock_as_allreduce",
    "Hunold, Carpen-Amarie 2018, GL19",
    "A mock-up: MPI_Allreduce, of which each rank needs its block only. MPI_Reduce_scatter_block should \
            not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let [send, all] = [Send, All].map(|area| area.blocks(0..problem.size));
        vec![
            InnerCall::new(Collective::Allreduce, send, all).into(),
            Act::Copy { from: All.block(rank), to: Recv.block(rank) },
        ]
    },
);
