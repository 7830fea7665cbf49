//! What a communicator's ranks know of their neighbours: each its own; once they have told each other, those of all ranks of
//! the node, and the stencil that all have in common.

use super::communicator::Communicator;
use super::planning::Refusal;
use crate::algorithms::Collective::{self, NeighborAllgather, NeighborAlltoall};
use crate::algorithms::{Cut, Graph, Nodes};
use crate::mpi::decision::schedules::Form;
use crate::mpi::decision::topology::{self, Topology};
use crate::mpi::decision::{neighbours_of_node, stencil};
use crate::mpi::messages::transport::Error;
use crate::mpi::parameters::settings::Values;
use crate::mpi::shared_memory::sharing::Teller;
use std::sync::Arc;

impl Communicator {
    /// The topology, as far as this rank knows it. Without one, MPI refuses neighbourhood collectives.
    pub(super) fn topology(&self) -> &Topology {
        // SAFETY: the handle is this communicator's.
        self.topology.get_or_init(|| unsafe { topology::topology(self.handle, self.group.rank) })
    }

    /// Returns the topology, with the neighbours of the node's ranks and the common stencil as far as the ranks know them.
    /// Fails if they failed to tell each other. Where not all ranks come to a call, some remember what was decided before
    /// they knew. Empty for collectives without neighbours.
    pub(super) fn graph(&self, collective: Collective, form: Form) -> Result<Graph, Refusal> {
        if collective.cut() != Cut::Edges {
            return Ok(Graph::default());
        }
        if !form.all_come {
            return Ok(self.topology().graph.clone());
        }
        let graph = match self.neighbours_of_node.get() {
            Some(Ok(graph)) => graph.clone(),
            Some(Err(error)) => return Err(Refusal::Error(*error)),
            None => self.topology().graph.clone(),
        };
        match self.stencil.get() {
            Some(Ok(Some(stencil))) => Ok(graph.with_stencil(Arc::clone(stencil))),
            Some(Err(error)) => Err(Refusal::Error(*error)),
            Some(Ok(None)) | None => Ok(graph),
        }
    }

    /// Lets the ranks find out once what a choice may depend on: whether their neighbours have a stencil in common, and the
    /// neighbours of all ranks of their node. All ranks must call this in the same order as their blocking collectives and
    /// initializations of persistent ones. Whether there is something to do depends neither on counts, which may be 0 at
    /// some ranks, nor on remembered calls.
    pub(super) fn learn_of_neighbours(
        &self,
        collective: Collective,
        values: Values,
        is_blocking: bool,
    ) -> Result<(), Error> {
        self.look_at_grid(collective);
        if collective.cut() != Cut::Edges || !self.all_come(collective, values, is_blocking) {
            return Ok(());
        }
        self.look_for_stencil(collective, values)?;
        self.tell_node_of_neighbours(collective, values)
    }

    /// Whether all ranks come to a collective. Open MPI itself ends these two, if they block, at ranks with counts of 0, so
    /// no rank of a graph may wait for all others. The edges of a grid connect all its ranks, whose counts are equal then.
    pub(super) fn all_come(&self, collective: Collective, values: Values, is_blocking: bool) -> bool {
        let ends_early = is_blocking && matches!(collective, NeighborAllgather | NeighborAlltoall);
        !ends_early || self.topology().is_cartesian() || values.idle_neighbours_come()
    }

    /// Notes the neighbours of all ranks if every rank knows them without messages: on a grid, if all ranks are on one node. Each
    /// rank does so before its first neighbourhood collective.
    pub(super) fn look_at_grid(&self, collective: Collective) {
        if collective.cut() != Cut::Edges || self.neighbours_of_node.get().is_some() {
            return;
        }
        let mut planning = self.planning();
        let nodes = planning.seen_nodes().filter(|nodes| nodes.number() == 1);
        if let Some((nodes, graph)) = nodes.zip(self.topology().of_all(self.group.rank)) {
            planning.note_neighbours_of_node(nodes, &graph);
            self.neighbours_of_node.get_or_init(|| Ok(graph));
        }
    }

    fn look_for_stencil(&self, collective: Collective, values: Values) -> Result<(), Error> {
        let is_settled = self.stencil.get().is_some() || self.topology().is_cartesian();
        if is_settled || !self.planning().depends_on_stencil(collective, values) {
            return Ok(());
        }
        let neighbours = self.topology().graph.neighbours(self.group.rank);
        let found = stencil::agree(&self.stencil_teller(), neighbours);
        if let Ok(Some(stencil)) = &found {
            log::info!("{}: all ranks have neighbours at the same offsets of a grid: {stencil}", self.name);
        }
        let found = self.stencil.get_or_init(|| found.map(|stencil| stencil.map(Arc::new)));
        self.forget_overlapping();
        found.as_ref().map(drop).map_err(|&error| error)
    }

    fn tell_node_of_neighbours(&self, collective: Collective, values: Values) -> Result<(), Error> {
        let is_settled = self.neighbours_of_node.get().is_some()
            || !self.planning().depends_on_neighbours_of_node(collective, values);
        if is_settled {
            return Ok(());
        }
        let teller = self.stencil_teller();
        self.planning().check_map()?;
        let known = self.planning().nodes();
        let told = known.map_or_else(|| self.exchanged_nodes(&teller), Ok).and_then(|nodes| {
            let own = self.topology().graph.neighbours(self.group.rank);
            let graph = neighbours_of_node::told(&teller, &nodes, own)?;
            self.planning().note_neighbours_of_node(nodes, &graph);
            Ok(graph)
        });
        let told = self.neighbours_of_node.get_or_init(|| told);
        self.forget_overlapping();
        told.as_ref().map(drop).map_err(|&error| error)
    }

    /// Lets the ranks exchange their nodes, without the lock, because progress may plan non-blocking calls meanwhile. Returns the
    /// map on which decisions may rest.
    pub(super) fn exchanged_nodes(&self, teller: &Teller) -> Result<Nodes, Error> {
        let told = teller.nodes()?;
        Ok(self.planning().corrected(told))
    }

    /// Notes that MPI tells now how the ranks are spread over nodes. Before, it told no rank, and decided calls without.
    pub fn look_again(&self) {
        self.planning().look_again();
        self.forget_overlapping();
    }

    /// Earlier calls may be decided otherwise now, and not all ranks remember the same calls.
    pub(super) fn forget_overlapping(&self) {
        self.overlapping().clear();
    }
}
