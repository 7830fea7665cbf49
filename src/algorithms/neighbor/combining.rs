//! Message combining: blocks travel along one grid dimension after the other. Blocks with the same step share messages.
//!
//! A round for each dimension, in which a rank sends a message for each step s ≠ 0 that an offset takes in that dimension. For d
//! dimensions with s₁, …, s_d such steps that is s₁ + … + s_d messages. The 27-point stencil takes 6 instead of 26 messages.
//! An alltoall sends a block once for each dimension in which the block's offset is not 0; for the 27-point stencil it sends 54
//! instead of 26 blocks in all. An allgather sends a block once for each distinct prefix of the offsets. For the
//! 27-point stencil these are 26, as without combining.
//! Nothing is sent beyond borders. If an offset stays on the grid, each of its steps does too.

use crate::algorithms::stencil::is_zero;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement, Stencil};
use crate::schedule::{Buffer::*, Builder, Message, Schedule};

pub const ALLTOALL: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAlltoall],
    name: "combining",
    aliases: &[],
    source: "Träff, Carpen-Amarie, Hunold, Rougier 2016 (arXiv 1606.07676)",
    idea: "Blocks travel along one dimension of the grid after the other. A rank sends all blocks that make the same step in one message.",
    avoid_when: "blocks are long, for each travels once for each dimension that it crosses, or neighbours lie along the axes only.",
    parameters: &[],
    requires: &[Requirement::Stencil],
    body: Body::Messages(alltoall),
};

pub const ALLGATHER: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAllgather],
    avoid_when: "blocks are long, for the rounds follow each other, or neighbours lie along the axes only.",
    body: Body::Messages(allgather),
    ..ALLTOALL
};

/// What a rank sends and receives at each offset of the stencil.
struct Rank<'a> {
    stencil: &'a Stencil,
    rank: usize,
    /// The block that is sent to each offset; `None` beyond a border.
    sent: Vec<Option<usize>>,
    /// The block that arrives from the rank at each offset behind; `None` beyond a border.
    received: Vec<Option<usize>>,
}

impl<'a> Rank<'a> {
    fn new(problem: &'a Problem, rank: usize) -> Rank<'a> {
        let neighbours = problem.graph.neighbours(rank);
        let stencil = problem.graph.stencil().expect("all ranks know the stencil");
        let fitting = "neighbours are those of the stencil";
        let sent = stencil.sent(rank, neighbours).expect(fitting);
        let received = stencil.received(rank, neighbours).expect(fitting);
        Rank { stencil, rank, sent, received }
    }

    /// Adds a round for each dimension. In it the rank receives and sends one message for each step.
    /// `blocks(dimension, step)` returns the blocks to receive and the blocks to send.
    fn travel(&self, program: &mut Builder, blocks: impl Fn(usize, isize) -> (Message, Message)) {
        let dimensions = self.stencil.grid().len();
        for dimension in 0..dimensions {
            for step in self.stencil.steps(dimension) {
                let mut way = vec![0; dimensions];
                way[dimension] = step;
                let (received, sent) = blocks(dimension, step);
                if let Some(source) = self.stencil.moved_back(self.rank, &way) {
                    program.receive(source, received);
                }
                if let Some(destination) = self.stencil.moved(self.rank, &way) {
                    program.send(destination, sent);
                }
            }
            program.end_round();
        }
    }

    /// Returns the rank where a block started that has made these steps to get here; `None` beyond a border.
    fn origin(&self, made: &[isize]) -> Option<usize> {
        self.stencil.moved_back(self.rank, made)
    }
}

/// Returns the steps of an offset in its first `dimensions` dimensions, and 0 in the others.
fn first_steps(offset: &[isize], dimensions: usize) -> Vec<isize> {
    offset
        .iter()
        .enumerate()
        .map(|(dimension, &step)| if dimension < dimensions { step } else { 0 })
        .collect()
}

fn alltoall(problem: &Problem, rank: usize) -> Schedule {
    let own = Rank::new(problem, rank);
    let offsets = own.stencil.offsets();
    let mut program = Builder::new(rank, problem.size, problem.graph.neighbours(rank).blocks());
    for (index, _) in offsets.iter().enumerate().filter(|(_, offset)| is_zero(offset)) {
        let ends = own.sent[index].zip(own.received[index]);
        let (sent, received) = ends.expect("a rank is at the offset 0 from itself");
        program.copy(Send.block(sent), Recv.block(received));
    }
    // Where the block for an offset is after its steps in the first dimensions, if it passes this rank. It alternates
    // between two places in scratch memory, so no block is received where another is being sent.
    let place = |index: usize, dimensions: usize| {
        let made = first_steps(&offsets[index], dimensions);
        let is_sent =
            own.origin(&made).is_some_and(|origin| own.stencil.moved(origin, &offsets[index]).is_some());
        let hops = made.iter().filter(|&&step| step != 0).count();
        let block = || match hops {
            0 => own.sent[index].map(|block| Send.block(block)),
            _ if made == offsets[index] => own.received[index].map(|block| Recv.block(block)),
            _ => Some(Scratch.block(hops % 2 * offsets.len() + index)),
        };
        is_sent.then(block).flatten()
    };
    own.travel(&mut program, |dimension, step| {
        let travelling = || (0..offsets.len()).filter(|&index| offsets[index][dimension] == step);
        let received = travelling().filter_map(|index| place(index, dimension + 1)).collect();
        let sent = travelling().filter_map(|index| place(index, dimension)).collect();
        (received, sent)
    });
    program.build()
}

fn allgather(problem: &Problem, rank: usize) -> Schedule {
    let own = Rank::new(problem, rank);
    let (stencil, offsets) = (own.stencil, own.stencil.offsets());
    let mut program = Builder::new(rank, problem.size, problem.graph.neighbours(rank).blocks());
    let stops = stops(stencil);
    // Where the block is that has travelled by this offset.
    let place = |offset: &[isize]| match offsets.iter().position(|end| end == offset) {
        _ if is_zero(offset) => Some(Send.block(0)),
        Some(index) => own.received[index].map(|block| Recv.block(block)),
        None => stops.iter().position(|stop| stop.offset == offset).map(|stop| Scratch.block(stop)),
    };
    let passes = |origin: Option<usize>, stop: &Stop| {
        let mut ends = offsets.iter().filter(|end| first_steps(end, stop.dimension + 1) == stop.offset);
        origin.is_some_and(|origin| ends.any(|end| stencil.moved(origin, end).is_some()))
    };
    own.travel(&mut program, |dimension, step| {
        let stops =
            || stops.iter().filter(|stop| stop.dimension == dimension && stop.offset[dimension] == step);
        let arriving = stops().filter(|stop| passes(own.origin(&stop.offset), stop));
        let leaving = stops().filter(|stop| passes(own.origin(&stop.before()), stop));
        let received = arriving.filter_map(|stop| place(&stop.offset)).collect();
        (received, leaving.filter_map(|stop| place(&stop.before())).collect())
    });
    // Copy the blocks that no message brings: the rank's own block, and those of neighbours that repeat.
    for (index, offset) in offsets.iter().enumerate() {
        let is_copy = is_zero(offset) || index > 0 && offsets[index - 1] == *offset;
        if let Some((source, block)) = place(offset).zip(own.received[index]).filter(|_| is_copy) {
            program.copy(source, Recv.block(block));
        }
    }
    program.build()
}

/// A place where a block of an allgather stops on its way.
struct Stop {
    /// The offset from the rank where the block started.
    offset: Vec<isize>,
    /// The dimension of the last step to this place.
    dimension: usize,
}

impl Stop {
    /// Returns the block's offset before the last step.
    fn before(&self) -> Vec<isize> {
        first_steps(&self.offset, self.dimension)
    }
}

/// All places where blocks stop.
fn stops(stencil: &Stencil) -> Vec<Stop> {
    let dimensions = stencil.grid().len();
    let on_the_way = (1..=dimensions)
        .flat_map(|dimensions| stencil.offsets().iter().map(move |end| first_steps(end, dimensions)));
    let mut offsets: Vec<Vec<isize>> = on_the_way.collect();
    offsets.sort();
    offsets.dedup();
    let stop = |offset: Vec<isize>| {
        let dimension = offset.iter().rposition(|&step| step != 0)?;
        Some(Stop { offset, dimension })
    };
    offsets.into_iter().filter_map(stop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Dimension, Graph};
    use crate::verify::verify;

    fn grid(dimensions: &[(usize, bool)]) -> Vec<Dimension> {
        dimensions.iter().map(|&(length, periodic)| Dimension { length, periodic }).collect()
    }

    fn problem(stencil: Stencil) -> Problem {
        Problem { graph: Graph::of_stencil(stencil.clone()), ..Problem::new(stencil.size()) }
    }

    /// Messages and blocks that one rank of a torus sends.
    fn sent(algorithm: &Algorithm, stencil: &Stencil) -> (usize, usize) {
        let program = algorithm.program(&problem(stencil.clone()), stencil.size() / 2);
        (program.messages_sent(), program.blocks_sent())
    }

    #[test]
    fn the_27_point_stencil_takes_6_messages() {
        for length in [3, 4, 5] {
            let stencil = Stencil::around(&grid(&[(length, true); 3]));
            assert_eq!(sent(&ALLTOALL, &stencil), (6, 54));
            assert_eq!(sent(&ALLGATHER, &stencil), (6, 26));
        }
    }

    /// A cube of n offsets in each of d dimensions takes d(n − 1) messages; an alltoall sends (n − 1)n^(d − 1) blocks in each dimension, an
    /// allgather n^d − 1 in all.
    #[test]
    fn cubes_cost_what_the_formulas_say() {
        for (dimensions, steps) in [(2, 3), (2, 5), (3, 3), (4, 3)] {
            let sides = vec![(steps + 1, true); dimensions];
            let radius = steps as isize / 2;
            let longer = |offsets: Vec<Vec<isize>>, _: &(usize, bool)| {
                let with = |offset: Vec<isize>| {
                    (-radius..=radius).map(move |step| [offset.clone(), vec![step]].concat())
                };
                offsets.into_iter().flat_map(with).collect()
            };
            let stencil = Stencil::new(&grid(&sides), sides.iter().fold(vec![Vec::new()], longer));
            let messages = dimensions * (steps - 1);
            let forwarded = messages * steps.pow(dimensions as u32 - 1);
            assert_eq!(sent(&ALLTOALL, &stencil), (messages, forwarded));
            assert_eq!(sent(&ALLGATHER, &stencil), (messages, steps.pow(dimensions as u32) - 1));
        }
    }

    #[test]
    fn every_block_arrives() {
        let sides: Vec<Vec<(usize, bool)>> = [
            &[1, 5][..],
            &[2, 2],
            &[2, 3],
            &[3, 3],
            &[4, 3],
            &[5, 2],
            &[5, 4],
            &[2, 2, 2],
            &[3, 2, 1],
            &[3, 3, 3],
            &[2, 4, 3],
            &[4, 4, 4],
        ]
        .into_iter()
        .flat_map(|lengths| {
            let periods = 0..1 << lengths.len();
            periods.map(|periods| {
                lengths
                    .iter()
                    .enumerate()
                    .map(|(number, &length)| (length, periods >> number & 1 == 1))
                    .collect()
            })
        })
        .collect();
        for sides in sides {
            let grid = grid(&sides);
            let padded = |offset: &[isize]| {
                let fitted = offset.iter().copied().chain([0; 3]).take(sides.len());
                fitted.collect::<Vec<_>>()
            };
            // Two that a row does not connect, one that is not met on the way to another one, far ones, the rank itself, and twice the same.
            let odd = [[1, 1, 0], [-1, 2, 1], [2, -1, 0], [0, 0, 0], [0, 1, -1], [0, 1, -1]];
            let odd = odd.iter().map(|offset| padded(offset));
            for stencil in [Stencil::around(&grid), Stencil::along_axes(&grid), Stencil::new(&grid, odd)] {
                let problem = problem(stencil);
                for algorithm in [&ALLTOALL, &ALLGATHER] {
                    verify(algorithm, &problem).unwrap_or_else(|violation| {
                        panic!("{} on {sides:?}: {violation}", algorithm.title())
                    });
                }
            }
        }
    }
}
