"""Collectives on a GPU's memory: mpiexec -n 4 python3 gpu.py [--times]. Needs mpi4py, CuPy, and a GPU that all ranks
share or see.

Each collective, blocking and non-blocking, has its buffers on the device on all, some or no ranks. NumPy computes the
expected results.
With --times, the program prints how long calls on the device's and on the host's memory take.
"""

import sys
import time

import cupy
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
ranks = range(size)

# Ranks with buffers on the device.
PLACES = {"no rank": lambda rank: False, "all ranks": lambda rank: True, "odd ranks": lambda rank: rank % 2 == 1, "rank 0": lambda rank: rank == 0}


def of(sender, elements, dtype, salt=0):
    """Returns a rank's data: small whole numbers, so that sums are exact in any order."""
    return ((numpy.arange(elements) * 7 + sender * 13 + salt * 5) % 50).astype(dtype)


def total(arrays):
    return numpy.sum(list(arrays), axis=0, dtype=arrays[0].dtype)


def offsets(counts):
    return [sum(counts[:rank]) for rank in range(len(counts))]


def collectives(n, dtype):
    """Yields for each collective: name, data to send, number of elements to receive, arguments, and expected result."""
    one = [of(sender, n, dtype) for sender in ranks]
    wide = [of(sender, n * size, dtype) for sender in ranks]
    mine, all_of_mine = one[rank], wide[rank]

    def block(sender, receiver):
        return wide[sender][receiver * n : (receiver + 1) * n]

    yield "Allreduce", mine, n, lambda send, recv: (send, recv), total(one)
    yield "Allgather", mine, n * size, lambda send, recv: (send, recv), numpy.concatenate(one)
    yield "Alltoall", all_of_mine, n * size, lambda send, recv: (send, recv), numpy.concatenate([block(sender, rank) for sender in ranks])
    yield "Reduce_scatter_block", all_of_mine, n, lambda send, recv: (send, recv), total([block(sender, rank) for sender in ranks])
    yield "Scan", mine, n, lambda send, recv: (send, recv), total(one[: rank + 1])
    yield "Exscan", mine, n, lambda send, recv: (send, recv), total(one[:rank]) if rank > 0 else None
    for root in {0, size - 1}:
        is_root = rank == root
        yield "Bcast", mine, 0, lambda send, recv, root=root: (send, root), None if is_root else one[root]
        yield "Reduce", mine, n, lambda send, recv, root=root: (send, recv, MPI.SUM, root), total(one) if is_root else None
        yield "Gather", mine, n * size, lambda send, recv, root=root: (send, recv, root), numpy.concatenate(one) if is_root else None
        yield "Scatter", all_of_mine, n, lambda send, recv, root=root: (send, recv, root), block(root, rank)

    # Blocks of different lengths; some are empty.
    mpi_type, width = MPI._typedict[numpy.dtype(dtype).char], numpy.dtype(dtype).itemsize
    counts = [n + other if other % 3 else 0 for other in ranks]
    some = [of(sender, counts[sender], dtype) for sender in ranks]
    yield "Allgatherv", some[rank], sum(counts), lambda send, recv: (
        [send, counts[rank], mpi_type],
        [recv, counts, offsets(counts), mpi_type],
    ), numpy.concatenate(some)

    counts = [n + other for other in ranks]
    inputs = [of(sender, sum(counts), dtype) for sender in ranks]
    own = slice(offsets(counts)[rank], offsets(counts)[rank] + counts[rank])
    yield "Reduce_scatter", inputs[rank], counts[rank], lambda send, recv: (send, recv, counts), total(inputs)[own]

    def given(sender, receiver):
        return of(sender, (sender + receiver) % 3 * n, dtype, salt=receiver)

    sent = [len(given(rank, receiver)) for receiver in ranks]
    received = [len(given(sender, rank)) for sender in ranks]
    send = numpy.concatenate([given(rank, receiver) for receiver in ranks])
    expected = numpy.concatenate([given(sender, rank) for sender in ranks])
    yield "Alltoallv", send, sum(received), lambda send, recv: (
        [send, sent, offsets(sent), mpi_type],
        [recv, received, offsets(received), mpi_type],
    ), expected
    yield "Alltoallw", send, sum(received), lambda send, recv: (
        [send, sent, [width * offset for offset in offsets(sent)], [mpi_type] * size],
        [recv, received, [width * offset for offset in offsets(received)], [mpi_type] * size],
    ), expected


def on(place, array):
    return cupy.asarray(array) if PLACES[place](rank) else array.copy()


def wait_for_device():
    cupy.cuda.Device().synchronize()


class Results:
    def __init__(self):
        self.seen = self.wrong = 0

    def check(self, what, received, expected):
        wait_for_device()
        self.seen += 1
        if not numpy.array_equal(cupy.asnumpy(received), expected):
            self.wrong += 1
            print(f"rank {rank}: {what}: {received} instead of {expected}", flush=True)


def run(results, place, n, dtype):
    for name, send, received, arguments, expected in collectives(n, dtype):
        for form in name, "I" + name.lower():
            sent, recv = on(place, send), on(place, numpy.zeros(received, dtype))
            wait_for_device()
            request = getattr(world, form)(*arguments(sent, recv))
            if request is not None:
                request.Wait()
            if expected is not None:
                what = f"{form}, {n} of {numpy.dtype(dtype)}, buffers on the device: {place}"
                results.check(what, sent if name == "Bcast" else recv, expected)
    in_place = on(place, of(rank, n, dtype))
    wait_for_device()
    world.Allreduce(MPI.IN_PLACE, in_place)
    results.check(f"Allreduce in place, {place}", in_place, total([of(sender, n, dtype) for sender in ranks]))
    several(results, place, n, dtype)
    if MPI.Get_version() >= (4, 0):
        started_again(results, place, n, dtype)


def several(results, place, n, dtype):
    """Tests calls in flight together."""
    sent = [on(place, of(rank, n, dtype, salt)) for salt in range(4)]
    recv = [on(place, numpy.zeros(n, dtype)) for _ in sent]
    wait_for_device()
    MPI.Request.Waitall([world.Iallreduce(*pair) for pair in zip(sent, recv)])
    for salt, got in enumerate(recv):
        results.check(f"four Iallreduce, {place}", got, total([of(sender, n, dtype, salt) for sender in ranks]))


def started_again(results, place, n, dtype):
    """Restarts a persistent call, each time with other data."""
    sent, recv = on(place, numpy.zeros(n, dtype)), on(place, numpy.zeros(n, dtype))
    request = world.Allreduce_init(sent, recv)
    for salt in range(3):
        sent[...] = on(place, of(rank, n, dtype, salt))
        wait_for_device()
        request.Start()
        request.Wait()
        results.check(f"Allreduce_init, {place}", recv, total([of(sender, n, dtype, salt) for sender in ranks]))
    request.Free()


def times():
    """Prints the slowest rank's least time of a call, in microseconds."""
    for name, lengths in ("Allreduce", (8, 4096, 1 << 16, 1 << 20, 1 << 24)), ("Bcast", (8, 1 << 16, 1 << 24)), ("Allgather", (8, 1 << 16, 1 << 22)), ("Alltoall", (8, 1 << 16, 1 << 22)):
        for bytes_ in lengths:
            device, host = (time_of(name, max(bytes_ // 4, 1), module) for module in (cupy, numpy))
            if rank == 0:
                print(f"{name:10} {bytes_:9} bytes: device {device:10.1f} us, host {host:10.1f} us", flush=True)


def time_of(name, n, module):
    wide, recv = module.zeros(n * size, "f"), module.zeros(n * size, "f")
    arguments = {"Allreduce": (wide[:n], recv[:n]), "Bcast": (wide[:n], 0), "Allgather": (wide[:n], recv), "Alltoall": (wide, recv)}[name]
    wait_for_device()
    repetitions = 20 if n < 1 << 18 else 3
    least = float("inf")
    for _ in range(12):
        world.Barrier()
        begin = time.perf_counter()
        for _ in range(repetitions):
            getattr(world, name)(*arguments)
        least = min(least, (time.perf_counter() - begin) / repetitions)
    return world.allreduce(least, MPI.MAX) * 1e6


if "--times" in sys.argv:
    times()
else:
    results = Results()
    for place in PLACES:
        for n, dtype in (1, "d"), (5, "f"), (1000, "d"), (70000, "i"):
            run(results, place, n, dtype)
    seen, wrong = world.allreduce(results.seen), world.allreduce(results.wrong)
    if rank == 0:
        print(f"{size} ranks: {seen} results, {wrong} wrong", flush=True)
    sys.exit(wrong != 0)
