//! The machines whose files come with rustcoll.

use super::Machine;

/// A machine's file.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// The file's name in `machines/`, without `.toml`.
    pub name: &'static str,
    /// Its title in lists.
    pub title: &'static str,
    text: &'static str,
}

/// All machines that come with rustcoll.
pub const SHIPPED: [Shipped; 6] = [
    Shipped {
        name: "infiniband-edr",
        title: "InfiniBand EDR, 32 ranks on each node",
        text: include_str!("../../../machines/infiniband-edr.toml"),
    },
    Shipped {
        name: "leonardo",
        title: "Leonardo (CINECA), HDR100, 32 ranks on each node",
        text: include_str!("../../../machines/leonardo.toml"),
    },
    Shipped {
        name: "summit",
        title: "Summit (ORNL), EDR, 42 ranks on each node",
        text: include_str!("../../../machines/summit.toml"),
    },
    Shipped {
        name: "cray-xc40-aries",
        title: "Cray XC40, Aries, 32 ranks on each node",
        text: include_str!("../../../machines/cray-xc40-aries.toml"),
    },
    Shipped {
        name: "t3e-like",
        title: "Like a Cray T3E",
        text: include_str!("../../../machines/t3e-like.toml"),
    },
    Shipped {
        name: "emulated",
        title: "An emulated cluster, 1 ms, 100 Mbit/s",
        text: include_str!("../../../machines/emulated.toml"),
    },
];

impl Shipped {
    /// The machine of this name, if there is one.
    pub fn named(name: &str) -> Option<Shipped> {
        SHIPPED.into_iter().find(|shipped| shipped.name == name)
    }

    /// The machine that the file describes.
    pub fn machine(&self) -> Machine {
        Machine::parse(self.name, self.text).unwrap_or_else(|errors| panic!("{errors}"))
    }
}
