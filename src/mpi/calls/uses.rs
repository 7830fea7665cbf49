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
    // MPI leaves the receive buffer of the first rank alone; unless the call is in place, it may not even exist.
    let is_left_alone = collective == Collective::Exscan && reader.rank == 0;
    // In all other cases a call writes the whole receive buffer.
    let may_leave_some = arguments.in_place || reader.has_two_groups || collective.cut() == Cut::Edges;
    let reads = if is_source || may_leave_some { result.clone() } else { Vec::new() };
    let writes = if is_source || is_left_alone { Vec::new() } else { result };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::calls::arguments::Side;
    use crate::mpi::messages::transport::bytes;
    use std::ptr;

    #[test]
    fn an_exscan_uses_the_receive_buffer_of_the_first_rank_in_place_only() {
        let used = |rank, in_place| {
            let vector = || Side::elements(ptr::dangling_mut(), 8, bytes());
            let send = if in_place { Side::none() } else { vector() };
            let mut arguments = Arguments::allgather(ptr::dangling_mut(), 8);
            (arguments.collective, arguments.in_place, arguments.send) = (Collective::Exscan, in_place, send);
            let reader = Reader { rank, size: 2, has_two_groups: false, blocks: (2, 2) };
            uses(&arguments, reader)
                .map(|found| found.map(|Use { reads, writes }| (reads.len(), writes.len())))
        };
        assert_eq!(used(0, false), [Some((1, 0)), Some((0, 0))]);
        assert_eq!(used(0, true), [Some((0, 0)), Some((1, 0))]);
        assert_eq!(used(1, false), [Some((1, 0)), Some((0, 1))]);
        assert_eq!(used(1, true), [Some((0, 0)), Some((1, 1))]);
    }
}
