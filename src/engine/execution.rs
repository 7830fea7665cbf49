//! The interpreter: one rank's plan, operation by operation, resumable at every wait.

use super::Transport;
use super::plan::{Operation, Plan};
use crate::schedule::Post;

/// How far a plan has been carried out.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    position: usize,
}

impl Execution {
    /// Goes on to the end of a plan, blocking in waits. After an error, posts may be outstanding.
    pub fn finish<T: Transport>(&mut self, plan: &Plan, transport: &mut T) -> Result<(), T::Error> {
        self.drive(plan, transport, |transport, posts| transport.wait(posts).map(|()| true))?;
        Ok(())
    }

    /// Goes on until a wait finds its posts incomplete, or to the end; says whether the end was reached.
    pub fn advance<T: Transport>(&mut self, plan: &Plan, transport: &mut T) -> Result<bool, T::Error> {
        self.drive(plan, transport, T::test)
    }

    fn drive<T: Transport>(
        &mut self,
        plan: &Plan,
        transport: &mut T,
        complete: impl Fn(&mut T, &[Post]) -> Result<bool, T::Error>,
    ) -> Result<bool, T::Error> {
        while let Some(operation) = plan.operations.get(self.position) {
            match operation {
                Operation::Send { post, peer, region } => transport.send(*post, *peer, *region)?,
                Operation::Receive { post, peer, region } => transport.receive(*post, *peer, *region)?,
                Operation::Wait { awaited } => {
                    if !complete(transport, &plan.awaited[awaited.clone()])? {
                        return Ok(false);
                    }
                }
                Operation::Copy { source, target } => transport.copy(*source, *target)?,
                Operation::Reduce { left, right, target } => transport.reduce(*left, *right, *target)?,
            }
            self.position += 1;
        }
        Ok(true)
    }
}
