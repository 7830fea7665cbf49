//! What each algorithm does, and when others are faster.

use rustcoll::algorithms::Algorithm;
use rustcoll::algorithms::Collective::{self, *};

/// What is said of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it does.
    pub does: &'static str,
    /// When it is slower than others: as a clause: `blocks are small.`
    pub loses: Option<&'static str>,
}

/// What an algorithm does.
pub fn of_algorithm(algorithm: &Algorithm) -> Summary {
    let found = ENTRIES.iter().find(|entry| entry.is_about(algorithm));
    found.map_or(Summary { does: "", loses: None }, |entry| entry.summary)
}

/// What is said of the algorithms of one name.
struct Entry {
    name: &'static str,
    /// In which collectives; in all that no entry before is about, if there are none.
    collectives: &'static [Collective],
    summary: Summary,
}

impl Entry {
    fn is_about(&self, algorithm: &Algorithm) -> bool {
        let is_in = self.collectives.is_empty() || self.collectives.contains(&algorithm.contract());
        self.name == algorithm.name && is_in
    }
}

const fn entry(
    name: &'static str,
    collectives: &'static [Collective],
    does: &'static str,
    loses: &'static str,
) -> Entry {
    Entry { name, collectives, summary: Summary { does, loses: Some(loses) } }
}

const fn mock_up(name: &'static str, does: &'static str) -> Entry {
    Entry { name, collectives: &[], summary: Summary { does, loses: None } }
}

const REDUCE_SCATTERS: &[Collective] = &[ReduceScatter, ReduceScatterBlock];
const ALLGATHERS: &[Collective] = &[Allgather, Allgatherv];
const ALLTOALLS: &[Collective] = &[Alltoall, Alltoallv, Alltoallw];
const SCANS: &[Collective] = &[Scan, Exscan];
const NEIGHBOURS: &[Collective] =
    &[NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw];

const ON_SEVERAL_NODES_ONLY: &str = "each rank has a node of its own, or all ranks share one.";
const SHORT: &str = "vectors are short.";
const LONG: &str = "vectors are long.";
const FAR: &str = "vectors are long, for then partners that are far apart cost more than neighbours.";
const NOT_CUT: &str = "vectors are too short to be cut into segments.";
const MANY_RANKS: &str = "there are more than a few ranks.";
const SMALL_BLOCKS: &str = "blocks are small, for then what each message costs counts.";
const LATENCY: &str = "blocks are small, for the number of rounds grows with the number of ranks.";
const LARGE_TRAVEL: &str = "blocks are large, for each of them travels several times.";
const MANY_FLAGS: &str =
    "there are so many ranks that waiting for a flag of each of them costs more than some rounds.";

/// The first that is about an algorithm counts.
const ENTRIES: &[Entry] = &[
    entry("linear", ALLGATHERS, "Every rank sends its block to every other rank, all at once.", SMALL_BLOCKS),
    entry(
        "linear",
        &[Allreduce],
        "Rank 0 receives the vectors of all others, combines them in their order, and sends the result to everybody.",
        MANY_RANKS,
    ),
    entry("linear", &[Bcast], "The root sends its vector to each of the others.", MANY_RANKS),
    entry(
        "linear",
        SCANS,
        "Each rank adds its vector to what the rank before sends, and passes the sum on.",
        MANY_RANKS,
    ),
    entry(
        "linear",
        &[Gather, Gatherv],
        "Every rank sends its block straight to the root.",
        "blocks are small and each message costs the root.",
    ),
    entry(
        "linear",
        &[Scatter, Scatterv],
        "The root sends every rank its block directly.",
        "blocks are small and each message costs the root.",
    ),
    entry(
        "linear",
        NEIGHBOURS,
        "Every rank exchanges messages with all its neighbours at once.",
        "neighbours have many neighbours in common, so that blocks could be passed on.",
    ),
    entry(
        "linear",
        &[Reduce],
        "The root receives the vectors of the others one after the other and combines them.",
        MANY_RANKS,
    ),
    entry(
        "recursive_doubling",
        ALLGATHERS,
        "Partners at distance 1, 2, 4, … exchange all blocks that they have, which become twice as many in every round.",
        "the number of ranks is no power of two, or vectors are long and partners far apart.",
    ),
    entry(
        "recursive_doubling",
        &[Allreduce],
        "Partners at distance 1, 2, 4, … exchange what they have combined so far, so that it stands for twice as many ranks after every round.",
        LONG,
    ),
    entry(
        "recursive_doubling",
        &[Barrier],
        "Partners at distance 1, 2, 4, … tell each other that they have come.",
        "the number of ranks is no power of two, where dissemination needs fewer rounds.",
    ),
    entry(
        "recursive_doubling",
        SCANS,
        "Every rank sends what it has combined to the rank 1, 2, 4, … further on, so that its reach doubles in every round.",
        LONG,
    ),
    entry(
        "recursive_doubling",
        REDUCE_SCATTERS,
        "Partners at distance 1, 2, 4, … exchange those blocks that one of them, or a rank still to come, needs. The order of operands is kept.",
        LONG,
    ),
    entry(
        "bruck",
        ALLGATHERS,
        "Every rank fetches the blocks that the rank 1, k, k², … further on has collected, so that it has k times as many after every round.",
        FAR,
    ),
    entry(
        "bruck",
        &[Alltoall],
        "The distance of each block's way is written in base r. Blocks travel digit by digit, together with all others of that digit, between a rotation before and one afterwards.",
        LARGE_TRAVEL,
    ),
    entry(
        "bruck_modified",
        &[],
        "Bruck's algorithm without its rotations: blocks travel digit by digit in the other direction and arrive where they belong.",
        LARGE_TRAVEL,
    ),
    entry(
        "bruck_two_phase",
        &[],
        "First the lengths of all blocks travel by Bruck's algorithm, then the blocks do, digit by digit of the distance that they go.",
        "blocks are large, or there are few ranks, for every round is done twice.",
    ),
    entry(
        "bruck_padded",
        &[],
        "Bruck's algorithm in which every block travels as if it were as long as the longest one, which the ranks find out first.",
        "blocks are large or differ much, for one long block makes all of them long.",
    ),
    entry(
        "ring",
        ALLGATHERS,
        "The ranks form a ring. In every round each passes on to the next the block that it got last.",
        LATENCY,
    ),
    entry(
        "ring",
        &[Allreduce],
        "Blocks travel around a ring and every rank adds its part to them; then the finished blocks travel around it once more.",
        "vectors are short, for there are two rounds for each rank.",
    ),
    entry(
        "ring",
        REDUCE_SCATTERS,
        "Partial sums travel around a ring, and every rank adds its part to them, until each comes to the rank whose block it is.",
        LATENCY,
    ),
    entry(
        "ring",
        &[Barrier],
        "A token goes around the ring until all have come, and once more to tell everybody.",
        MANY_RANKS,
    ),
    entry(
        "ring_segmented",
        &[],
        "The ring in which each block travels in segments, so that one is on its way while another one is combined.",
        "latency counts, of which there is more with every segment.",
    ),
    entry(
        "neighbor_exchange",
        &[],
        "Every rank exchanges pairs of blocks with its two neighbours in turn. There must be an even number of ranks.",
        LATENCY,
    ),
    entry(
        "circulant",
        ALLGATHERS,
        "Every rank fetches blocks from ranks further on, at skips that grow to half the number of ranks, for any number of ranks.",
        FAR,
    ),
    entry(
        "circulant",
        &[Allreduce],
        "Partial sums go to ranks at skips that shrink from half the number of ranks to 1; then the finished blocks come back along the same skips.",
        SHORT,
    ),
    entry(
        "circulant",
        REDUCE_SCATTERS,
        "Partial sums go to ranks at skips that shrink from half the number of ranks to 1, and a rank is left with its own block.",
        FAR,
    ),
    entry(
        "circulant",
        &[Alltoall],
        "Every block travels the skips of which its distance is the sum; they shrink from half the number of ranks to 1.",
        LARGE_TRAVEL,
    ),
    entry(
        "gather_bcast",
        &[],
        "Rank 0 gathers all blocks along a binomial tree and broadcasts them along it.",
        "nearly any other one is at hand, for it is what they are measured by.",
    ),
    entry(
        "node_aware",
        ALLGATHERS,
        "One rank of each node gathers its node's blocks, these ranks exchange them, and each broadcasts all of them on its node.",
        "each rank has a node of its own, or all share one, or blocks are so long that broadcasting on the nodes takes longer than the network.",
    ),
    entry(
        "node_aware",
        &[Allreduce],
        "Each node reduces to one of its ranks, these combine their results, and each broadcasts the outcome on its node.",
        "vectors are long, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "node_aware",
        &[Alltoall],
        "The ranks of a node give all their blocks to one of them. These ranks exchange what goes from node to node and hand it out.",
        "blocks are long, for each is sent three times.",
    ),
    entry(
        "node_aware",
        &[Bcast],
        "The vector is spread over the node of the root, between the nodes, and over the other nodes, so that it enters each node about once.",
        "vectors are short, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "node_aware",
        REDUCE_SCATTERS,
        "Each node reduces to one of its ranks, these reduce and scatter the nodes' blocks among themselves, and each scatters on its node.",
        "each rank has a node of its own, or all share one, or vectors are very long.",
    ),
    entry(
        "node_aware_circulant",
        &[],
        "The ranks of a node share out the vector: each combines its part of it, then with ranks on the other nodes, and all collect the parts.",
        "vectors are short, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "node_aware_knomial",
        &[Bcast],
        "The vector goes down a k-nomial tree of nodes, and on each node down another one.",
        "vectors are long, for the root sends them several times.",
    ),
    entry(
        "node_aware_knomial",
        &[Reduce],
        "Vectors are combined up a k-nomial tree on each node, and then up another one of nodes.",
        "vectors are long, for the root receives them several times.",
    ),
    entry(
        "node_aware_chain",
        &[Bcast],
        "Segments of the vector go from node to node along a chain, and down a binomial tree on each of them.",
        "vectors are short or nodes many, for the last node waits for all others.",
    ),
    entry(
        "node_aware_chain",
        &[Reduce],
        "Segments are combined up a binomial tree on each node and then from node to node along a chain.",
        "vectors are short or nodes many, for the root waits for all others.",
    ),
    entry(
        "shared",
        ALLGATHERS,
        "Every rank shows its block in memory that the node shares, and copies the blocks of the others.",
        MANY_FLAGS,
    ),
    entry(
        "shared",
        ALLTOALLS,
        "Every rank shows each other one its block in memory that the node shares, and copies what the others show it.",
        MANY_FLAGS,
    ),
    entry(
        "shared",
        &[Barrier],
        "Dissemination by flags in memory that the node shares: in every round a rank raises a flag and waits for those of some others.",
        "there are so many ranks that looking at many flags takes its time.",
    ),
    entry(
        "shared",
        &[Bcast],
        "The root shows its vector in memory that the node shares, and all others copy it.",
        "many ranks read at once what one processor has in its cache.",
    ),
    entry(
        "shared",
        &[Gather],
        "Every rank shows its block in memory that the node shares, and the root copies them.",
        "there are so many ranks that the root is done long after the others.",
    ),
    entry(
        "shared",
        &[Scatter],
        "The root shows each rank its block in memory that the node shares, and they copy them.",
        "there are so many ranks that the last one waits long for its block.",
    ),
    entry(
        "shared",
        REDUCE_SCATTERS,
        "Every rank shows the others their blocks in memory that the node shares, and combines what they show of its own block.",
        MANY_FLAGS,
    ),
    entry(
        "shared",
        SCANS,
        "Every rank shows its vector in memory that the node shares, and combines those of the ranks below.",
        "there are many ranks, for the last one combines the vectors of all.",
    ),
    entry(
        "shared_flat",
        &[Allreduce],
        "Every rank shows its vector in memory that the node shares, and combines the vectors of all.",
        "vectors are long and there are more than two ranks, for then sharing out the work pays.",
    ),
    entry(
        "shared_flat",
        &[Reduce],
        "All others show their vectors to the root in memory that the node shares, and the root combines them.",
        "vectors are long and there are more than two ranks, for then sharing out the work pays.",
    ),
    entry(
        "shared_slices",
        &[Allreduce],
        "In memory that the node shares every rank combines its slice of all vectors, and copies the slices that the others have combined.",
        "vectors are short, for ranks wait for each other twice.",
    ),
    entry(
        "shared_slices",
        &[Reduce],
        "In memory that the node shares every rank combines its slice of all vectors, and the root copies the slices of the others.",
        "vectors are short, for ranks wait for each other twice.",
    ),
    entry(
        "shared_leaders",
        ALLGATHERS,
        "The ranks of a node show their blocks in shared memory. One of them exchanges these with the other nodes and shows what it gets.",
        ON_SEVERAL_NODES_ONLY,
    ),
    entry(
        "shared_leaders",
        &[Allreduce],
        "One rank of each node combines what the others there show it in shared memory. These ranks combine their results and show the outcome.",
        "vectors are long, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "shared_leaders",
        &[Barrier],
        "The ranks of a node raise flags for one of them. These ranks tell each other by messages, and raise flags in turn.",
        ON_SEVERAL_NODES_ONLY,
    ),
    entry(
        "shared_leaders",
        &[Bcast],
        "One rank of each node gets the vector along a k-nomial tree and shows it to the others there in shared memory.",
        "vectors are long, for the root sends them to several nodes.",
    ),
    entry(
        "shared_leaders",
        &[Reduce],
        "One rank of each node combines what the others there show it in shared memory. These ranks pass their sums up a k-nomial tree.",
        "vectors are long, for the root receives them from several nodes.",
    ),
    entry(
        "shared_leaders",
        REDUCE_SCATTERS,
        "One rank of each node combines what the others there show it in shared memory. These ranks reduce and scatter among themselves and show the results.",
        "blocks are long, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "shared_multi_leaders",
        ALLGATHERS,
        "Each rank sends its block to one rank of every other node. Then the ranks of a node show each other what they have in shared memory.",
        "blocks are short and nodes many, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "shared_multi_leaders",
        &[Allreduce],
        "Each rank combines a slice of what its node shows in shared memory, then with one rank of every other node, and shows the result.",
        "vectors are short, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "shared_multi_leaders",
        &[Alltoall],
        "The ranks of a node show each other their blocks in shared memory, and each sends those of all to some of the ranks elsewhere.",
        "blocks are so long that copying them takes longer than messages.",
    ),
    entry(
        "shared_multi_leaders",
        REDUCE_SCATTERS,
        "Each rank combines what its node shows for some of the ranks elsewhere in shared memory, and sends them the sums.",
        "blocks are short and nodes many, or each rank has a node of its own, or all share one.",
    ),
    entry(
        "shared_leaders_pipelined",
        &[Bcast],
        "Segments of the vector travel between one rank of each node, which shows them to the others there in shared memory.",
        NOT_CUT,
    ),
    entry(
        "shared_leaders_pipelined",
        &[Reduce],
        "One rank of each node combines what the others there show it in shared memory, and segments of the sums travel between these ranks.",
        NOT_CUT,
    ),
    entry(
        "rabenseifner",
        &[Allreduce],
        "In halves of halves the vector is reduced so that each rank has a part of the result; then the parts are collected in the same way backwards.",
        "vectors are short, or the number of ranks is just below a power of two.",
    ),
    entry(
        "rabenseifner",
        &[Reduce],
        "In halves of halves the vector is reduced so that each rank has a part of the result; then the parts are gathered at the root.",
        "vectors are short, or the number of ranks is just below a power of two.",
    ),
    entry(
        "binary_blocks",
        &[],
        "The ranks are split into blocks whose sizes are powers of two. Each block halves on its own, small blocks hand their results to larger ones, and the way back doubles.",
        "sizes of consecutive blocks are far apart, for then a rank of the smaller talks to many of the larger.",
    ),
    entry(
        "reduce_bcast",
        &[],
        "Rank 0 reduces along a binomial tree and broadcasts the result along it.",
        "messages are cheap, for recursive doubling needs half as many rounds.",
    ),
    entry(
        "recursive_multiplying",
        &[],
        "In every round groups of k ranks exchange what they have combined, each with each, so that it stands for k times as many ranks.",
        LONG,
    ),
    entry(
        "allgather_reduce",
        &[],
        "Every rank gets the vectors of all others and combines them itself.",
        "vectors are not short, for each of them travels to every rank.",
    ),
    entry(
        "spread_out",
        &[],
        "Every rank posts all its messages at once, each rank beginning with its next neighbour, so that nobody is flooded.",
        SMALL_BLOCKS,
    ),
    entry(
        "linear_window",
        &[],
        "Every rank sends each other one its block directly, but only so many messages are under way at a time.",
        "the network bears all messages at once, or blocks are small.",
    ),
    entry(
        "pairwise",
        ALLTOALLS,
        "In every round each rank exchanges blocks with one partner, with another one each time.",
        "blocks are small, and each round waits for the slowest pair.",
    ),
    entry(
        "pairwise",
        REDUCE_SCATTERS,
        "In every round each rank sends one other rank its block and combines the block that it gets itself.",
        SMALL_BLOCKS,
    ),
    entry(
        "postal",
        &[],
        "Blocks travel skips of which their distances are sums, chosen so that messages follow each other while the first ones are still under way.",
        LARGE_TRAVEL,
    ),
    entry(
        "dissemination",
        &[],
        "In round k every rank tells the rank 2^k further on, and with it about all of whom it has heard.",
        "many ranks share a network card, for all of them send in every round.",
    ),
    entry(
        "tree",
        &[],
        "Tokens come up a binomial tree to rank 0, which so knows that all have come, and go down it again.",
        "messages are cheap, for dissemination needs half as many rounds.",
    ),
    entry(
        "binomial",
        &[Bcast],
        "Every rank that has the vector sends it to one that does not, so that twice as many have it after every round.",
        "vectors are long, for the root sends them several times.",
    ),
    entry(
        "binomial",
        &[Reduce],
        "In every round half of the ranks that are left send what they have combined to one of the other half.",
        "vectors are long, for the root combines several of them one after the other.",
    ),
    entry(
        "binomial",
        &[Gather, Gatherv],
        "Every rank collects the blocks of its subtree of a binomial tree and sends them on together.",
        "blocks are large, for they are passed on instead of going straight to the root.",
    ),
    entry(
        "binomial",
        &[Scatter, Scatterv],
        "Every rank gets the blocks of its subtree of a binomial tree and passes them on.",
        "blocks are large, for they are passed on instead of coming straight from the root.",
    ),
    entry(
        "binomial_in_order",
        &[],
        "A binomial tree whose subtrees are ranges of ranks, whatever the root, so that the order of operands is kept.",
        "vectors are long, for the root combines one in every round.",
    ),
    entry(
        "knomial",
        &[Bcast],
        "A tree in which every rank has up to k − 1 children in a round: fewer rounds than with a binomial tree, but more messages for the root.",
        LONG,
    ),
    entry(
        "knomial",
        &[Reduce],
        "Vectors are combined up a tree in which every rank has up to k − 1 children in a round.",
        LONG,
    ),
    entry(
        "chain",
        &[Bcast],
        "The vector is cut into segments, and every rank passes one segment after the other on to the next rank.",
        "vectors are short or ranks many, for the last rank waits for all others.",
    ),
    entry(
        "chain",
        &[Reduce],
        "The vector is cut into segments. Each rank adds its part to what the next rank sends and passes it on towards the root.",
        "vectors are short or ranks many, for the root waits for all others.",
    ),
    entry(
        "binary",
        &[],
        "Every rank passes segment after segment on to its two children in a binary tree.",
        "vectors are short, or so long that sending everything twice counts.",
    ),
    entry(
        "binary_in_order",
        &[],
        "Vectors are combined up a binary tree: one child has the ranks just below its parent, the other those just above, which keeps the order of operands.",
        "there are no segments, for every second rank combines two vectors one after the other.",
    ),
    entry(
        "scatter_recursive_doubling_allgather",
        &[],
        "The root scatters the vector along a binomial tree, and the ranks collect its blocks again by recursive doubling.",
        "vectors are long and partners far apart, or the number of ranks is no power of two.",
    ),
    entry(
        "scatter_ring_allgather",
        &[],
        "The root scatters the vector along a binomial tree, and the blocks travel around a ring to everybody.",
        "compared with the same whose ring does not send what is already there.",
    ),
    entry(
        "scatter_ring_allgather_opt",
        &[],
        "The root scatters the vector along a binomial tree, and the blocks travel around a ring, but not to ranks that have them from the scatter.",
        SHORT,
    ),
    entry(
        "circulant_pipelined",
        &[Bcast],
        "Segments travel along a circulant graph, whose skips are used in turn, so that after the fewest possible rounds all ranks have all of them.",
        NOT_CUT,
    ),
    entry(
        "circulant_pipelined",
        &[Reduce],
        "The broadcast along a circulant graph run backwards: segments of partial sums travel to the root in the fewest possible rounds.",
        NOT_CUT,
    ),
    entry(
        "recursive_halving",
        &[],
        "Partners at distance p/2, p/4, …, 1 give each other the half of the blocks that belongs to the other's side.",
        "the number of ranks is no power of two.",
    ),
    entry(
        "butterfly",
        &[],
        "Partners at distance 1, 2, 4, … halve what they have, which keeps the order of operands; in the end blocks go where they belong.",
        "the operator commutes, for then the last round can be saved.",
    ),
    entry(
        "reduce_scatter_v",
        &[],
        "Rank 0 reduces along a binomial tree and scatters the result along it.",
        "nearly any other one is at hand, for it is what they are measured by.",
    ),
    entry(
        "inter_leaders",
        &[Allgather],
        "Each group gathers at its leader, the leaders exchange, and each broadcasts the blocks of the other group.",
        "blocks are large, for the others wait while the leaders send everything.",
    ),
    entry(
        "inter_leaders",
        &[Allgatherv],
        "Every rank sends its block to the leader of the other group, who broadcasts what it gets.",
        "groups are large and blocks small, for each message costs the leaders.",
    ),
    entry(
        "inter_leaders",
        &[Allreduce],
        "Each group reduces to its leader, the leaders exchange the results, and each broadcasts that of the other group.",
        LONG,
    ),
    entry(
        "inter_leaders",
        &[Barrier],
        "Tokens come up a tree to each group's leader, the leaders exchange theirs, and tokens go down the trees again.",
        "one group is much larger than the other and could leave earlier.",
    ),
    entry(
        "inter_leaders",
        &[Bcast],
        "The root sends to the leader of the other group, who broadcasts there along a binomial tree.",
        "vectors are long and the group is large, for nobody sends while the leader waits.",
    ),
    entry(
        "inter_leaders",
        &[Gather],
        "The other group gathers at its leader along a binomial tree, and the leader sends everything to the root.",
        "blocks are large and the root could receive them directly.",
    ),
    entry(
        "inter_leaders",
        &[Reduce],
        "The other group reduces to its leader along a binomial tree, and the leader sends the result to the root.",
        LONG,
    ),
    entry(
        "inter_leaders",
        REDUCE_SCATTERS,
        "Each group reduces to its leader, the leaders exchange the results, and each scatters that of the other group.",
        LONG,
    ),
    entry(
        "inter_leaders",
        &[Scatter],
        "The root sends all blocks to the leader of the other group, who scatters them along a binomial tree.",
        "blocks are large and the root could send them directly.",
    ),
    entry(
        "inter_linear",
        ALLTOALLS,
        "Every rank exchanges blocks with every rank of the other group, all at once.",
        SMALL_BLOCKS,
    ),
    entry(
        "inter_linear",
        &[Gatherv],
        "Every rank of the other group sends its block straight to the root.",
        "blocks are small and each message costs the root.",
    ),
    entry(
        "inter_linear",
        &[Scatterv],
        "The root sends every rank of the other group its block directly.",
        "blocks are small and each message costs the root.",
    ),
    mock_up(
        "allgather_as_gather_bcast",
        "A mock-up: MPI_Gather at rank 0, then MPI_Bcast. MPI_Allgather should not be slower than that.",
    ),
    mock_up(
        "allgather_as_alltoall",
        "A mock-up: MPI_Alltoall of copies of the own block. MPI_Allgather should not be slower than that.",
    ),
    mock_up(
        "allgather_as_allreduce",
        "A mock-up: MPI_Allreduce of vectors that are zero but for the own block. MPI_Allgather should not be slower than that.",
    ),
    mock_up(
        "allgather_as_allgatherv",
        "A mock-up: MPI_Allgatherv of equal blocks. MPI_Allgather should not be slower than that.",
    ),
    mock_up(
        "allreduce_as_reduce_bcast",
        "A mock-up: MPI_Reduce to rank 0, then MPI_Bcast. MPI_Allreduce should not be slower than that.",
    ),
    mock_up(
        "allreduce_as_reducescatterblock_allgather",
        "A mock-up: MPI_Reduce_scatter_block, then MPI_Allgather. MPI_Allreduce should not be slower than that.",
    ),
    mock_up(
        "allreduce_as_reducescatter_allgatherv",
        "A mock-up: MPI_Reduce_scatter, then MPI_Allgatherv. MPI_Allreduce should not be slower than that.",
    ),
    mock_up(
        "alltoall_as_alltoallv",
        "A mock-up: MPI_Alltoallv of equal blocks. MPI_Alltoall should not be slower than that.",
    ),
    mock_up(
        "bcast_as_allgatherv",
        "A mock-up: MPI_Allgatherv in which only the root has a block. MPI_Bcast should not be slower than that.",
    ),
    mock_up(
        "bcast_as_scatter_allgather",
        "A mock-up: MPI_Scatter of the root's vector, then MPI_Allgather. MPI_Bcast should not be slower than that.",
    ),
    mock_up(
        "gather_as_allgather",
        "A mock-up: MPI_Allgather, of which only the root needs the result. MPI_Gather should not be slower than that.",
    ),
    mock_up(
        "gather_as_gatherv",
        "A mock-up: MPI_Gatherv of equal blocks. MPI_Gather should not be slower than that.",
    ),
    mock_up(
        "gather_as_reduce",
        "A mock-up: MPI_Reduce of vectors that are zero but for the own block. MPI_Gather should not be slower than that.",
    ),
    mock_up(
        "reduce_as_allreduce",
        "A mock-up: MPI_Allreduce, of which only the root needs the result. MPI_Reduce should not be slower than that.",
    ),
    mock_up(
        "reduce_as_reducescatterblock_gather",
        "A mock-up: MPI_Reduce_scatter_block, then MPI_Gather at the root. MPI_Reduce should not be slower than that.",
    ),
    mock_up(
        "reduce_as_reducescatter_gatherv",
        "A mock-up: MPI_Reduce_scatter, then MPI_Gatherv at the root. MPI_Reduce should not be slower than that.",
    ),
    mock_up(
        "reducescatterblock_as_reduce_scatter",
        "A mock-up: MPI_Reduce to rank 0, then MPI_Scatter. MPI_Reduce_scatter_block should not be slower than that.",
    ),
    mock_up(
        "reducescatterblock_as_reducescatter",
        "A mock-up: MPI_Reduce_scatter of equal blocks. MPI_Reduce_scatter_block should not be slower than that.",
    ),
    mock_up(
        "reducescatterblock_as_allreduce",
        "A mock-up: MPI_Allreduce, of which each rank needs its block only. MPI_Reduce_scatter_block should not be slower than that.",
    ),
    mock_up(
        "scan_as_exscan_reducelocal",
        "A mock-up: MPI_Exscan, to which each rank adds its own vector. MPI_Scan should not be slower than that.",
    ),
    mock_up(
        "scatter_as_bcast",
        "A mock-up: MPI_Bcast of all blocks, of which each rank needs its own. MPI_Scatter should not be slower than that.",
    ),
    mock_up(
        "scatter_as_scatterv",
        "A mock-up: MPI_Scatterv of equal blocks. MPI_Scatter should not be slower than that.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::{REGISTRY, registered};

    #[test]
    fn every_algorithm_has_a_summary() {
        for algorithm in registered() {
            let label = algorithm.title();
            let Summary { does, loses } = of_algorithm(algorithm);
            assert!(does.ends_with('.') && does.matches(". ").count() <= 1, "{label}: {does}");
            let is_clause = |loses: &str| loses.starts_with(char::is_lowercase) && loses.ends_with('.');
            assert!(loses.is_none_or(is_clause), "{label}: {loses:?}");
        }
    }

    #[test]
    fn every_algorithm_that_is_no_mock_up_loses_somewhere() {
        assert!(REGISTRY.iter().all(|algorithm| of_algorithm(algorithm).loses.is_some()));
    }

    #[test]
    fn every_entry_is_about_an_algorithm() {
        for entry in ENTRIES {
            let mut about = registered().filter(|algorithm| entry.is_about(algorithm));
            assert!(about.any(|algorithm| of_algorithm(algorithm) == entry.summary), "{}", entry.name);
        }
    }
}
