//! What MPI does when it duplicates a communicator in the background: the ranks agree on a number by reductions that do not block, of
//! which each begins when the last one has ended, from within whatever makes progress.

use std::ffi::{c_int, c_void};

use rustcoll::algorithms::Collective;
use rustcoll::shim::RUSTCOLL_SUCCESS;

use crate::board;
use crate::datatypes::{Datatype, Operator};
use crate::describe::{Described, Side};
use crate::exit;
use crate::operation::Operation;
use crate::process::{Communicator, process};
use expected_results::arithmetic::Arithmetic;
use expected_results::image::Datatype as _;

/// So many reductions follow each other.
const STAGES: usize = 3;

/// A duplication that is under way.
pub struct Duplication {
    communicator: &'static Communicator,
    /// The step that began it.
    pub step: usize,
    stage: usize,
    operation: Option<Operation>,
    /// What this rank proposes, and what they agree on.
    numbers: Box<[c_int; 2]>,
    ended: Option<c_int>,
}

impl Duplication {
    /// Begins one.
    pub fn begin(communicator: &'static Communicator, step: usize) {
        let mut this = Duplication {
            communicator,
            step,
            stage: 0,
            operation: None,
            numbers: Box::default(),
            ended: None,
        };
        this.begin_stage();
        process().duplications.borrow_mut().push(this);
    }

    /// Goes on with all that are under way.
    pub fn advance_all() {
        process().duplications.borrow_mut().iter_mut().for_each(Duplication::advance);
    }

    /// The error with which that of a step ended, if it has; it is forgotten then.
    pub fn ended(step: usize) -> Option<c_int> {
        let mut all = process().duplications.borrow_mut();
        let place = all.iter().position(|one| one.step == step && one.ended.is_some())?;
        all.remove(place).ended
    }

    fn begin_stage(&mut self) {
        let rank = self.communicator.rank;
        *self.numbers = [(rank + self.stage) as c_int, -1];
        let [proposed, agreed] = self.numbers.each_mut().map(|number| (&raw mut *number).cast::<c_void>());
        let side = |buffer| Side { count: 1, datatype: Datatype::int().handle(), ..Side::none(buffer) };
        let maximum = Some(Operator::Of(Arithmetic::Max));
        let call = Described::new(Collective::Allreduce, rank, 0, maximum, side(proposed), side(agreed));
        match Operation::new(self.communicator, &call, false) {
            Ok(operation) => {
                operation.start(self.step);
                self.operation = Some(operation);
            }
            Err(error) => self.fail(error),
        }
    }

    /// Ends with an error. The stages that are left get no tags, as in MPI, so that those of this rank's later operations are not those of the
    /// other ranks'.
    fn fail(&mut self, error: c_int) {
        board::note_outcome(process().rank, self.step, error);
        self.ended = Some(error);
    }

    fn advance(&mut self) {
        let Some(error) = self.operation.as_ref().and_then(Operation::ended) else { return };
        self.operation = None;
        if error != RUSTCOLL_SUCCESS {
            return self.fail(error);
        }
        let expected = (self.communicator.members.len() - 1 + self.stage) as c_int;
        if self.numbers[1] != expected {
            exit::wrong(&format!("MPI agrees on {} for a duplicate instead of {expected}", self.numbers[1]));
        }
        self.stage += 1;
        if self.stage == STAGES {
            self.ended = Some(RUSTCOLL_SUCCESS);
        } else {
            self.begin_stage();
        }
    }
}
