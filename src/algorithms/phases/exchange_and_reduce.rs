//! The step that all halving and doubling reductions are made of.

use crate::schedule::{Buffer, Buffer::*, Builder};
use std::ops::Range;

/// Sends the blocks `given` of `operand` to the partner, receives the partner's blocks `kept` and leaves their
/// reduction with the rank's own in the receive buffer. The operand of the lower rank is the left one. Either range
/// may be empty.
///
/// `operand` is where the rank's own contribution stands: the send buffer until its first reduction, then the
/// receive buffer.
pub fn exchange_and_reduce(
    program: &mut Builder,
    operand: Buffer,
    (rank, partner): (usize, usize),
    given: Range<usize>,
    kept: Range<usize>,
) {
    // As long as the rank's own contribution stands elsewhere, the partner's can arrive where the result goes.
    let incoming = if operand == Send { Recv } else { Scratch };
    program.exchange((partner, operand.blocks(given)), (partner, incoming.blocks(kept.clone())));
    let (mine, theirs) = (operand.blocks(kept.clone()), incoming.blocks(kept.clone()));
    let (left, right) = if partner < rank { (theirs, mine) } else { (mine, theirs) };
    program.reduce(left, right, Recv.blocks(kept));
}
