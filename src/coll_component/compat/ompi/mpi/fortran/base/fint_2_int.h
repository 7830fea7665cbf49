/* Open MPI's packages leave this header out although ompi/op/op.h includes it. In every supported build Fortran's
 * default integer is as wide as C's int, so both conversions are the identity. */
#ifndef RUSTCOLL_FINT_2_INT_H
#define RUSTCOLL_FINT_2_INT_H
#define OMPI_INT_2_FINT(value) (value)
#define OMPI_FINT_2_INT(value) (value)
#endif
