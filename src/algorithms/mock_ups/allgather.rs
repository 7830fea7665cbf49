//! Allgather by other collectives: guidelines GL1 to GL4.

use super::{Act, Algorithm, Area, Collective, Parts, mock_up, own_block};
use crate::algorithms::InnerCall;
use Area::*;

pub const GATHER_BCAST: Algorithm = mock_up(
    &[Collective::Allgather],
    "allgather_as_gather_bcast",
    "Hunold, Carpen-Amarie 2018, GL1",
    "A mock-up: MPI_Gather at rank 0, then MPI_Bcast. MPI_Allgather should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let all = Recv.blocks(0..problem.size);
        let is_root = rank == 0;
        let gather = InnerCall::new(
            Collective::Gather,
            own_block(problem, rank, problem.in_place),
            is_root.then(|| all.clone()),
        );
        vec![
            gather.in_place_if(problem.in_place && is_root).into(),
            InnerCall::new(Collective::Bcast, None, all).into(),
        ]
    },
);

pub const ALLTOALL: Algorithm = mock_up(
    &[Collective::Allgather],
    "allgather_as_alltoall",
    "Hunold, Carpen-Amarie 2018, GL2",
    "A mock-up: MPI_Alltoall of copies of the own block. MPI_Allgather should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let own = own_block(problem, rank, problem.in_place);
        let mut acts: Vec<Act> =
            (0..problem.size).map(|block| Act::Copy { from: own.clone(), to: All.block(block) }).collect();
        let all = 0..problem.size;
        acts.push(InnerCall::new(Collective::Alltoall, All.blocks(all.clone()), Recv.blocks(all)).into());
        acts
    },
);

pub const ALLREDUCE: Algorithm = mock_up(
    &[Collective::Allgather],
    "allgather_as_allreduce",
    "Hunold, Carpen-Amarie 2018, GL3",
    "A mock-up: MPI_Allreduce of vectors that are zero but for the own block. MPI_Allgather should not be \
            slower than that.",
    Parts::Given,
    |problem, rank| {
        let all = All.blocks(0..problem.size);
        vec![
            Act::Clear(all.clone()),
            Act::Copy { from: own_block(problem, rank, problem.in_place), to: All.block(rank) },
            InnerCall::new(Collective::Allreduce, None, all.clone()).in_place_if(true).uniting().into(),
            Act::Copy { from: all, to: Recv.blocks(0..problem.size) },
        ]
    },
);

pub const ALLGATHERV: Algorithm = mock_up(
    &[Collective::Allgather],
    "allgather_as_allgatherv",
    "Hunold, Carpen-Amarie 2018, GL4",
    "A mock-up: MPI_Allgatherv of equal blocks. MPI_Allgather should not be slower than that.",
    Parts::Given,
    |problem, rank| {
        let call = InnerCall::new(Collective::Allgatherv, Send.block(rank), Recv.blocks(0..problem.size));
        vec![call.in_place_if(problem.in_place).into()]
    },
);
