//! Which ranks share a node.

use super::building_blocks::placement::Placement;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The number of each rank's node; none where nothing is known, or does not matter: then all are on one.
#[derive(Clone, Default)]
pub struct Nodes {
    of_ranks: Arc<[u32]>,
    /// Who is where, found once for all clones, if they share it.
    placement: Option<Arc<OnceLock<Arc<Placement>>>>,
}

impl Nodes {
    /// The same where the schedules of many ranks are made. Who is where is found once for all of them, and takes memory from then on.
    pub fn for_all_ranks(self) -> Nodes {
        Nodes { placement: Some(Arc::default()), ..self }
    }

    /// Where ranks share what the first of them found, if they do.
    pub(super) fn placement(&self) -> Option<&OnceLock<Arc<Placement>>> {
        self.placement.as_deref()
    }
}

impl Deref for Nodes {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.of_ranks
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.of_ranks.fmt(formatter)
    }
}

impl PartialEq for Nodes {
    fn eq(&self, other: &Nodes) -> bool {
        Arc::ptr_eq(&self.of_ranks, &other.of_ranks) || self.of_ranks == other.of_ranks
    }
}

impl Eq for Nodes {}

impl Hash for Nodes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.of_ranks.hash(state);
    }
}

impl<Numbers: Into<Arc<[u32]>>> From<Numbers> for Nodes {
    fn from(numbers: Numbers) -> Nodes {
        Nodes { of_ranks: numbers.into(), placement: None }
    }
}

impl FromIterator<u32> for Nodes {
    fn from_iter<Numbers: IntoIterator<Item = u32>>(numbers: Numbers) -> Nodes {
        Nodes::from(Arc::from_iter(numbers))
    }
}
