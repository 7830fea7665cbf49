//! Communicators: made for one component, for fewer ranks or with a topology, and the operations on them.

use std::ffi::{CString, c_int};
use std::ops::Range;
use std::time::Duration;

use expected_results::buffers::Membership;
use mpi_sys::MPI_Comm;
use rustcoll::algorithms::{Dimension, Edge, Graph};

use crate::environment::{Error, check};
use crate::handles;
use crate::topology::{Kind, Topology};

/// The info key by which Open MPI orders the collective components of a new communicator.
const PREFERENCE: &str = "ompi_comm_coll_preference";
const TAG: c_int = 0;
const BARRIER_TAG: c_int = 1;

/// The most bytes of an info key's value.
pub const LONGEST_INFO_VALUE: usize = mpi_sys::MPI_MAX_INFO_VAL as usize - 1;

/// A communicator that returns errors. Dropping it frees it unless it is predefined.
#[derive(Debug)]
pub struct Communicator {
    handle: MPI_Comm,
    predefined: bool,
    membership: Membership,
    topology: Topology,
}

impl Communicator {
    pub(crate) fn predefined(handle: MPI_Comm) -> Result<Self, Error> {
        Self::new(handle, true)
    }

    fn made(make: impl FnOnce(*mut MPI_Comm) -> c_int) -> Result<Option<Self>, Error> {
        // SAFETY: reads a constant.
        let null = unsafe { mpi_sys::RSMPI_COMM_NULL };
        let mut handle = null;
        check(make(&mut handle))?;
        if handle == null { Ok(None) } else { Self::new(handle, false).map(Some) }
    }

    fn new(handle: MPI_Comm, predefined: bool) -> Result<Self, Error> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is valid.
        unsafe {
            check(mpi_sys::MPI_Comm_set_errhandler(handle, mpi_sys::RSMPI_ERRORS_RETURN))?;
            check(mpi_sys::MPI_Comm_rank(handle, &mut rank))?;
            check(mpi_sys::MPI_Comm_size(handle, &mut size))?;
        }
        let membership = Membership::in_group(rank as usize, size as usize);
        Ok(Communicator { handle, predefined, membership, topology: Topology::default() })
    }

    /// Notes the communicator's topology.
    fn of(mut self, topology: &Topology) -> Self {
        self.topology = topology.clone();
        self
    }

    pub(crate) fn handle(&self) -> MPI_Comm {
        self.handle
    }

    /// Returns this process's rank in its group.
    pub fn rank(&self) -> usize {
        self.membership.rank
    }

    /// Returns the number of ranks in the group.
    pub fn size(&self) -> usize {
        self.membership.size
    }

    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns a communicator of the same ranks with a topology.
    pub fn with_topology(&self, topology: &Topology) -> Result<Self, Error> {
        let made = Self::made(|new| match &topology.kind {
            // SAFETY: the handle is valid.
            Kind::None => unsafe { mpi_sys::MPI_Comm_dup(self.handle, new) },
            Kind::Grid(dimensions) => self.make_grid(dimensions, new),
            Kind::Graph => self.make_graph(&topology.graph, new),
            Kind::Distributed => self.make_distributed_graph(&topology.graph, new),
        });
        Ok(made?.expect("every rank has its place").of(topology))
    }

    fn make_grid(&self, dimensions: &[Dimension], new: *mut MPI_Comm) -> c_int {
        let lengths: Vec<c_int> = dimensions.iter().map(|dimension| dimension.length as c_int).collect();
        let periods: Vec<c_int> = dimensions.iter().map(|dimension| dimension.periodic.into()).collect();
        let number = dimensions.len() as c_int;
        // SAFETY: the handle is valid and there are as many lengths and periods as dimensions.
        unsafe { mpi_sys::MPI_Cart_create(self.handle, number, lengths.as_ptr(), periods.as_ptr(), 0, new) }
    }

    fn make_graph(&self, graph: &Graph, new: *mut MPI_Comm) -> c_int {
        let edges: Vec<Vec<c_int>> = graph.all().map(|own| peers(&own.destinations)).collect();
        let ends = edges.iter().scan(0, |end, edges| {
            *end += edges.len() as c_int;
            Some(*end)
        });
        let (ends, all) = (ends.collect::<Vec<_>>(), edges.concat());
        let number = self.size() as c_int;
        // SAFETY: the handle is valid, each rank has an end, and the last of them is the number of edges.
        unsafe { mpi_sys::MPI_Graph_create(self.handle, number, ends.as_ptr(), all.as_ptr(), 0, new) }
    }

    fn make_distributed_graph(&self, graph: &Graph, new: *mut MPI_Comm) -> c_int {
        let neighbours = graph.neighbours(self.rank());
        let [sources, destinations] =
            [&neighbours.sources, &neighbours.destinations].map(|edges| peers(edges));
        let (indegree, outdegree) = (sources.len() as c_int, destinations.len() as c_int);
        let unweighted = handles::unweighted();
        // SAFETY: the handle is valid, there are as many ranks as the degrees say, and none has a weight.
        unsafe {
            mpi_sys::MPI_Dist_graph_create_adjacent(
                self.handle,
                indegree,
                sources.as_ptr(),
                unweighted,
                outdegree,
                destinations.as_ptr(),
                unweighted,
                mpi_sys::RSMPI_INFO_NULL,
                0,
                new,
            )
        }
    }

    /// Returns how many ranks both groups of an inter-communicator have, and how many the second one has; or the number of ranks
    /// in the only group, and 0.
    pub fn sizes(&self) -> (usize, usize) {
        let Membership { size, first, others, .. } = &self.membership;
        let others = others.as_ref().map_or(0, Range::len);
        (size + others, if *first == 0 { others } else { *size })
    }

    /// Returns the number of a rank of this group. Numbers count through both groups of an inter-communicator.
    pub fn number(&self, rank: usize) -> usize {
        self.membership.first + rank
    }

    /// Returns the numbers of the ranks with which this rank exchanges data: those of the other group, if there is
    /// one.
    pub fn partners(&self) -> Range<usize> {
        self.membership.partners()
    }

    /// Returns the root argument of this rank's call if the rank with number `root` is the root.
    pub(crate) fn root_argument(&self, root: usize) -> c_int {
        match &self.membership.others {
            None => root as c_int,
            Some(others) if others.contains(&root) => (root - others.start) as c_int,
            Some(_) if root == self.membership.number() => handles::ROOT,
            // SAFETY: reads a constant.
            Some(_) => unsafe { mpi_sys::RSMPI_PROC_NULL },
        }
    }

    /// Returns an inter-communicator between the ranks below `at` and the other ranks. Both groups must have ranks.
    pub fn parted(&self, at: usize) -> Result<Self, Error> {
        let is_first = self.rank() < at;
        let group = Self::made(|new| {
            // SAFETY: the handle is valid.
            unsafe { mpi_sys::MPI_Comm_split(self.handle, is_first.into(), self.rank() as c_int, new) }
        })?;
        let group = group.expect("every rank has a color");
        let leader = if is_first { at } else { 0 };
        let made = Self::made(|new| {
            // SAFETY: the handles are valid.
            unsafe { mpi_sys::MPI_Intercomm_create(group.handle, 0, self.handle, leader as c_int, TAG, new) }
        })?;
        let mut parted = made.expect("both groups have ranks");
        parted.membership.first = if is_first { 0 } else { at };
        parted.membership.others = Some(if is_first { at..self.size() } else { 0..at });
        Ok(parted)
    }

    /// Returns a duplicate that prefers the named component for its collectives.
    pub fn dup_for(&self, component: &str) -> Result<Self, Error> {
        self.dup_with(component, &[])
    }

    /// Like [`Communicator::dup_for`], with more info keys. Their values have at most [`LONGEST_INFO_VALUE`] bytes.
    pub fn dup_with(&self, component: &str, keys: &[(&str, &str)]) -> Result<Self, Error> {
        // SAFETY: reads a constant.
        let mut info = unsafe { mpi_sys::RSMPI_INFO_NULL };
        // SAFETY: MPI writes the handle.
        check(unsafe { mpi_sys::MPI_Info_create(&mut info) })?;
        for (key, value) in [(PREFERENCE, component)].iter().chain(keys) {
            let [key, value] = [key, value].map(|text| CString::new(*text).expect("no zero in a name"));
            // SAFETY: the texts are zero-terminated, and MPI copies them.
            check(unsafe { mpi_sys::MPI_Info_set(info, key.as_ptr(), value.as_ptr()) })?;
        }
        // SAFETY: both handles are valid.
        let made = Self::made(|new| unsafe { mpi_sys::MPI_Comm_dup_with_info(self.handle, info, new) });
        // SAFETY: the info is not used any more.
        check(unsafe { mpi_sys::MPI_Info_free(&mut info) })?;
        let mut made = made?.expect("a duplicate is never null").of(&self.topology);
        made.membership = self.membership.clone();
        Ok(made)
    }

    /// Returns the first `size` ranks in reverse order, so that each rank's number changes; `None` on the other ranks.
    pub fn first_reversed(&self, size: usize) -> Result<Option<Self>, Error> {
        // SAFETY: reads a constant.
        let undefined = unsafe { mpi_sys::RSMPI_UNDEFINED };
        let color = if self.rank() < size { 0 } else { undefined };
        let key = -(self.rank() as c_int);
        // SAFETY: the handle is valid.
        Self::made(|new| unsafe { mpi_sys::MPI_Comm_split(self.handle, color, key, new) })
    }

    pub fn barrier(&self) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { mpi_sys::MPI_Barrier(self.handle) })
    }

    /// Waits until all ranks have arrived, by messages alone, without a component's barrier. In round k each
    /// rank hears from the rank 2^k before it. After ceil(log2(size)) rounds all leave almost together.
    pub fn dissemination_barrier(&self) -> Result<(), Error> {
        let distances = std::iter::successors(Some(1), |distance| Some(2 * distance));
        for distance in distances.take_while(|&distance| distance < self.size()) {
            let to = (self.rank() + distance) % self.size();
            let from = (self.rank() + self.size() - distance) % self.size();
            // SAFETY: no buffer has an element.
            check(unsafe {
                mpi_sys::MPI_Sendrecv(
                    std::ptr::null(),
                    0,
                    handles::byte(),
                    to as c_int,
                    BARRIER_TAG,
                    std::ptr::null_mut(),
                    0,
                    handles::byte(),
                    from as c_int,
                    BARRIER_TAG,
                    self.handle,
                    mpi_sys::RSMPI_STATUS_IGNORE,
                )
            })?;
        }
        Ok(())
    }

    /// Waits until all ranks have arrived. Meanwhile it leaves the processor to ranks that still work.
    pub fn idle_barrier(&self) -> Result<(), Error> {
        let mut done = 0;
        // SAFETY: reads constants.
        let (mut request, ignore) = unsafe { (mpi_sys::RSMPI_REQUEST_NULL, mpi_sys::RSMPI_STATUS_IGNORE) };
        // SAFETY: the handle is valid, and the request is tested until it is complete.
        check(unsafe { mpi_sys::MPI_Ibarrier(self.handle, &mut request) })?;
        while done == 0 {
            // SAFETY: the request was started above.
            check(unsafe { mpi_sys::MPI_Test(&mut request, &mut done, ignore) })?;
            if done == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    /// Returns the root's flag.
    pub fn told_by(&self, root: usize, mut flag: bool) -> Result<bool, Error> {
        let byte: *mut bool = &mut flag;
        // SAFETY: the buffer is one byte that is 0 or 1 on all ranks.
        check(unsafe { mpi_sys::MPI_Bcast(byte.cast(), 1, handles::byte(), root as c_int, self.handle) })?;
        Ok(flag)
    }

    /// Returns the root's number.
    pub fn number_told_by(&self, root: usize, mut number: f64) -> Result<f64, Error> {
        let address = (&raw mut number).cast();
        // SAFETY: the buffer is one double on all ranks.
        check(unsafe { mpi_sys::MPI_Bcast(address, 1, handles::double(), root as c_int, self.handle) })?;
        Ok(number)
    }

    /// Whether `is_so` on all ranks.
    pub fn everywhere(&self, is_so: bool) -> Result<bool, Error> {
        Ok(self.maxima(&[f64::from(u8::from(!is_so))])? == [0.0])
    }

    /// Returns the maximum over all ranks at each index.
    pub fn maxima(&self, numbers: &[f64]) -> Result<Vec<f64>, Error> {
        let mut maxima = vec![0.0; numbers.len()];
        let count = numbers.len() as c_int;
        // SAFETY: both buffers hold `count` doubles.
        check(unsafe {
            mpi_sys::MPI_Allreduce(
                numbers.as_ptr().cast(),
                maxima.as_mut_ptr().cast(),
                count,
                handles::double(),
                handles::max(),
                self.handle,
            )
        })?;
        Ok(maxima)
    }

    /// Returns the texts of all ranks in their order on rank 0, and nothing elsewhere.
    pub fn gathered(&self, text: &str) -> Result<Vec<String>, Error> {
        if self.rank() > 0 {
            return self.send(text.as_bytes(), 0).map(|()| Vec::new());
        }
        let others = (1..self.size()).map(|rank| self.receive(rank));
        let others = others.map(|bytes| Ok(String::from_utf8_lossy(&bytes?).into_owned()));
        std::iter::once(Ok(text.to_owned())).chain(others).collect()
    }

    pub fn send(&self, bytes: &[u8], to: usize) -> Result<(), Error> {
        let count = bytes.len() as c_int;
        // SAFETY: the buffer holds `count` bytes.
        check(unsafe {
            mpi_sys::MPI_Send(bytes.as_ptr().cast(), count, handles::byte(), to as c_int, TAG, self.handle)
        })
    }

    /// Receives a message of any length.
    pub fn receive(&self, from: usize) -> Result<Vec<u8>, Error> {
        let (from, mut count) = (from as c_int, 0);
        let mut status = std::mem::MaybeUninit::uninit();
        // SAFETY: MPI writes the status and then reads it.
        unsafe {
            check(mpi_sys::MPI_Probe(from, TAG, self.handle, status.as_mut_ptr()))?;
            check(mpi_sys::MPI_Get_count(status.as_ptr(), handles::byte(), &mut count))?;
        }
        let mut bytes = vec![0; count as usize];
        let target = bytes.as_mut_ptr().cast();
        // SAFETY: the buffer holds `count` bytes.
        check(unsafe {
            mpi_sys::MPI_Recv(target, count, handles::byte(), from, TAG, self.handle, status.as_mut_ptr())
        })?;
        Ok(bytes)
    }
}

fn peers(edges: &[Edge]) -> Vec<c_int> {
    edges.iter().map(|edge| edge.peer as c_int).collect()
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // After a panic the other ranks do not join in freeing it.
        if !self.predefined && !std::thread::panicking() {
            // SAFETY: the handle was made by this and is used nowhere else.
            unsafe { mpi_sys::MPI_Comm_free(&mut self.handle) };
        }
    }
}
