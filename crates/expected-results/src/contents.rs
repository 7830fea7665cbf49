//! The contents of buffers before and after a collective, computed without communication. They are written to
//! a buffer or compared with one.

use std::ops::Range;

use rustcoll::algorithms::{Collective, Cut, Edge};

use crate::arithmetic::Arithmetic;
use crate::image::{Datatype, Image, Values};
use crate::random::{combine, nth};

use Collective::*;

/// Returns the generator of the random numbers that one rank sends to another in the call with this seed.
fn stream(seed: u64, from: usize, to: usize) -> impl Fn(usize) -> u64 {
    let seed = combine(&[seed, from as u64, to as u64]);
    move |position| nth(seed, position as u64)
}

/// The properties that, with the seed, determine the contents of one rank's buffers.
#[derive(Clone, Debug)]
pub struct Contents {
    pub collective: Collective,
    pub arithmetic: Option<Arithmetic>,
    /// This rank's number.
    pub rank: usize,
    /// The numbers of the ranks with which this rank exchanges data.
    pub partners: Range<usize>,
    /// The root's number, if there is a root.
    pub root: usize,
    pub takes_part: bool,
    /// Whether the receive buffer holds the input.
    pub in_place: bool,
    /// The indices of the values that a reduce-scatter leaves on this rank.
    pub part: Range<usize>,
    /// For each block that this rank receives from a neighbour: the sender, and the block's index in its send buffer.
    pub origins: Vec<Option<Edge>>,
}

impl Contents {
    /// Whether this rank contributes the contents of its receive buffer.
    pub fn has_input(&self) -> bool {
        self.in_place || self.collective == Bcast
    }

    /// Writes this rank's contribution.
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

    /// Whether a block of the buffer that holds the input is part of this rank's contribution.
    fn contributes(&self, block: usize) -> bool {
        match self.collective {
            Bcast => self.rank == self.root,
            Allgather | Allgatherv | Gather | Gatherv => !self.in_place || block == self.rank,
            _ => true,
        }
    }

    /// Writes the values that this rank receives.
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

    /// Returns the rank that sends a block to this rank, and the block's index there; `None` beyond a border.
    fn origin(&self, block: usize) -> Option<(usize, usize)> {
        let edge = (*self.origins.get(block)?)?;
        match self.collective {
            NeighborAllgather | NeighborAllgatherv => Some((edge.peer, 0)),
            _ => Some((edge.peer, edge.block)),
        }
    }

    /// Returns the values of the receive buffer that MPI leaves unspecified: the rest of the input of an
    /// in-place reduce-scatter.
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
    let prime = values.image().layout().prime();
    for element in (0..values.image().values()).step_by(width.max(1)) {
        for value in 0..width {
            values.take(element + value, arithmetic.operand(prime, random(element + value), value));
        }
    }
}

/// Combines some ranks' operands in the order of ranks, and writes a part of the resulting vector to the
/// start of a buffer.
fn write_reduction(
    values: &mut impl Values,
    arithmetic: Arithmetic,
    seed: u64,
    ranks: Range<usize>,
    part: Range<usize>,
) {
    let streams: Vec<_> = ranks.map(|rank| stream(seed, rank, 0)).collect();
    let width = values.image().width();
    let prime = values.image().layout().prime();
    let mut operand = vec![0; width];
    let mut total = operand.clone();
    for element in part.clone().step_by(width.max(1)) {
        for (rank, random) in streams.iter().enumerate() {
            for (value, operand) in operand.iter_mut().enumerate() {
                *operand = arithmetic.operand(prime, random(element + value), value);
            }
            match rank {
                0 => total.copy_from_slice(&operand),
                _ => arithmetic.fold(prime, &mut total, &operand),
            }
        }
        for (value, &total) in total.iter().enumerate() {
            values.take(element - part.start + value, total);
        }
    }
}

/// Fills a block with the random numbers that one rank sends to another.
fn write_message(values: &mut impl Values, block: usize, seed: u64, from: usize, to: usize) {
    let random = stream(seed, from, to);
    for (index, position) in values.image().block(block).enumerate() {
        values.take(position, (random(index) as i32).into());
    }
}
