//! Machines as they are written down: a small TOML file.

use super::{Link, Machine, Port, Processor, Shared, units};
use crate::text::error::{Fault, Source};
use crate::text::nearest::unknown;
use crate::text::{TextErrors, content, file_content, quantity, tables};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// All that is wrong with the text of a machine, in its order; never empty.
pub type MachineErrors = TextErrors;

type Value<'text> = Spanned<DeValue<'text>>;

const WITHIN: &str = "within";
const BETWEEN: &str = "between";
const SHARED: &str = "shared";
const PROCESSOR: &str = "processor";
const RANKS_PER_NODE: &str = "ranks_per_node";
const PLACEMENT: &str = "placement";
const BLOCK: &str = "block";

const LATENCY: &str = "latency";
const BANDWIDTH: &str = "bandwidth";
const UNIDIRECTIONAL_LATENCY: &str = "unidirectional_latency";
const UNIDIRECTIONAL_BANDWIDTH: &str = "unidirectional_bandwidth";
const OVERHEAD: &str = "overhead";
const GAP: &str = "gap";
const EAGER_LIMIT: &str = "eager_limit";
const PACKET: &str = "packet";
const PORT: &str = "port";

const REDUCE_BANDWIDTH: &str = "reduce_bandwidth";
const COPY_BANDWIDTH: &str = "copy_bandwidth";

const OF_MACHINE: [&str; 6] = [RANKS_PER_NODE, PLACEMENT, WITHIN, BETWEEN, SHARED, PROCESSOR];
const OF_LINK: [&str; 9] = [
    LATENCY,
    BANDWIDTH,
    UNIDIRECTIONAL_LATENCY,
    UNIDIRECTIONAL_BANDWIDTH,
    OVERHEAD,
    GAP,
    EAGER_LIMIT,
    PACKET,
    PORT,
];
const OF_SHARED: [&str; 2] = [LATENCY, BANDWIDTH];
const OF_PROCESSOR: [&str; 2] = [REDUCE_BANDWIDTH, COPY_BANDWIDTH];

/// Every key of a machine's file, by its table; those outside a table have the name "".
pub fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables: [(&str, &[&str]); 5] = [
        ("", &OF_MACHINE),
        (WITHIN, &OF_LINK),
        (BETWEEN, &OF_LINK),
        (SHARED, &OF_SHARED),
        (PROCESSOR, &OF_PROCESSOR),
    ];
    tables.into_iter().flat_map(|(table, keys)| keys.iter().map(move |key| (table, *key)))
}

impl Machine {
    /// Reads a file. Fails if it cannot be read, and as [`Machine::read`] does.
    pub fn load(path: &Path) -> Result<Machine, MachineErrors> {
        Machine::read(&path.display().to_string(), &file_content(path)?)
    }

    /// Reads the content of a file; its name is for messages. Fails if it is no text, and as [`Machine::parse`] does.
    pub fn read(name: &str, content: &[u8]) -> Result<Machine, MachineErrors> {
        Machine::parse(name, content::text(name, content)?)
    }

    /// Reads the text of a file; its name is for messages. Fails with all that is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Machine, MachineErrors> {
        content::check_length(name, text)?;
        let mut faults = Vec::new();
        match machine(text, &mut faults) {
            Some(machine) if faults.is_empty() => Ok(machine),
            _ => Err(Source::new(name, text).errors(faults)),
        }
    }
}

/// Reads on after a fault, to find the others.
fn machine(text: &str, faults: &mut Vec<Fault>) -> Option<Machine> {
    let file = tables::read(text, faults)?;
    let mut machine = Table::new("a machine", 0..0, file.get_ref(), &OF_MACHINE, faults);
    let ranks_per_node = machine.optional(RANKS_PER_NODE, positive).unwrap_or(1);
    machine.optional(PLACEMENT, placement);
    let between = link(machine.required_table(BETWEEN, &OF_LINK), Port::Node);
    let within = match machine.table(WITHIN, &OF_LINK) {
        Some(table) => link(Some(table), Port::Rank),
        None if ranks_per_node == 1 => between.map(|between| Link { port: Port::Rank, ..between }),
        None => machine.missing(WITHIN),
    };
    let shared = machine.table(SHARED, &OF_SHARED).and_then(shared);
    let processor = machine.table(PROCESSOR, &OF_PROCESSOR).map(processor).unwrap_or_default();
    Some(Machine { ranks_per_node, within: within?, between: between?, shared, processor })
}

fn shared(mut table: Table) -> Option<Shared> {
    let latency = table.required(LATENCY, units::time);
    let byte_time = table.required(BANDWIDTH, units::byte_time);
    Some(Shared { latency: latency?, byte_time: byte_time? })
}

fn link(table: Option<Table>, own_port: Port) -> Option<Link> {
    let mut table = table?;
    let latency = table.required(LATENCY, units::time);
    let byte_time = table.required(BANDWIDTH, units::byte_time);
    let unidirectional_latency = table.optional(UNIDIRECTIONAL_LATENCY, units::time);
    let unidirectional_byte_time = table.optional(UNIDIRECTIONAL_BANDWIDTH, units::byte_time);
    let overhead = table.optional(OVERHEAD, units::time).unwrap_or(0.0);
    let gap = table.optional(GAP, units::time).unwrap_or(0.0);
    let eager_limit = table.optional(EAGER_LIMIT, quantity::bytes).unwrap_or(usize::MAX);
    let packet = table.optional(PACKET, packet).unwrap_or(usize::MAX);
    let port = table.optional(PORT, port).unwrap_or(own_port);
    Some(Link {
        latency: latency?,
        byte_time: byte_time?,
        unidirectional_latency,
        unidirectional_byte_time,
        overhead,
        gap,
        eager_limit,
        packet,
        port,
    })
}

fn processor(mut table: Table) -> Processor {
    Processor {
        reduce_time: table.optional(REDUCE_BANDWIDTH, units::byte_time).unwrap_or(0.0),
        copy_time: table.optional(COPY_BANDWIDTH, units::byte_time).unwrap_or(0.0),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match quantity::number(text)? {
        0 => Err("a node has at least one rank".into()),
        number => Ok(number),
    }
}

fn packet(text: &str) -> Result<usize, String> {
    match quantity::bytes(text)? {
        0 => Err("a packet has at least one byte".into()),
        bytes => Ok(bytes),
    }
}

fn placement(text: &str) -> Result<(), String> {
    if text == BLOCK { Ok(()) } else { Err(unknown("placement", text, [BLOCK])) }
}

fn port(text: &str) -> Result<Port, String> {
    match text {
        "rank" => Ok(Port::Rank),
        "node" => Ok(Port::Node),
        _ => Err(unknown("owner of a port", text, ["rank", "node"])),
    }
}

/// A table of the file, none of whose keys is unknown.
struct Table<'reader> {
    name: &'reader str,
    place: Range<usize>,
    table: &'reader DeTable<'reader>,
    faults: &'reader mut Vec<Fault>,
}

impl<'reader> Table<'reader> {
    fn new(
        name: &'reader str,
        place: Range<usize>,
        table: &'reader DeTable<'reader>,
        known: &[&str],
        faults: &'reader mut Vec<Fault>,
    ) -> Self {
        for (key, _) in table {
            let text: &str = key.get_ref().as_ref();
            if !known.contains(&text) {
                let message = unknown("key", text, known.iter().copied());
                faults.push(Fault { place: key.span(), message });
            }
        }
        Table { name, place, table, faults }
    }

    fn fault<T>(&mut self, place: Range<usize>, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault { place, message: message.into() });
        None
    }

    fn missing<T>(&mut self, key: &str) -> Option<T> {
        self.fault(self.place.clone(), format!("`{key}` is missing in {}", self.name))
    }

    fn get(&self, key: &str) -> Option<&'reader Value<'reader>> {
        self.table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    fn required<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        if self.get(key).is_some() { self.optional(key, read) } else { self.missing(key) }
    }

    /// None if the key is not there, or its value is wrong.
    fn optional<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.get(key)?;
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => return self.fault(value.span(), format!("`{key}` needs a number or a text")),
        };
        read(&text).map_err(|message| self.fault::<()>(value.span(), message)).ok()
    }

    fn required_table(&mut self, key: &'reader str, known: &[&str]) -> Option<Table<'_>> {
        if self.get(key).is_some() { self.table(key, known) } else { self.missing(key) }
    }

    /// None if the key is not there, or no table.
    fn table(&mut self, key: &'reader str, known: &[&str]) -> Option<Table<'_>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Table::new(key, value.span(), table, known, self.faults)),
            _ => self.fault(value.span(), format!("`{key}` is a table: write `[{key}]` above its keys")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, mutate};
    use crate::text::{LONGEST_TEXT, TextError};

    const BETWEEN_NODES: &str = "[between]\nlatency = \"1.1ms\"\nbandwidth = \"8Mbit/s\"\n";

    fn errors(text: &str) -> String {
        Machine::parse("file", text).unwrap_err().to_string()
    }

    /// The errors in a fifth line, one of the links' table.
    fn errors_in_link(line: &str) -> String {
        errors(&format!("# A machine\n{BETWEEN_NODES}{line}\n"))
    }

    #[test]
    fn latency_and_bandwidth_make_hockney_s_model() {
        let machine = Machine::parse("file", BETWEEN_NODES).unwrap();
        assert_eq!(machine, Machine::hockney(1.1 * 1e-3, 1e-6, 0.0));
    }

    #[test]
    fn everything_may_be_said() {
        let text = "ranks_per_node = 24\nplacement = \"block\"\n\
            [within]\nlatency = \"1s\"\nbandwidth = \"4B/s\"\nport = \"node\"\n\
            [between]\nlatency = \"2s\"\nbandwidth = \"2B/s\"\nunidirectional_latency = \"1s\"\n\
            unidirectional_bandwidth = \"4B/s\"\noverhead = \"3s\"\ngap = \"4s\"\neager_limit = \"8KiB\"\npacket = \"1KiB\"\nport = \"rank\"\n\
            [shared]\nlatency = \"5s\"\nbandwidth = \"32B/s\"\n\
            [processor]\nreduce_bandwidth = \"8B/s\"\ncopy_bandwidth = \"16B/s\"\n";
        let link = Machine::hockney(1.0, 0.25, 0.0).between;
        let between = Link {
            latency: 2.0,
            byte_time: 0.5,
            unidirectional_latency: Some(1.0),
            unidirectional_byte_time: Some(0.25),
            overhead: 3.0,
            gap: 4.0,
            eager_limit: 8 << 10,
            packet: 1 << 10,
            port: Port::Rank,
        };
        let processor = Processor { reduce_time: 0.125, copy_time: 0.0625 };
        let shared = Some(Shared { latency: 5.0, byte_time: 1.0 / 32.0 });
        let expected = Machine { ranks_per_node: 24, within: link, between, shared, processor };
        assert_eq!(Machine::parse("file", text).unwrap(), expected);
        for (table, key) in keys() {
            let table = if table.is_empty() { "" } else { &format!("[{table}]") };
            let (_, below) = text.split_once(table).unwrap();
            assert!(below.contains(key), "{table} {key}");
        }
    }

    #[test]
    fn ranks_of_a_node_need_links_of_their_own() {
        let expected = "file:1:1: `within` is missing in a machine";
        assert_eq!(errors(&format!("ranks_per_node = 2\n{BETWEEN_NODES}")), expected);
    }

    #[test]
    fn shared_memory_has_both_numbers_or_none() {
        let with = |lines: &str| errors(&format!("{BETWEEN_NODES}[shared]\n{lines}"));
        assert_eq!(with("latency = \"1us\""), "file:4:1: `bandwidth` is missing in shared");
        assert_eq!(with("bandwidth = \"1GB/s\""), "file:4:1: `latency` is missing in shared");
        assert_eq!(
            with("latency = \"1us\"\nbandwidth = \"1GB\""),
            "file:6:13: unknown unit `GB`; the units of a bandwidth are bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, \
             GB/s, KiB/s, MiB/s, GiB/s"
        );
    }

    #[test]
    fn all_faults_are_told_with_their_places() {
        let text = "ranks_per_nod = 2\nwithin = 3\n[between]\nlatency = 3\nbandwith = \"1GB/s\"\n[processor]\n\
                    copy_bandwidth = \"fast\"\n";
        assert_eq!(
            errors(text),
            "file:1:1: unknown key `ranks_per_nod`; the nearest known one is `ranks_per_node`\n\
             file:2:10: `within` is a table: write `[within]` above its keys\n\
             file:3:1: `bandwidth` is missing in between\n\
             file:4:11: `3` has no unit; the units of a time are ns, us, µs, ms, s\n\
             file:5:1: unknown key `bandwith`; the nearest known one is `bandwidth`\n\
             file:7:18: `fast` is not a bandwidth, which is a number and a unit"
        );
    }

    #[test]
    fn values_that_are_none() {
        for (line, expected) in [
            ("gap = true", "5:7: `gap` needs a number or a text"),
            ("gap = [\"1s\"]", "5:7: `gap` needs a number or a text"),
            ("overhead = -1.5", "5:12: `-1.5` is not a time, which is a number and a unit"),
            (
                "eager_limit = \"2KB\"",
                "5:15: unknown unit `KB`; the units are B, KiB, MiB and GiB, or K, M and G",
            ),
            ("packet = 0", "5:10: a packet has at least one byte"),
            ("port = \"nod\"", "5:8: unknown owner of a port `nod`; the nearest known one is `node`"),
            ("latency = \"1s\"", "5:1: duplicate key"),
        ] {
            assert_eq!(errors_in_link(line), format!("file:{expected}"));
        }
        let placed = |line: &str| errors(&format!("{line}\n{BETWEEN_NODES}"));
        assert_eq!(placed("ranks_per_node = 0"), "file:1:18: a node has at least one rank");
        assert_eq!(placed("ranks_per_node = 1.5"), "file:1:18: `1.5` is not a number");
        assert_eq!(
            placed("placement = \"cyclic\""),
            "file:1:13: unknown placement `cyclic`; the nearest known one is `block`"
        );
    }

    #[test]
    fn mutated_texts_are_refused_or_read_but_never_panic() {
        let mut random = Random(0x5eed);
        let file = include_str!("../../../machines/cray-xc40-aries.toml");
        let mut seen = [0; 2];
        for _ in 0..2000 {
            let mut text = file.as_bytes().to_vec();
            for _ in 0..1 + random.below(6) {
                mutate(&mut text, b"0123456789.KGMiBbts/u_=\"[]# \n\\", &mut random);
            }
            let read = Machine::read("file", &text);
            seen[usize::from(read.is_ok())] += 1;
            let faults = read.err().into_iter().flat_map(|errors| errors.0);
            for TextError { origin, .. } in faults {
                assert_eq!(origin.line == 0, origin.column == 0);
            }
        }
        assert!(seen.iter().all(|&times| times > 200), "{seen:?} refused and read");
    }

    #[test]
    fn what_is_no_machine() {
        assert_eq!(errors(""), "file:1:1: `between` is missing in a machine");
        assert!(errors("[between]\nlatency = 1us").starts_with("file:2:"));
        let read = |content: &[u8]| Machine::read("file", content).unwrap_err().to_string();
        assert_eq!(read(b"\x7fELF\0\0"), "file: this is not text");
        assert_eq!(read(b"\xff\xfe"), "file: this is not text");
        assert_eq!(read(&vec![b'#'; LONGEST_TEXT + 1]), "file: this is longer than 1048576 bytes");
        assert!(Machine::read("file", BETWEEN_NODES.as_bytes()).is_ok());
    }
}
