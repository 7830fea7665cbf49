//! What the buffers hold before and after a collective, computed without communication: written to a buffer, or compared
//! with one.

use std::ops::Range;

use rustcoll::algorithms::{Collective, Cut, Edge};

use crate::arithmetic::Arithmetic;
use crate::image::{Datatype, Image, Values};
use crate::random::{combine, nth};

use Collective::*;

/// The random numbers that go from one rank to another in the call with this seed.
fn stream(seed: u64, from: usize, to: usize) -> impl Fn(usize) -> u64 {
    let seed = combine(&[seed, from as u64, to as u64]);
    move |position| nth(seed, position as u64)
}

/// What determines the contents of one rank's buffers, apart from the seed.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The collective.
    pub collective: Collective,
    /// What a reduction computes.
    pub arithmetic: Option<Arithmetic>,
    /// This rank's number.
    pub rank: usize,
    /// The ranks with which it exchanges data.
    pub partners: Range<usize>,
    /// The root, where there is one.
    pub root: usize,
    /// Whether this rank takes part.
    pub takes_part: bool,
    /// The input stands in the receive buffer.
    pub in_place: bool,
    /// The values of the vector that a reduce-scatter leaves on this rank.
    pub part: Range<usize>,
    /// For each block that a neighbour sends this rank, whose send buffer it comes from, and which block of that it is.
    pub origins: Vec<Option<Edge>>,
}

impl Contents {
    /// Whether this rank contributes what stands in its receive buffer.
    pub fn has_input(&self) -> bool {
        self.in_place || self.collective == Bcast
    }

    /// Writes what this rank contributes.
    pub fn write_input(&self, values: &mut impl Values, seed: u64) {
        if let Some(arithmetic) = self.arithmetic {
            return write_operands(values, arithmetic, seed, self.rank);
        }
        for block in (0..values.image().blocks()).filter(|&block| self.contributes(block)) {
            let (from, to) = match self.collective {
                Allgather | Allgatherv | Gather | Gatherv => (self.rank, 0),
                NeighborAllgather | NeighborAllgatherv => (self.rank, 0),
                Alltoall | Alltoallv | Alltoallw => (self.rank, self.partners.start + block),
                NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => (self.rank, block),
                Scatter | Scatterv => (self.root, self.partners.start + block),
                _ => (self.root, 0),
            };
            write_message(values, block, seed, from, to);
        }
    }

    /// Whether a block of the buffer with the input holds some of it.
    fn contributes(&self, block: usize) -> bool {
        match self.collective {
            Bcast => self.rank == self.root,
            Allgather | Allgatherv | Gather | Gatherv => !self.in_place || block == self.rank,
            _ => true,
        }
    }

    /// Writes what this rank receives.
    pub fn write_result(&self, values: &mut impl Values, seed: u64) {
        if !self.takes_part {
            return;
        }
        if let Some(arithmetic) = self.arithmetic {
            return self.write_reduction(values, arithmetic, seed);
        }
        for block in 0..values.image().blocks() {
            let (from, to) = match self.collective {
                Allgather | Allgatherv | Gather | Gatherv => (self.partners.start + block, 0),
                Alltoall | Alltoallv | Alltoallw => (self.partners.start + block, self.rank),
                _ if self.collective.cut() == Cut::Edges => match self.origin(block) {
                    Some(origin) => origin,
                    None => continue,
                },
                Scatter | Scatterv => (self.root, self.rank),
                _ => (self.root, 0),
            };
            write_message(values, block, seed, from, to);
        }
    }

    /// Whose block arrives from a neighbour, and its number there; `None` beyond a border.
    fn origin(&self, block: usize) -> Option<(usize, usize)> {
        let edge = (*self.origins.get(block)?)?;
        match self.collective {
            NeighborAllgather | NeighborAllgatherv => Some((edge.peer, 0)),
            _ => Some((edge.peer, edge.block)),
        }
    }

    /// The values of the receive buffer about which MPI says nothing: what is left of the input of a reduce-scatter in
    /// place.
    pub fn unspecified(&self, image: &Image<impl Datatype + Clone>) -> Range<usize> {
        match self.collective {
            ReduceScatter | ReduceScatterBlock => self.part.len()..image.values(),
            _ => 0..0,
        }
    }

    fn write_reduction(&self, values: &mut impl Values, arithmetic: Arithmetic, seed: u64) {
        let ranks = match self.collective {
            Exscan => 0..self.rank,
            Scan => 0..self.rank + 1,
            _ => self.partners.clone(),
        };
        let part = match self.collective {
            ReduceScatter | ReduceScatterBlock => self.part.clone(),
            _ => 0..values.image().values(),
        };
        // The first rank of an exclusive scan receives nothing.
        if !ranks.is_empty() {
            write_reduction(values, arithmetic, seed, ranks, part);
        }
    }
}

/// Fills a buffer with a rank's operands of a reduction.
fn write_operands(values: &mut impl Values, arithmetic: Arithmetic, seed: u64, rank: usize) {
    let random = stream(seed, rank, 0);
    let width = values.image().width();
    for element in (0..values.image().values()).step_by(width.max(1)) {
        for value in 0..width {
            values.take(element + value, arithmetic.operand(random(element + value), value));
        }
    }
}

/// Writes a part of the vector of some ranks' operands, combined in their order, to the start of a buffer.
fn write_reduction(
    values: &mut impl Values,
    arithmetic: Arithmetic,
    seed: u64,
    ranks: Range<usize>,
    part: Range<usize>,
) {
    let streams: Vec<_> = ranks.map(|rank| stream(seed, rank, 0)).collect();
    let width = values.image().width();
    let mut operand = vec![0; width];
    let mut total = operand.clone();
    for element in part.clone().step_by(width.max(1)) {
        for (rank, random) in streams.iter().enumerate() {
            for (value, operand) in operand.iter_mut().enumerate() {
                *operand = arithmetic.operand(random(element + value), value);
            }
            match rank {
                0 => total.copy_from_slice(&operand),
                _ => arithmetic.fold(&mut total, &operand),
            }
        }
        for (value, &total) in total.iter().enumerate() {
            values.take(element - part.start + value, total);
        }
    }
}

/// Fills a block with what goes from one rank to another.
fn write_message(values: &mut impl Values, block: usize, seed: u64, from: usize, to: usize) {
    let random = stream(seed, from, to);
    for (index, position) in values.image().block(block).enumerate() {
        values.take(position, (random(index) as i32).into());
    }
}
