! A program in Fortran that knows nothing of rustcoll.
program user
  use mpi
  implicit none
  integer :: error, rank, ranks, total, mine, vector(10)
  logical :: wrong
  wrong = .false.
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = rank
  call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong .or. total /= ranks * (ranks - 1) / 2
  call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  wrong = wrong .or. mine /= ranks * (ranks - 1) / 2
  vector = 0
  if (rank == 0) vector = 7
  call MPI_Bcast(vector, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  wrong = wrong .or. any(vector /= 7)
  vector = rank
  call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, vector, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  wrong = wrong .or. vector(ranks) /= ranks - 1
  if (wrong) then
    print *, 'rank', rank, 'is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'all results are right'
  call MPI_Finalize(error)
end program
