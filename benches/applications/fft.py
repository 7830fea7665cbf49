"""Three-dimensional Fourier transforms, forward and back, of 48³ numbers in slabs: an alltoallw for each."""

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
transform = PFFT(world, [48, 48, 48], axes=(0, 1, 2), dtype=numpy.float64, slab=True)
field = newDistArray(transform, False)
field[:] = numpy.random.default_rng(world.rank).random(field.shape)
start = field.copy()
for repetition in range(60):
    field = transform.backward(transform.forward(field), field)
error = world.allreduce(float(numpy.abs(field - start).max()), MPI.MAX)
if world.rank == 0:
    print("the field is as at first:", error < 1e-10)
