//! Reads machines from small TOML files.

use super::{Beyond, ByteTime, Groups, Link, Machine, Port, Processor, Shared, units};
use crate::text::error::{Fault, SourceText};
use crate::text::nearest::unknown;
use crate::text::{TextErrors, content, file_content, quantity, tables};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// All errors in the text of a machine, in its order; never empty.
pub type MachineErrors = TextErrors;

type Value<'text> = Spanned<DeValue<'text>>;

const WITHIN: &str = "within";
const BETWEEN: &str = "between";
const SHARED: &str = "shared";
const PROCESSOR: &str = "processor";
const RANKS_PER_NODE: &str = "ranks_per_node";
const TCP: &str = "tcp";
const PLACEMENT: &str = "placement";
const BLOCK: &str = "block";

const LATENCY: &str = "latency";
const GROUP_LATENCY: &str = "group_latency";
const BANDWIDTH: &str = "bandwidth";
const EXCHANGE_BANDWIDTH: &str = "exchange_bandwidth";
const NODE_BANDWIDTH: &str = "node_bandwidth";
const SINGLE_COPY_BANDWIDTH: &str = "single_copy_bandwidth";
const UNIDIRECTIONAL_LATENCY: &str = "unidirectional_latency";
const UNIDIRECTIONAL_BANDWIDTH: &str = "unidirectional_bandwidth";
const OVERHEAD: &str = "overhead";
const RECEIVE_OVERHEAD: &str = "receive_overhead";
const REPEATED_OVERHEAD: &str = "repeated_overhead";
const GAP: &str = "gap";
const EAGER_LIMIT: &str = "eager_limit";
const PACKET: &str = "packet";
const PORT: &str = "port";

const REDUCE_BANDWIDTH: &str = "reduce_bandwidth";
const COPY_BANDWIDTH: &str = "copy_bandwidth";
const FRESH_BANDWIDTH: &str = "fresh_bandwidth";
const KEPT: &str = "kept";

const BEYOND: &str = "beyond";
const RANKS: &str = "ranks";
const NODES: &str = "nodes";

const GROUPS: &str = "groups";

const OF_MACHINE: [&str; 8] = [RANKS_PER_NODE, PLACEMENT, TCP, WITHIN, BETWEEN, SHARED, PROCESSOR, GROUPS];
const OF_GROUPS: [&str; 1] = [NODES];
const OF_LINK: [&str; 15] = [
    BEYOND,
    LATENCY,
    GROUP_LATENCY,
    BANDWIDTH,
    EXCHANGE_BANDWIDTH,
    NODE_BANDWIDTH,
    UNIDIRECTIONAL_LATENCY,
    UNIDIRECTIONAL_BANDWIDTH,
    OVERHEAD,
    RECEIVE_OVERHEAD,
    REPEATED_OVERHEAD,
    GAP,
    EAGER_LIMIT,
    PACKET,
    PORT,
];
const OF_SHARED: [&str; 6] = [BEYOND, LATENCY, OVERHEAD, BANDWIDTH, NODE_BANDWIDTH, SINGLE_COPY_BANDWIDTH];
const OF_PROCESSOR: [&str; 5] = [BEYOND, REDUCE_BANDWIDTH, COPY_BANDWIDTH, FRESH_BANDWIDTH, KEPT];

/// Every key of a machine's file, by its table; those outside a table have the name "".
pub fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables: [(&str, &[&str]); 6] = [
        ("", &OF_MACHINE),
        (WITHIN, &OF_LINK),
        (BETWEEN, &OF_LINK),
        (SHARED, &OF_SHARED),
        (PROCESSOR, &OF_PROCESSOR),
        (GROUPS, &OF_GROUPS),
    ];
    let of_entries_beyond = [(WITHIN, RANKS), (BETWEEN, NODES), (SHARED, RANKS), (PROCESSOR, RANKS)];
    let of_tables = tables.into_iter().flat_map(|(table, keys)| keys.iter().map(move |key| (table, *key)));
    of_tables.chain(of_entries_beyond)
}

impl Machine {
    /// Reads a file. Fails if it cannot be read, and as [`Machine::read`] does.
    pub fn load(path: &Path) -> Result<Machine, MachineErrors> {
        Machine::read(&path.display().to_string(), &file_content(path)?)
    }

    /// Reads the content of a file; `name` is for messages. Fails if it is no text, and as [`Machine::parse`]
    /// does.
    pub fn read(name: &str, content: &[u8]) -> Result<Machine, MachineErrors> {
        Machine::parse(name, content::text(name, content)?)
    }

    /// Reads the text of a file; `name` is for messages. Fails with all its errors.
    pub fn parse(name: &str, text: &str) -> Result<Machine, MachineErrors> {
        content::check_length(name, text)?;
        let mut faults = Vec::new();
        match machine(text, &mut faults) {
            Some(machine) if faults.is_empty() => Ok(machine),
            _ => Err(SourceText::new(name, text).errors(faults)),
        }
    }
}

/// Reads a machine. Reads on after a fault, to find the others.
fn machine(text: &str, faults: &mut Vec<Fault>) -> Option<Machine> {
    let file = tables::read(text, faults)?;
    let mut machine = Table::new("a machine", 0..0, file.get_ref(), &OF_MACHINE, faults);
    let ranks_per_node = machine.optional(RANKS_PER_NODE, positive).unwrap_or(1);
    machine.optional(PLACEMENT, placement);
    let tcp = machine.truth(TCP).unwrap_or(false);
    let mut beyond = Beyond::default();
    let between = link(machine.required_table(BETWEEN, &OF_LINK), Port::Node, NODES, &mut beyond.between);
    let within = match machine.table(WITHIN, &OF_LINK) {
        Some(table) => link(Some(table), Port::Rank, RANKS, &mut beyond.within),
        None if ranks_per_node == 1 => between.map(|between| Link { port: Port::Rank, ..between }),
        None => machine.missing(WITHIN),
    };
    let shared = machine.table(SHARED, &OF_SHARED);
    let shared = shared.and_then(|table| read_shared(table, &mut beyond.shared));
    let processor = machine.table(PROCESSOR, &OF_PROCESSOR);
    let processor = processor.map(|table| read_processor(table, &mut beyond.processor)).unwrap_or_default();
    let groups = machine.table(GROUPS, &OF_GROUPS).and_then(groups);
    Some(Machine {
        ranks_per_node,
        tcp,
        within: within?,
        between: between?,
        shared,
        processor,
        beyond,
        groups,
    })
}

fn groups(mut table: Table) -> Option<Groups> {
    table.required(NODES, positive).map(|nodes| Groups { nodes, placed: None })
}

/// Reads shared memory and, into `beyond`, that of more ranks. What these omit stays as for fewer.
fn read_shared(mut table: Table, beyond: &mut Vec<(usize, Shared)>) -> Option<Shared> {
    let is_complete = table.has_latency_and_bandwidth();
    let unsaid = Shared::copying_twice(0.0, ByteTime::NONE);
    let read = table.in_stages(&OF_SHARED, RANKS, unsaid, beyond, changed_shared);
    is_complete.then_some(read)
}

/// Returns the shared memory with the parameters of the table.
fn changed_shared(table: &mut Table, shared: Shared) -> Shared {
    Shared {
        latency: table.optional(LATENCY, units::time).unwrap_or(shared.latency),
        overhead: table.optional(OVERHEAD, units::time).unwrap_or(shared.overhead),
        byte_time: table.speed(BANDWIDTH).unwrap_or(shared.byte_time),
        node_byte_time: table.speed(NODE_BANDWIDTH).unwrap_or(shared.node_byte_time),
        single_copy_time: table.speed(SINGLE_COPY_BANDWIDTH).or(shared.single_copy_time),
    }
}

/// Reads a link and, into `beyond`, those for more ranks or nodes. What these omit stays as for fewer.
fn link(table: Option<Table>, own_port: Port, of: &str, beyond: &mut Vec<(usize, Link)>) -> Option<Link> {
    let mut table = table?;
    let is_complete = table.has_latency_and_bandwidth();
    let unsaid = Link { port: own_port, ..Machine::hockney(0.0, 0.0, 0.0).between };
    let read = table.in_stages(&OF_LINK, of, unsaid, beyond, changed_link);
    is_complete.then_some(read)
}

/// Returns the link with the parameters of the table.
fn changed_link(table: &mut Table, link: Link) -> Link {
    Link {
        latency: table.optional(LATENCY, units::time).unwrap_or(link.latency),
        group_latency: table.optional(GROUP_LATENCY, units::time).unwrap_or(link.group_latency),
        byte_time: table.speed(BANDWIDTH).unwrap_or(link.byte_time),
        exchange_byte_time: table.speed(EXCHANGE_BANDWIDTH).unwrap_or(link.exchange_byte_time),
        node_byte_time: table.speed(NODE_BANDWIDTH).unwrap_or(link.node_byte_time),
        unidirectional_latency: table
            .optional(UNIDIRECTIONAL_LATENCY, units::time)
            .or(link.unidirectional_latency),
        unidirectional_byte_time: table
            .optional(UNIDIRECTIONAL_BANDWIDTH, units::byte_time)
            .or(link.unidirectional_byte_time),
        overhead: table.optional(OVERHEAD, units::time).unwrap_or(link.overhead),
        receive_overhead: table.optional(RECEIVE_OVERHEAD, units::time).or(link.receive_overhead),
        repeated_overhead: table.optional(REPEATED_OVERHEAD, units::time).or(link.repeated_overhead),
        gap: table.optional(GAP, units::time).unwrap_or(link.gap),
        eager_limit: table.optional(EAGER_LIMIT, quantity::bytes).unwrap_or(link.eager_limit),
        packet: table.optional(PACKET, packet).unwrap_or(link.packet),
        port: table.optional(PORT, port).unwrap_or(link.port),
    }
}

fn read_processor(mut table: Table, beyond: &mut Vec<(usize, Processor)>) -> Processor {
    table.in_stages(&OF_PROCESSOR, RANKS, Processor::default(), beyond, changed_processor)
}

/// Returns the processor with the parameters of the table.
fn changed_processor(table: &mut Table, processor: Processor) -> Processor {
    Processor {
        reduce_time: table.speed(REDUCE_BANDWIDTH).unwrap_or(processor.reduce_time),
        copy_time: table.speed(COPY_BANDWIDTH).unwrap_or(processor.copy_time),
        fresh_time: table.speed(FRESH_BANDWIDTH).unwrap_or(processor.fresh_time),
        kept: table.optional(KEPT, quantity::bytes).unwrap_or(processor.kept),
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
        "receiver" => Ok(Port::Receiver),
        _ => Err(unknown("owner of a port", text, ["rank", "node", "receiver"])),
    }
}

/// A table of the file. [`Table::new`] reports unknown keys.
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

    /// Reads true or false.
    fn truth(&mut self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => self.fault(value.span(), format!("`{key}` is true or false")),
        }
    }

    /// Reads a bandwidth, or a table of bandwidths by numbers of bytes.
    fn speed(&mut self, key: &'reader str) -> Option<ByteTime> {
        let value = self.get(key)?;
        let DeValue::Table(table) = value.get_ref() else {
            return self.optional(key, units::byte_time).map(ByteTime::constant);
        };
        let mut knots = Vec::new();
        for (bytes, bandwidth) in table {
            let read = quantity::bytes(bytes.get_ref());
            let bytes = read.map_err(|message| self.fault::<()>(bytes.span(), message)).ok()?.max(1);
            let text = bandwidth.get_ref().as_str().unwrap_or_default();
            let read = units::byte_time(text);
            knots.push((bytes, read.map_err(|message| self.fault::<()>(bandwidth.span(), message)).ok()?));
        }
        knots.sort_unstable_by_key(|knot| knot.0);
        let most = ByteTime::MOST_KNOTS;
        let message = || format!("`{key}` needs bandwidths at 1 to {most} different numbers of bytes");
        ByteTime::known_at(&knots).or_else(|| self.fault(value.span(), message()))
    }

    /// Whether the two keys are there that a link and shared memory need. Each missing one is a fault.
    fn has_latency_and_bandwidth(&mut self) -> bool {
        let is_there = |key| self.get(key).is_some() || self.missing::<()>(key).is_some();
        [LATENCY, BANDWIDTH].map(is_there) == [true; 2]
    }

    /// Reads parameters and, into `beyond`, those beyond numbers of ranks or nodes. What the table omits is as in `unsaid`.
    fn in_stages<T: Copy>(
        &mut self,
        known: &[&str],
        of: &str,
        unsaid: T,
        beyond: &mut Vec<(usize, T)>,
        changed: impl Fn(&mut Table, T) -> T,
    ) -> T {
        let read = changed(self, unsaid);
        *beyond = self.beyond(known, of, read, changed);
        read
    }

    /// Reads the parameters beyond numbers of ranks or nodes. What an entry omits is as in the one before.
    fn beyond<T: Copy>(
        &mut self,
        known: &[&str],
        of: &str,
        first: T,
        changed: impl Fn(&mut Table, T) -> T,
    ) -> Vec<(usize, T)> {
        let Some(value) = self.get(BEYOND) else { return Vec::new() };
        let DeValue::Array(tables) = value.get_ref() else {
            let message =
                format!("`{BEYOND}` is a list of tables: write `[[{}.{BEYOND}]]` above each", self.name);
            return self.fault::<()>(value.span(), message).map_or(Vec::new(), |()| Vec::new());
        };
        // An entry has the keys of the table, but a number in place of further entries.
        let known: Vec<&str> = known.iter().map(|&key| if key == BEYOND { of } else { key }).collect();
        let mut found: Vec<(usize, T)> = Vec::new();
        for entry in tables {
            let DeValue::Table(table) = entry.get_ref() else {
                self.fault::<()>(entry.span(), format!("`{BEYOND}` is a list of tables"));
                continue;
            };
            let mut table = Table::new(BEYOND, entry.span(), table, &known, self.faults);
            let number = table.required(of, positive).unwrap_or(usize::MAX);
            let (least, last) = found.last().map_or((0, first), |&(number, last)| (number, last));
            if number <= least {
                table.fault::<()>(entry.span(), format!("`{of}` must be more than {least}, that before it"));
            }
            found.push((number, changed(&mut table, last)));
        }
        found
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

    /// The errors of a machine whose fifth line, in a link's table, is `line`.
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
        let text = "ranks_per_node = 24\nplacement = \"block\"\ntcp = true\n\
            [within]\nlatency = \"1s\"\nbandwidth = \"4B/s\"\nport = \"node\"\n\
            [between]\nlatency = \"2s\"\nbandwidth = \"2B/s\"\nexchange_bandwidth = \"8B/s\"\nnode_bandwidth = \"4B/s\"\nunidirectional_latency = \"1s\"\n\
            unidirectional_bandwidth = \"4B/s\"\noverhead = \"3s\"\nreceive_overhead = \"2s\"\nrepeated_overhead = \"1s\"\ngap = \"4s\"\neager_limit = \"8KiB\"\npacket = \"1KiB\"\nport = \"rank\"\n\
            [[between.beyond]]\nnodes = 4\nlatency = \"8s\"\ngroup_latency = \"1s\"\n\
            [[within.beyond]]\nranks = 8\nbandwidth = { 16 = \"2B/s\", 1KiB = \"4B/s\" }\n\
            [groups]\nnodes = 180\n\
            [shared]\nlatency = \"5s\"\noverhead = \"6s\"\nbandwidth = \"32B/s\"\nnode_bandwidth = \"64B/s\"\nsingle_copy_bandwidth = \"16B/s\"\n\
            [[shared.beyond]]\nranks = 6\nlatency = \"7s\"\n\
            [processor]\nreduce_bandwidth = \"8B/s\"\ncopy_bandwidth = \"16B/s\"\n\
            fresh_bandwidth = \"2B/s\"\nkept = \"1KiB\"\n\
            [[processor.beyond]]\nranks = 12\ncopy_bandwidth = \"8B/s\"\n";
        let link = Machine::hockney(1.0, 0.25, 0.0).between;
        let between = Link {
            latency: 2.0,
            group_latency: 0.0,
            byte_time: 0.5.into(),
            exchange_byte_time: 0.125.into(),
            node_byte_time: 0.25.into(),
            unidirectional_latency: Some(1.0),
            unidirectional_byte_time: Some(0.25),
            overhead: 3.0,
            receive_overhead: Some(2.0),
            repeated_overhead: Some(1.0),
            gap: 4.0,
            eager_limit: 8 << 10,
            packet: 1 << 10,
            port: Port::Rank,
        };
        let processor = Processor {
            reduce_time: 0.125.into(),
            copy_time: 0.0625.into(),
            fresh_time: 0.5.into(),
            kept: 1 << 10,
        };
        let single_copy_time = Some((1.0 / 16.0).into());
        let (byte_time, node_byte_time) = ((1.0 / 32.0).into(), (1.0 / 64.0).into());
        let shared = Shared { latency: 5.0, overhead: 6.0, byte_time, node_byte_time, single_copy_time };
        let byte_time = ByteTime::known_at(&[(16, 0.5), (1 << 10, 0.25)]).unwrap();
        let beyond = Beyond {
            between: vec![(4, Link { latency: 8.0, group_latency: 1.0, ..between })],
            within: vec![(8, Link { byte_time, ..link })],
            shared: vec![(6, Shared { latency: 7.0, ..shared })],
            processor: vec![(12, Processor { copy_time: 0.125.into(), ..processor })],
        };
        let groups = Some(Groups { nodes: 180, placed: None });
        let expected = Machine {
            ranks_per_node: 24,
            tcp: true,
            within: link,
            between,
            shared: Some(shared),
            processor,
            beyond,
            groups,
        };
        assert_eq!(Machine::parse("file", text).unwrap(), expected);
        for (table, key) in keys() {
            let table = if table.is_empty() { "" } else { &format!("[{table}]") };
            let (_, below) = text.split_once(table).unwrap();
            assert!(below.contains(key), "{table} {key}");
        }
    }

    #[test]
    fn what_holds_for_other_numbers_is_told_with_its_place() {
        for (lines, expected) in [
            ("bandwidth = { 1KiB = \"1GB\" }", "3:22: unknown unit `GB`; the units of a bandwidth are "),
            ("bandwidth = {}", "3:13: `bandwidth` needs bandwidths at 1 to 8 different numbers of bytes"),
            ("bandwidth = { 1KiB = \"1GB/s\", 1024 = \"1GB/s\" }", "3:13: `bandwidth` needs bandwidths at "),
            (
                "bandwidth = \"1GB/s\"\nbeyond = 3",
                "4:10: `beyond` is a list of tables: write `[[between.beyond]]`",
            ),
            ("bandwidth = \"1GB/s\"\nbeyond = [3]", "4:11: `beyond` is a list of tables"),
            ("bandwidth = \"1GB/s\"\n[[between.beyond]]", "4:1: `nodes` is missing in beyond"),
            (
                "bandwidth = \"1GB/s\"\n[[between.beyond]]\nnodes = 4\n[[between.beyond]]\nnodes = 4",
                "6:1: `nodes` must be more than 4, that before it",
            ),
            ("bandwidth = \"1GB/s\"\nnodes = 3", "4:1: unknown key `nodes`; the nearest known one is "),
            (
                "bandwidth = \"1GB/s\"\n[[between.beyond]]\nnodes = 4\nranks = 4",
                "6:1: unknown key `ranks`; the nearest known one is ",
            ),
            (
                "bandwidth = \"1GB/s\"\n[processor]\nranks = 4",
                "5:1: unknown key `ranks`; the nearest known one is ",
            ),
        ] {
            let found = errors(&format!("[between]\nlatency = \"1us\"\n{lines}\n"));
            assert!(found.starts_with(&format!("file:{expected}")), "{found}");
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
