//! A schedule bound to elements: what remains is posting, waiting, copying and reducing regions.

use super::{Binding, Memory, Region};
use crate::schedule::{Message, Post, Run, Schedule, Step};
use std::ops::Range;

/// One operation of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Post a send.
    Send {
        /// The post's number.
        post: Post,
        /// The receiving rank.
        peer: u32,
        /// What is sent.
        region: Region,
    },
    /// Post a receive.
    Receive {
        /// The post's number.
        post: Post,
        /// The sending rank.
        peer: u32,
        /// Where it goes.
        region: Region,
    },
    /// Wait for posts.
    Wait {
        /// A range of [`Plan::awaited`].
        awaited: Range<usize>,
    },
    /// Copy a region.
    Copy {
        /// From where.
        source: Region,
        /// To where.
        target: Region,
    },
    /// `target = left ⊕ right`
    Reduce {
        /// The left operand.
        left: Region,
        /// The right operand.
        right: Region,
        /// The result.
        target: Region,
    },
}

/// The operations of one rank in calls of one shape. Messages of several runs are packed into staging memory before
/// they are sent and unpacked from it once they have arrived; what has no elements is left out on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The operations in program order.
    pub operations: Vec<Operation>,
    /// The posts that the waits wait for, one wait after the other.
    pub awaited: Vec<Post>,
    /// One more than the highest post number.
    pub posts: usize,
    /// Elements of scratch memory.
    pub scratch_elements: usize,
    /// Bytes of staging memory.
    pub staging_bytes: usize,
}

impl Plan {
    /// Binds a schedule.
    pub fn new(schedule: &Schedule, binding: &Binding) -> Plan {
        let plan = Plan {
            posts: schedule.posts(),
            scratch_elements: binding.scratch.layout.offset(schedule.scratch_blocks()),
            ..Plan::default()
        };
        let mut planner = Planner { plan, binding, staged: Vec::new(), staging_top: 0 };
        schedule.steps.iter().for_each(|step| planner.step(step));
        planner.plan
    }
}

/// A packed message on its way.
struct Staged {
    post: Post,
    /// Its copies from staging memory, for a receive.
    unpacking: Vec<Operation>,
}

struct Planner<'a> {
    plan: Plan,
    binding: &'a Binding,
    staged: Vec<Staged>,
    staging_top: usize,
}

impl Planner<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Send { post, peer, message } => {
                let region = match message.single_run() {
                    Some(run) => self.binding.region(run),
                    None => self.stage_send(*post, message),
                };
                // Both sides know the length of a message, so an empty one need not travel.
                self.push_unless_empty(region, Operation::Send { post: *post, peer: *peer, region });
            }
            Step::Receive { post, peer, message } => {
                let region = match message.single_run() {
                    Some(run) => self.binding.region(run),
                    None => self.stage_receive(*post, message),
                };
                self.push_unless_empty(region, Operation::Receive { post: *post, peer: *peer, region });
            }
            Step::Wait { posts } => self.wait(posts),
            Step::Copy { source, target } => {
                self.copy(self.binding.region(*source), self.binding.region(*target))
            }
            Step::Reduce { left, right, target } => {
                let [left, right, target] = [left, right, target].map(|run| self.binding.region(*run));
                self.push_unless_empty(target, Operation::Reduce { left, right, target });
            }
        }
    }

    fn push_unless_empty(&mut self, region: Region, operation: Operation) {
        if region.elements > 0 {
            self.plan.operations.push(operation);
        }
    }

    fn copy(&mut self, source: Region, target: Region) {
        self.push_unless_empty(source, Operation::Copy { source, target });
    }

    fn wait(&mut self, posts: &[Post]) {
        let start = self.plan.awaited.len();
        self.plan.awaited.extend(posts);
        self.plan.operations.push(Operation::Wait { awaited: start..self.plan.awaited.len() });
        let (arrived, outstanding) = std::mem::take(&mut self.staged)
            .into_iter()
            .partition::<Vec<_>, _>(|staged| posts.contains(&staged.post));
        self.plan.operations.extend(arrived.into_iter().flat_map(|staged| staged.unpacking));
        self.staged = outstanding;
        if self.staged.is_empty() {
            self.staging_top = 0;
        }
    }

    /// Packs a message that is to be sent.
    fn stage_send(&mut self, post: Post, message: &Message) -> Region {
        let (region, pieces) = self.reserve(message);
        pieces.into_iter().for_each(|(run, bytes)| self.copy(self.binding.region(run), bytes));
        self.staged.push(Staged { post, unpacking: Vec::new() });
        region
    }

    /// Notes how a message that is to arrive packed will be unpacked.
    fn stage_receive(&mut self, post: Post, message: &Message) -> Region {
        let (region, pieces) = self.reserve(message);
        let unpack = |(run, source)| Operation::Copy { source, target: self.binding.region(run) };
        let unpacking = pieces.into_iter().filter(|(_, bytes)| bytes.elements > 0).map(unpack).collect();
        self.staged.push(Staged { post, unpacking });
        region
    }

    /// Staging memory for a message as a whole, and for each of its runs. It is given back when nothing that is staged
    /// is outstanding.
    fn reserve(&mut self, message: &Message) -> (Region, Vec<(Run, Region)>) {
        let start = self.staging_top;
        let piece = |&run: &Run| {
            let bytes = self.binding.bytes(run);
            let region = Region { memory: Memory::Staging, offset: self.staging_top, elements: bytes };
            self.staging_top += bytes;
            (run, region)
        };
        let pieces = message.runs().iter().map(piece).collect();
        self.plan.staging_bytes = self.plan.staging_bytes.max(self.staging_top);
        (Region { memory: Memory::Staging, offset: start, elements: self.staging_top - start }, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::View;
    use crate::schedule::{Buffer, Builder, Layout};

    fn binding(elements: usize) -> Binding {
        Binding::uniform(View { layout: Layout::Uniform { elements }, element_bytes: 4 })
    }

    fn scattered() -> Message {
        [Buffer::Recv.block(0), Buffer::Recv.block(2)].into_iter().collect()
    }

    #[test]
    fn staging_memory_is_reused_after_a_wait() {
        let mut program = Builder::new(0, 4, 4);
        program.send(1, scattered());
        program.send(2, scattered());
        program.send(3, Buffer::Recv.blocks(0..4));
        program.end_round();
        program.send(1, scattered());
        assert_eq!(Plan::new(&program.build(), &binding(3)).staging_bytes, 4 * 3 * 4);
    }

    #[test]
    fn a_packed_message_is_unpacked_after_its_wait() {
        let mut program = Builder::new(0, 2, 4);
        program.receive(1, scattered());
        let plan = Plan::new(&program.build(), &binding(1));
        assert!(matches!(plan.operations[0], Operation::Receive { region: Region { elements: 8, .. }, .. }));
        assert!(matches!(plan.operations[1], Operation::Wait { .. }));
        assert_eq!(plan.operations.len(), 4);
    }

    #[test]
    fn empty_messages_are_left_out() {
        let mut program = Builder::new(0, 2, 4);
        program.send(1, scattered());
        program.copy(Buffer::Send.block(0), Buffer::Recv.block(0));
        let plan = Plan::new(&program.build(), &binding(0));
        assert_eq!(plan.operations, [Operation::Wait { awaited: 0..1 }]);
    }
}
