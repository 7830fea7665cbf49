//! A vector in scratch for ranks that have no whole receive buffer.

use crate::schedule::{Buffer::*, Schedule};

/// Returns the first scratch block of the vector behind those that the program uses.
pub fn free_vector(program: &Schedule) -> usize {
    program.scratch_blocks().next_multiple_of(program.blocks)
}

/// Replaces the receive buffer of a program by the free vector in scratch.
pub fn receive_in_scratch(program: Schedule) -> Schedule {
    let first = free_vector(&program);
    program.map_runs(|run| match run.buffer {
        Recv => Scratch.blocks(first + run.indices().start..first + run.indices().end),
        Send | Scratch | Shared(_) => run,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Builder;

    #[test]
    fn the_free_vector_lies_behind_all_others() {
        let mut program = Builder::new(0, 2, 3);
        program.receive(1, Scratch.block(4));
        program.send(1, Recv.blocks(1..3));
        let moved = receive_in_scratch(program.build());
        assert_eq!(moved.steps[0].runs(), [Scratch.block(4)]);
        assert_eq!(moved.steps[1].runs(), [Scratch.blocks(7..9)]);
    }
}
