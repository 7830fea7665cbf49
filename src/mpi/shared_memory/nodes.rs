//! Which ranks share a node. MPI tells a rank which others are on its own node. It tells the hosts of all
//! ranks only where the launcher knows them, which need not be so at every rank. So each rank sees by itself
//! whether all are on one node. If there are several nodes, the ranks exchange theirs to get the same map,
//! once for each communicator that needs it.

use crate::algorithms::{Nodes, Problem};
use crate::engine::{Binding, Plan, bind};
use crate::hash::hash;
use crate::mpi::calls::arguments::Arguments;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::Group;
use crate::mpi::shim::bindings::*;
use crate::schedule::Schedule;
use std::cell::OnceCell;
use std::ffi::{CStr, c_void};
use std::mem::{self, Discriminant};

/// Bytes of the longest host name, with the zero byte at its end.
const LONGEST_NAME: usize = 256;

/// A number that identifies this rank's node: a hash of its host's name. Two nodes with the same number count
/// as one, which costs time and nothing else. If all nodes have the same, see [`Knowledge::corrected`].
pub fn identity() -> u64 {
    let mut name = [0; LONGEST_NAME];
    // SAFETY: the shim writes at most so many bytes and ends them with a zero byte.
    let name = unsafe {
        rustcoll_shim_host_name(name.as_mut_ptr(), name.len());
        CStr::from_ptr(name.as_ptr())
    };
    hash(name.to_bytes())
}

/// Returns a plan and its arguments that gather the numbers of all ranks at each of them. Each rank has
/// entered its own numbers.
pub fn exchange<const N: usize>(numbers: &mut [[u64; N]], rank: usize) -> (Plan, Arguments) {
    let arguments = Arguments::allgather(numbers.as_mut_ptr().cast(), size_of::<[u64; N]>());
    let (schedule, binding) = gathering(&arguments, numbers.len(), rank);
    (Plan::new(&schedule, &binding), arguments)
}

/// Returns a plan and its arguments that gather the numbers of a node's ranks at each of them. `members`: these ranks,
/// ascending. Each has as many numbers and has entered its own.
pub fn exchange_on_node(
    numbers: &mut [[u64; 1]],
    members: &[usize],
    (rank, size): (usize, usize),
) -> (Plan, Arguments) {
    let own = members.iter().position(|&member| member == rank).expect("a rank is on its node");
    let arguments = Arguments::allgather(numbers.as_mut_ptr().cast(), size_of_val(numbers) / members.len());
    let (schedule, binding) = gathering(&arguments, members.len(), own);
    (Plan::new(&schedule.embed(size, |member| members[member]), &binding), arguments)
}

/// Returns the schedule of an allgather in place, and where its blocks are.
fn gathering(arguments: &Arguments, size: usize, rank: usize) -> (Schedule, Binding) {
    let Arguments { collective, ref send, ref recv, .. } = *arguments;
    let bruck = collective.algorithm("bruck").expect("it is registered");
    let schedule = bruck.schedule(&Problem { in_place: true, radix: 2, ..Problem::new(size) }, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (schedule, binding)
}

/// Returns a plan and its arguments that broadcast the root's numbers. Each rank has room for as many.
pub fn broadcast(numbers: &mut [[u64; 1]], root: usize, (rank, size): (usize, usize)) -> (Plan, Arguments) {
    let arguments = Arguments::bcast(numbers.as_mut_ptr().cast(), size_of_val(numbers), root);
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let binomial = collective.algorithm("binomial").expect("it is registered");
    let schedule = binomial.schedule(&Problem { root, ..Problem::new(size) }, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// Returns a plan and its arguments that compute the greatest value of each number over all ranks, at all ranks.
pub fn greatest(numbers: &mut [[u64; 1]], (rank, size): (usize, usize)) -> (Plan, Arguments) {
    let arguments = Arguments::of_numbers(numbers.as_mut_ptr().cast(), numbers.len());
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let doubling = collective.algorithm("recursive_doubling").expect("it is registered");
    let schedule = doubling.schedule(&Problem { in_place: true, ..Problem::new(size) }, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// How a communicator's ranks are spread over nodes, as far as all ranks know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread<'a> {
    Unknown,
    /// There are several nodes; which ranks are on which is unknown.
    Several,
    /// The node of each rank.
    Nodes(&'a Nodes),
}

impl<'a> Spread<'a> {
    /// The node of each rank, if all ranks know it.
    pub fn nodes(self) -> Option<&'a Nodes> {
        match self {
            Spread::Nodes(nodes) => Some(nodes),
            Spread::Several | Spread::Unknown => None,
        }
    }
}

/// What is known about the nodes of a communicator's ranks.
pub struct Knowledge {
    communicator: *const c_void,
    group: Group,
    /// What this rank sees without messages, once it has looked; every rank sees the same.
    seen: OnceCell<Seen>,
    /// The nodes that the ranks exchanged, or the error with which the exchange failed at this rank.
    told: Option<Result<Nodes, Error>>,
}

/// What a rank sees of the nodes without messages.
pub enum Seen {
    Unknown,
    Several,
    One(Nodes),
}

impl Knowledge {
    pub fn new(communicator: *const c_void, group: Group) -> Knowledge {
        Knowledge { communicator, group, seen: OnceCell::new(), told: None }
    }

    /// Returns what is known. `by_telling`: also use the nodes that the ranks exchanged.
    pub fn known(&self, by_telling: bool) -> Spread<'_> {
        match (self.seen.get_or_init(|| self.look()), &self.told) {
            (Seen::One(nodes), _) => Spread::Nodes(nodes),
            (_, Some(Ok(nodes))) if by_telling => Spread::Nodes(nodes),
            (Seen::Several, _) => Spread::Several,
            (Seen::Unknown, _) => Spread::Unknown,
        }
    }

    /// Returns which kind of knowledge the ranks have, as long as they have exchanged nothing.
    pub fn untold(&self) -> Option<Discriminant<Seen>> {
        let seen = self.seen.get_or_init(|| self.look());
        self.told.is_none().then(|| mem::discriminant(seen))
    }

    /// Returns the map on which decisions may rest, from that which the ranks exchanged. If all hosts have one name
    /// although MPI knows several nodes, each rank counts as a node of its own: earlier decisions assumed several nodes,
    /// some ranks remember them, and others decide anew.
    pub fn corrected(&self, told: Nodes) -> Nodes {
        let is_contradicted = told.number() == 1 && self.known(false) == Spread::Several;
        let ranks = self.group.size;
        if is_contradicted { Nodes::even(ranks, 1, ranks) } else { told }
    }

    /// Notes the corrected map, or why this rank has none.
    pub fn note(&mut self, nodes: Result<Nodes, Error>) {
        self.told = Some(nodes);
    }

    /// Whether the ranks have exchanged their nodes, even if that failed at this rank.
    pub fn are_told(&self) -> bool {
        self.told.is_some()
    }

    /// Fails if the exchange failed at this rank.
    pub fn check(&self) -> Result<(), Error> {
        match &self.told {
            Some(Err(error)) => Err(*error),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Notes that MPI tells now how the ranks are spread, although it may not have told before.
    pub fn look_again(&mut self) {
        self.seen = OnceCell::new();
    }

    fn look(&self) -> Seen {
        if self.group.remote > 0 {
            return Seen::Unknown;
        }
        // SAFETY: the communicator outlives its state.
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
            let knowledge =
                Knowledge { communicator: std::ptr::null(), group, seen: OnceCell::from(seen), told: None };
            knowledge.corrected(Nodes::named(identities.iter().copied()))
        };
        assert_eq!(told(Seen::Several, &[5, 5, 5]), [0, 1, 2].into());
        assert_eq!(told(Seen::Several, &[5, 5, 6]), [0, 0, 1].into());
        assert_eq!(told(Seen::Unknown, &[5, 5, 5]), [0, 0, 0].into());
    }
}
