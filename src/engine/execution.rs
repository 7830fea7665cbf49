//! The interpreter: one rank's schedule, step by step, resumable at every wait.

use super::{Binding, Memory, Region, Transport};
use crate::schedule::{Message, Post, Schedule, Step};

/// A schedule with what the interpreter needs to know before it runs.
#[derive(Clone, Debug)]
pub struct Program {
    /// The schedule.
    pub schedule: Schedule,
    /// Number of its posts.
    pub posts: usize,
    /// Number of scratch blocks.
    pub scratch_blocks: usize,
    /// The most blocks that are packed for messages at any one time.
    pub staging_blocks: usize,
}

impl Program {
    /// Prepares a schedule for execution.
    pub fn new(schedule: Schedule) -> Program {
        let (posts, scratch_blocks) = (schedule.posts(), schedule.scratch_blocks());
        let staging_blocks = staging_blocks(&schedule);
        Program { schedule, posts, scratch_blocks, staging_blocks }
    }

    /// Bytes of staging memory that a run with this binding needs.
    pub fn staging_bytes(&self, binding: &Binding) -> usize {
        let views = [binding.send, binding.recv, binding.scratch];
        let largest = views.iter().map(|view| view.largest_block_bytes()).max().unwrap_or(0);
        self.staging_blocks * largest
    }
}

/// The peak of what [`Execution`] stages, by the same policy: space is given back when nothing staged is outstanding.
fn staging_blocks(schedule: &Schedule) -> usize {
    let mut outstanding: Vec<Post> = Vec::new();
    let (mut top, mut peak) = (0, 0);
    for step in &schedule.steps {
        match step {
            Step::Send { post, message, .. } | Step::Receive { post, message, .. } => {
                if message.single_run().is_none() {
                    outstanding.push(*post);
                    top += message.blocks();
                    peak = peak.max(top);
                }
            }
            Step::Wait { posts } => {
                outstanding.retain(|post| !posts.contains(post));
                if outstanding.is_empty() {
                    top = 0;
                }
            }
            Step::Copy { .. } | Step::Reduce { .. } => {}
        }
    }
    peak
}

/// A packed message on its way.
#[derive(Clone, Copy, Debug)]
struct Staged {
    post: Post,
    /// The step that posted it.
    step: usize,
    /// Its first byte in the staging memory.
    offset: usize,
}

/// How far a program has run. Reusable: [`Execution::restart`] keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    position: usize,
    staged: Vec<Staged>,
    staging_top: usize,
}

impl Execution {
    /// Goes back to the first step.
    pub fn restart(&mut self) {
        self.position = 0;
        self.staged.clear();
        self.staging_top = 0;
    }

    /// Runs to the end, blocking in waits. After an error, posts may be outstanding.
    pub fn run<T: Transport>(
        &mut self,
        schedule: &Schedule,
        binding: &Binding,
        transport: &mut T,
    ) -> Result<(), T::Error> {
        self.drive(schedule, binding, transport, |transport, posts| transport.wait(posts).map(|()| true))?;
        Ok(())
    }

    /// Runs until a wait finds its posts incomplete, or to the end; says whether the end was reached.
    pub fn advance<T: Transport>(
        &mut self,
        schedule: &Schedule,
        binding: &Binding,
        transport: &mut T,
    ) -> Result<bool, T::Error> {
        self.drive(schedule, binding, transport, T::test)
    }

    fn drive<T: Transport>(
        &mut self,
        schedule: &Schedule,
        binding: &Binding,
        transport: &mut T,
        complete: impl Fn(&mut T, &[Post]) -> Result<bool, T::Error>,
    ) -> Result<bool, T::Error> {
        while let Some(step) = schedule.steps.get(self.position) {
            match step {
                Step::Send { post, peer, message } => {
                    let region = self.outgoing(*post, message, binding, transport)?;
                    // Both sides know the length of a message, so an empty one need not travel.
                    if region.elements > 0 {
                        transport.send(*post, *peer, region)?;
                    }
                }
                Step::Receive { post, peer, message } => {
                    let region = match message.single_run() {
                        Some(run) => binding.region(run),
                        None => self.stage(*post, message, binding),
                    };
                    if region.elements > 0 {
                        transport.receive(*post, *peer, region)?;
                    }
                }
                Step::Wait { posts } => {
                    if !complete(transport, posts)? {
                        return Ok(false);
                    }
                    if !self.staged.is_empty() {
                        self.unstage(posts, schedule, binding, transport)?;
                    }
                }
                Step::Copy { source, target } => {
                    let source = binding.region(*source);
                    if source.elements > 0 {
                        transport.copy(source, binding.region(*target))?;
                    }
                }
                Step::Reduce { left, right, target } => {
                    let target = binding.region(*target);
                    if target.elements > 0 {
                        transport.reduce(binding.region(*left), binding.region(*right), target)?;
                    }
                }
            }
            self.position += 1;
        }
        Ok(true)
    }

    /// Where a message is sent from: its only run, or the staging memory after packing.
    fn outgoing<T: Transport>(
        &mut self,
        post: Post,
        message: &Message,
        binding: &Binding,
        transport: &mut T,
    ) -> Result<Region, T::Error> {
        if let Some(run) = message.single_run() {
            return Ok(binding.region(run));
        }
        let packed = self.stage(post, message, binding);
        for (region, bytes) in pieces(message, binding, packed.offset) {
            transport.copy(region, bytes)?;
        }
        Ok(packed)
    }

    /// Reserves staging memory for a message.
    fn stage(&mut self, post: Post, message: &Message, binding: &Binding) -> Region {
        let offset = self.staging_top;
        let elements = message.runs().iter().map(|&run| binding.bytes(run)).sum();
        self.staged.push(Staged { post, step: self.position, offset });
        self.staging_top += elements;
        Region { memory: Memory::Staging, offset, elements }
    }

    /// Unpacks what the completed posts have received and gives their staging memory back.
    fn unstage<T: Transport>(
        &mut self,
        posts: &[Post],
        schedule: &Schedule,
        binding: &Binding,
        transport: &mut T,
    ) -> Result<(), T::Error> {
        for staged in self.staged.iter().filter(|staged| posts.contains(&staged.post)) {
            if let Step::Receive { message, .. } = &schedule.steps[staged.step] {
                for (region, bytes) in pieces(message, binding, staged.offset) {
                    transport.copy(bytes, region)?;
                }
            }
        }
        self.staged.retain(|staged| !posts.contains(&staged.post));
        if self.staged.is_empty() {
            self.staging_top = 0;
        }
        Ok(())
    }
}

/// The runs of a message, each with its bytes in the staging memory; runs without data left out.
fn pieces<'a>(
    message: &'a Message,
    binding: &'a Binding,
    mut offset: usize,
) -> impl Iterator<Item = (Region, Region)> + 'a {
    message.runs().iter().filter_map(move |&run| {
        let bytes = Region { memory: Memory::Staging, offset, elements: binding.bytes(run) };
        offset += bytes.elements;
        (bytes.elements > 0).then(|| (binding.region(run), bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Buffer, Builder};

    #[test]
    fn staging_counts_only_what_is_outstanding_together() {
        let mut program = Builder::new(0, 4, 4);
        let scattered = || [Buffer::Send.block(0), Buffer::Send.block(2)].into_iter().collect::<Message>();
        program.send(1, scattered());
        program.send(2, scattered());
        program.send(3, Buffer::Send.blocks(0..4));
        program.end_round();
        program.send(1, scattered());
        assert_eq!(Program::new(program.build()).staging_blocks, 4);
    }
}
