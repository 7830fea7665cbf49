//! Simulates how MPI duplicates a communicator in the background. The ranks agree on a number by non-blocking
//! reductions. Each reduction begins once the previous one has ended, from within MPI's progress.

use std::ffi::{c_int, c_void};

use rustcoll::algorithms::Collective;
use rustcoll::shim::RUSTCOLL_SUCCESS;

use crate::board;
use crate::datatypes::{Datatype, Operator};
use crate::describe::{Described, Part, Side};
use crate::exit;
use crate::operation::Operation;
use crate::process::{Communicator, process};
use expected_results::arithmetic::Arithmetic;
use expected_results::image::Datatype as _;

/// Number of consecutive reductions.
const STAGES: usize = 3;

/// A duplication in progress.
pub struct Duplication {
    communicator: &'static Communicator,
    /// The step that began the duplication.
    pub step: usize,
    stage: usize,
    operation: Option<Operation>,
    /// This rank's proposal, and the agreed number.
    numbers: Box<[c_int; 2]>,
    ended: Option<c_int>,
}

impl Duplication {
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

    /// Advances all duplications in progress. Like Open MPI, does nothing if one of them lets MPI make progress meanwhile.
    pub fn advance_all() {
        if let Ok(mut all) = process().duplications.try_borrow_mut() {
            all.iter_mut().for_each(Duplication::advance);
        }
    }

    /// Returns the error with which a step's duplication ended, and forgets it; `None` if it has not ended.
    pub fn ended(step: usize) -> Option<c_int> {
        let mut all = process().duplications.borrow_mut();
        let place = all.iter().position(|one| one.step == step && one.ended.is_some())?;
        all.remove(place).ended
    }

    fn begin_stage(&mut self) {
        let rank = self.communicator.membership.rank;
        *self.numbers = [(rank + self.stage) as c_int, -1];
        let [proposed, agreed] = self.numbers.each_mut().map(|number| (&raw mut *number).cast::<c_void>());
        let side = |buffer| Side { count: 1, datatype: Datatype::int().handle(), ..Side::none(buffer) };
        let maximum = Some(Operator::Of(Arithmetic::Max));
        let part = Part::in_group(Collective::Allreduce, rank, 0);
        let call = Described::new(Collective::Allreduce, part, maximum, side(proposed), side(agreed));
        match Operation::new(self.communicator, &call, false) {
            Ok(operation) => {
                operation.start(self.step);
                self.operation = Some(operation);
            }
            Err(error) => self.fail(error),
        }
    }

    /// Ends with an error. As in MPI, the remaining stages get no tags, so this rank's later operations have
    /// other tags than those of the other ranks.
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
