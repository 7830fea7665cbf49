//! Which ranks share a node. MPI tells a rank only which others are on its own, and the hosts of all where the
//! launcher knows them, which need not be so at every rank. So each rank sees by itself whether all are on one node. For
//! all to come to the same map of several they tell each other, once for each communicator that needs it.

use crate::algorithms::{Nodes, Problem};
use crate::engine::Plan;
use crate::engine::bind;
use crate::hash::hash;
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::messages::work::Group;
use crate::mpi::shim::bindings::*;
use std::cell::OnceCell;
use std::ffi::{CStr, c_void};

/// The longest name of a host, its end included.
const LONGEST_NAME: usize = 256;

/// What tells this rank's node from others: a number made of its host's name. Should two have the same one, they pass
/// for one node, which costs time and nothing else. Should all have, see [`Knowledge::note`].
pub fn identity() -> u64 {
    let mut name = [0; LONGEST_NAME];
    // SAFETY: the shim writes at most so many bytes and ends them with a zero byte.
    let name = unsafe {
        rustcoll_shim_host_name(name.as_mut_ptr(), name.len());
        CStr::from_ptr(name.as_ptr())
    };
    hash(name.to_bytes())
}

/// How all ranks come to know some numbers of each: a plan and its arguments. Each has entered its own.
pub fn exchange<const N: usize>(numbers: &mut [[u64; N]], rank: usize) -> (Plan, Arguments) {
    let arguments = Arguments::allgather(numbers.as_mut_ptr().cast(), size_of::<[u64; N]>());
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let bruck = collective.algorithm("bruck").expect("it is registered");
    let problem = Problem { in_place: true, radix: 2, ..Problem::new(numbers.len()) };
    let schedule = bruck.schedule(&problem, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// How all ranks come to know the numbers of one: a plan and its arguments. Each has room for as many.
pub fn broadcast(numbers: &mut [[u64; 1]], root: usize, (rank, size): (usize, usize)) -> (Plan, Arguments) {
    let arguments = Arguments::bcast(numbers.as_mut_ptr().cast(), size_of_val(numbers), root);
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let binomial = collective.algorithm("binomial").expect("it is registered");
    let schedule = binomial.schedule(&Problem { root, ..Problem::new(size) }, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// How all ranks come to know the greatest of each of their numbers: a plan and its arguments.
pub fn greatest(numbers: &mut [[u64; 1]], (rank, size): (usize, usize)) -> (Plan, Arguments) {
    let arguments = Arguments::of_numbers(numbers.as_mut_ptr().cast(), numbers.len());
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let doubling = collective.algorithm("recursive_doubling").expect("it is registered");
    let schedule = doubling.schedule(&Problem { in_place: true, ..Problem::new(size) }, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// Over which nodes a communicator's ranks are spread, as far as all ranks know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread<'a> {
    /// Nothing.
    Unknown,
    /// There are several, and that is all.
    Several,
    /// Each rank's.
    Nodes(&'a Nodes),
}

/// How a communicator comes to know its ranks' nodes.
pub struct Knowledge {
    /// Its handle.
    communicator: *const c_void,
    group: Group,
    /// What every rank sees by itself, once it has looked.
    seen: OnceCell<Seen>,
    /// What the ranks told each other.
    told: Option<Nodes>,
}

enum Seen {
    Unknown,
    Several,
    One(Nodes),
}

impl Knowledge {
    /// Nobody has looked yet.
    pub fn new(communicator: *const c_void, group: Group) -> Knowledge {
        Knowledge { communicator, group, seen: OnceCell::new(), told: None }
    }

    /// What may be known; `by_telling`: also from what the ranks told each other.
    pub fn known(&self, by_telling: bool) -> Spread<'_> {
        match (self.seen.get_or_init(|| self.look()), &self.told) {
            (Seen::One(nodes), _) => Spread::Nodes(nodes),
            (_, Some(nodes)) if by_telling => Spread::Nodes(nodes),
            (Seen::Several, _) => Spread::Several,
            (Seen::Unknown, _) => Spread::Unknown,
        }
    }

    /// Notes what the ranks told each other. Where all hosts have one name though MPI knows several nodes, each rank
    /// passes for a node of its own: what was decided because there are several must hold on, for some ranks remember it
    /// and others decide anew.
    pub fn note(&mut self, told: Nodes) {
        let is_contradicted = told.number() == 1 && self.known(false) == Spread::Several;
        let ranks = self.group.size;
        self.told = Some(if is_contradicted { Nodes::even(ranks, 1, ranks) } else { told });
    }

    fn look(&self) -> Seen {
        if self.group.remote > 0 {
            return Seen::Unknown;
        }
        // SAFETY: the communicator lives longer than what is kept for it.
        match unsafe { rustcoll_shim_spread(self.communicator) } {
            RUSTCOLL_ON_ONE_NODE => Seen::One(Nodes::one(self.group.size)),
            RUSTCOLL_ON_SEVERAL_NODES => Seen::Several,
            _ => Seen::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_name_do_not_make_one_node_of_several() {
        let told = |seen, identities: &[u64]| {
            let group = Group { rank: 0, size: identities.len(), remote: 0 };
            let mut knowledge =
                Knowledge { communicator: std::ptr::null(), group, seen: OnceCell::from(seen), told: None };
            knowledge.note(Nodes::named(identities.iter().copied()));
            knowledge.told.unwrap()
        };
        assert_eq!(told(Seen::Several, &[5, 5, 5]), [0, 1, 2].into());
        assert_eq!(told(Seen::Several, &[5, 5, 6]), [0, 0, 1].into());
        assert_eq!(told(Seen::Unknown, &[5, 5, 5]), [0, 0, 0].into());
    }
}
