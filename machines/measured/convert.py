#!/usr/bin/env python3
"""Writes published times of collectives as `rustcoll validate` and `rustcoll fit` read them.

    convert.py leonardo TIMES.csv > leonardo.csv
    convert.py summit TIMES.csv > summit.csv

TIMES.csv holds the published medians: collective, nodes, ranks_per_node, bytes, algorithm, median_us, and run (leonardo) or ranks
(summit). Algorithms that rustcoll has get its names. The others stand with their own name alone, and are not predicted.
"""
import csv
import sys

COLUMNS = ["collective", "algorithm", "ranks", "bytes", "microseconds", "radix", "ranks_per_node", "run", "time", "published_as"]
# Summit's times are of no algorithm that is cut into segments.
FURTHER_COLUMNS = {"leonardo": ["segment"], "summit": []}

# The names of Open MPI's algorithms here, with their radix. None are here that cut vectors into segments, nor those that make a datatype in
# every step, as alltoall's 3 and allgatherv's 2 and 4 do: for short blocks that takes longer than the step.
OPEN_MPI = {
    "allgather": {2: "bruck", 3: "recursive_doubling", 4: "ring", 5: "neighbor_exchange", 6: "recursive_doubling"},
    "allgatherv": {3: "ring", 5: "recursive_doubling"},
    # Without segments, 5 is the ring too.
    "allreduce": {1: "linear", 3: "recursive_doubling", 4: "ring", 5: "ring", 6: "rabenseifner"},
    # Without a limit of requests, 4 is 1 but for the order of its posts.
    "alltoall": {1: "spread_out", 2: "pairwise", 4: "spread_out", 5: "pairwise"},
    # 1 begins at rank 0 at all ranks, which none of ours does.
    "alltoallv": {2: "pairwise"},
    "bcast": {1: "linear", 3: "chain", 5: "binary", 6: "binomial", 7: "knomial", 8: "scatter_recursive_doubling_allgather",
              9: "scatter_ring_allgather"},
    "reduce_scatter": {2: "recursive_halving", 3: "ring", 4: "butterfly"},
}
RADIX = {"bruck": 2, "knomial": 4}

LEONARDO = {
    ("allgather", "recursive_doubling_ompi"): "recursive_doubling",
    ("allgather", "recursive_doubling_over"): "recursive_doubling",
    ("allgather", "ring_ompi"): "ring",
    ("allgather", "ring_over"): "ring",
    ("allgather", "neighbor_ompi"): "neighbor_exchange",
    # The others of Bine permute the vector, send each block by itself, or double from near to far.
    ("allgather", "bine_send_remap_over"): "bine",
    ("allgather", "sparbit_over"): "sparbit",
    ("allreduce", "recursive_doubling_ompi"): "recursive_doubling",
    ("allreduce", "recursive_doubling_over"): "recursive_doubling",
    ("allreduce", "rabenseifner_ompi"): "rabenseifner",
    ("allreduce", "rabenseifner_over"): "rabenseifner",
    ("allreduce", "ring_ompi"): "ring",
    ("allreduce", "ring_over"): "ring",
    # From near to far, ours from far to near: the same messages in another order.
    ("allreduce", "bine_lat_over"): "bine",
    ("allreduce", "bine_bdw_remap_over"): "bine_halves",
    ("alltoall", "linear_ompi"): "spread_out",
    ("alltoall", "linear_sync_ompi"): "spread_out",
    ("alltoall", "pairwise_ompi"): "pairwise",
    ("bcast", "binary_ompi"): "binary",
    ("bcast", "binomial_ompi"): "binomial",
    # `bine_lat_new_over` waits for each send before the next one; `bine_lat_over` is another tree, from near to far.
    ("bcast", "bine_lat_i_new_over"): "bine",
    ("bcast", "knomial_ompi"): "knomial",
    ("bcast", "scatter_allgather_ompi"): "scatter_recursive_doubling_allgather",
    ("bcast", "scatter_allgather_over"): "scatter_recursive_doubling_allgather",
    ("bcast", "scatter_allgather_ring_ompi"): "scatter_ring_allgather",
    ("gather", "binomial_ompi"): "binomial",
    ("gather", "linear_ompi"): "linear",
    ("gather", "bine_over"): "bine",
    ("reduce", "binomial_ompi"): "binomial",
    ("reduce", "in_order_ompi"): "binary_in_order",
    ("reduce", "linear_ompi"): "linear",
    ("reduce", "rabenseifner_ompi"): "rabenseifner",
    ("reduce", "bine_lat_over"): "bine",
    ("reduce", "bine_bdw_over"): "bine_halves",
    ("reduce_scatter", "recursive_halving_ompi"): "recursive_halving",
    ("reduce_scatter", "recursive_halving_over"): "recursive_halving",
    ("reduce_scatter", "recursive_distance_doubling_over"): "butterfly",
    ("reduce_scatter", "bine_send_remap_over"): "bine",
    ("reduce_scatter", "ring_ompi"): "ring",
    ("reduce_scatter", "ring_over"): "ring",
    ("scatter", "binomial_ompi"): "binomial",
    ("scatter", "bine_over"): "bine",
    ("scatter", "linear_ompi"): "linear",
    ("scatter", "linear_nb_ompi"): "linear",
}

# Bine halving in segments, with their length in bytes behind it. One without a length takes 1.6 us more for each rank.
SEGMENTED = "bine_bdw_remap_segmented_over_"
# Vectors in more segments take too long to be simulated.
MOST_SEGMENTS = 512

HEADS = {
    "leonardo": """\
# Times of collectives on Leonardo (CINECA), booster nodes: one 32-core Ice Lake, 4 x HDR100, Dragonfly+. Open MPI 4.1.6 (5.0.7 in the
# runs of May 2025).
# From HLC-Lab/pico, MIT licence: what was measured for "PICO" (arXiv 2508.16809) and "Bine trees" (SC'25, arXiv 2508.17311).
# A time is the median over calls of the slowest rank's, by its own clock, with a barrier before each call.
""",
    "summit": """\
# Times of collectives on Summit (ORNL): POWER9, 42 ranks a node, 2 x EDR, fat tree. Open MPI's development version of May 2020.
# From naughtont3/ompi-collectives-tuning, Open MPI's licence (BSD): OSU's benchmarks 5.6.2, --map-by ppr:42:node.
# A time is the mean over ranks, and that of two runs. Gather, scatter and reduce have none that can be predicted: in OSU's loop most of
# their ranks do not wait for the others.
""",
}


def blocks(collective, ranks):
    """By how much Leonardo's bytes, those of the whole vector, are more than ours."""
    return ranks if collective in ("allgather", "alltoall", "gather", "scatter") else 1


# Of fewer elements than ranks, Open MPI carries these out by another algorithm, and what is scattered has empty blocks, whose messages stay away
# here but not in a prediction.
NEED_AN_ELEMENT_FOR_EACH_RANK = {("allreduce", "ring"), ("allreduce", "rabenseifner"), ("allreduce", "bine_halves"),
                                 ("bcast", "scatter_ring_allgather"),
                                 ("bcast", "scatter_recursive_doubling_allgather"), ("reduce_scatter", "recursive_halving"),
                                 ("reduce_scatter", "ring"), ("reduce_scatter", "butterfly"),
                                 ("reduce_scatter", "bine"), ("reduce", "bine_halves")}


# Off powers of two these do something else there: whole vectors go to the rank of a pair that goes on, or all ranks take part.
FOLD_OTHERWISE = {("allgather", "recursive_doubling"), ("allreduce", "bine_halves")}


def has_too_few(collective, name, elements, ranks):
    return (collective, name) in NEED_AN_ELEMENT_FOR_EACH_RANK and elements < ranks


def leonardo(row):
    # The times of this run are those of four ranks on four nodes: recursive doubling takes two steps, the ring three.
    if row["run"] == "2025_03_20___12_52_50":
        row["ranks_per_node"] = "1"
    ranks = int(row["nodes"]) * int(row["ranks_per_node"])
    name, segment = LEONARDO.get((row["collective"], row["algorithm"]), ""), ""
    length = row["algorithm"].removeprefix(SEGMENTED)
    if length != row["algorithm"] and int(row["bytes"]) <= MOST_SEGMENTS * int(length):
        name, segment = "bine_halves", length
    if (row["collective"], name) in FOLD_OTHERWISE and ranks & (ranks - 1):
        name = ""
    parts = blocks(row["collective"], ranks)
    byte_count = int(row["bytes"])
    # Elements have four bytes: of fewer, blocks are empty.
    if byte_count < 4 * parts or has_too_few(row["collective"], name, byte_count // 4, ranks):
        name = ""
    return name, ranks, round(byte_count / parts), row["run"], "slowest", segment if name else ""


def summit(row):
    ranks, number = int(row["ranks"]), int(row["algorithm"])
    name = OPEN_MPI.get(row["collective"], {}).get(number, "")
    byte_count = int(row["bytes"])
    # OSU's elements are floats in reductions, else characters.
    element = 4 if row["collective"] in ("allreduce", "reduce_scatter") else 1
    if has_too_few(row["collective"], name, byte_count // element, ranks):
        name = ""
    blocks = ranks if row["collective"] == "allgatherv" else 1
    return name, ranks, byte_count * blocks, "", "mean"


def main(machine, times):
    print(HEADS[machine], end="")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS + FURTHER_COLUMNS[machine])
    convert = {"leonardo": leonardo, "summit": summit}[machine]
    for row in csv.DictReader(open(times, encoding="utf-8")):
        if float(row["median_us"]) <= 0:
            continue
        name, ranks, byte_count, run, time, *further = convert(row)
        radix = RADIX.get(name, "")
        out.writerow([row["collective"], name, ranks, byte_count, row["median_us"], radix, row["ranks_per_node"], run, time,
                      row["algorithm"], *further])


main(*sys.argv[1:])
