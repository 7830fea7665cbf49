//! Which parts of its buffers a call reads and writes.

use super::arguments::Arguments;
use crate::algorithms::{Collective, Cut};
use crate::mpi::messages::transport::Span;
use crate::mpi::messages::work::Group;

/// What a call does with one of its buffers. A reduce-scatter in place reads more of its receive buffer than it writes.
#[derive(Default)]
pub struct Use {
    pub reads: Vec<Span>,
    pub writes: Vec<Span>,
}

/// A rank that makes a call.
#[derive(Clone, Copy)]
pub struct Reader {
    pub rank: usize,
    /// Number of ranks in its group.
    pub size: usize,
    /// Whether there is another group.
    pub has_two_groups: bool,
    /// Blocks of the send and of the receive buffer, if each block has a count.
    pub blocks: (usize, usize),
}

impl Reader {
    pub fn of(Group { rank, size, remote }: Group, blocks: (usize, usize)) -> Reader {
        Reader { rank, size, has_two_groups: remote > 0, blocks }
    }
}

/// Returns what a call does with its send and its receive buffer; `None` if nothing.
pub fn uses(arguments: &Arguments, reader: Reader) -> [Option<Use>; 2] {
    let Arguments { collective, ref send, ref recv, .. } = *arguments;
    let (sent, received) = equal_blocks(collective, reader);
    let (input, result) = (send.spans(sent), recv.spans(received));
    if collective == Collective::Barrier {
        return [None, None];
    }
    if arguments.copied_input(reader.size) > 0 {
        return [None, Some(Use { reads: input, writes: result })];
    }
    let is_source = collective == Collective::Bcast && arguments.root == reader.rank;
    // In all other cases a call writes the whole receive buffer.
    let may_leave_some = arguments.in_place
        || reader.has_two_groups
        || collective == Collective::Exscan
        || collective.cut() == Cut::Edges;
    let reads = if is_source || may_leave_some { result.clone() } else { Vec::new() };
    let writes = if is_source { Vec::new() } else { result };
    [Some(Use { reads: input, writes: Vec::new() }), Some(Use { reads, writes })]
}

/// Returns how many blocks the send and the receive buffer have, if one count holds for all blocks.
fn equal_blocks(
    collective: Collective,
    Reader { size, blocks: (sent, received), .. }: Reader,
) -> (usize, usize) {
    use Collective::*;
    match collective {
        Alltoall | NeighborAlltoall => (sent, received),
        Allgather | Gather | NeighborAllgather => (1, received),
        Scatter => (sent, 1),
        ReduceScatterBlock => (size, 1),
        _ => (1, 1),
    }
}
