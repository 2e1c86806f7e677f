! ring.F90: the same recorder under Fortran, whose MPI calls go another way into the library.
program ring
#ifdef USE_fortran_08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
#else
  use mpi
  implicit none
  integer :: requests(2), half
#endif
  integer :: rank, size, next, before, code, value, got, parts(2), both(2)
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  value = rank
  call MPI_Sendrecv(value, 1, MPI_INTEGER, next, 5, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, code)
  call MPI_Irecv(got, 1, MPI_INTEGER, before, 6, MPI_COMM_WORLD, requests(1), code)
  call MPI_Isend(value, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  parts = rank
  call MPI_Allreduce(parts, both, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, code)
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, half, code)
  print *, 'rank', rank, 'got', got, 'sum', both(1)
  call MPI_Finalize(code)
end program ring
