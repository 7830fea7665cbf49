/* Which of MPI's own operators it defines on which datatypes (MPI 4.1, section 6.9.2). MPI refuses any other pair before it sends anything, but
 * MPI_Reduce_local would end the job in the middle of a collective. So this library leaves other pairs to MPI: as all ranks pass the same
 * operator and datatype, all of them do. */

#include "interpose.h"

enum {
    C_INTEGER = 1,
    FORTRAN_INTEGER = 2,
    FLOATING_POINT = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTES = 32,
    OF_MANY_LANGUAGES = 64,
    PAIR = 128
};

static unsigned classes_of_operator(MPI_Op operator_)
{
    const unsigned ordered = C_INTEGER | FORTRAN_INTEGER | FLOATING_POINT | OF_MANY_LANGUAGES;
    const struct {
        MPI_Op operator_;
        unsigned classes;
    } defined[] = {
        {MPI_MAX, ordered},
        {MPI_MIN, ordered},
        {MPI_SUM, ordered | COMPLEX},
        {MPI_PROD, ordered | COMPLEX},
        {MPI_LAND, C_INTEGER | LOGICAL},
        {MPI_LOR, C_INTEGER | LOGICAL},
        {MPI_LXOR, C_INTEGER | LOGICAL},
        {MPI_BAND, C_INTEGER | FORTRAN_INTEGER | BYTES | OF_MANY_LANGUAGES},
        {MPI_BOR, C_INTEGER | FORTRAN_INTEGER | BYTES | OF_MANY_LANGUAGES},
        {MPI_BXOR, C_INTEGER | FORTRAN_INTEGER | BYTES | OF_MANY_LANGUAGES},
        {MPI_MINLOC, PAIR},
        {MPI_MAXLOC, PAIR},
    };
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++) {
        if (defined[i].operator_ == operator_) {
            return defined[i].classes;
        }
    }
    return 0;
}

/* MPI_INTEGER16 and MPI_COMPLEX32 have no class, because Intel MPI and MPICH 4.0 do not reduce them. */
static unsigned class_of_named(MPI_Datatype datatype)
{
    const struct {
        MPI_Datatype datatype;
        unsigned class;
    } named[] = {
        {MPI_INT, C_INTEGER},
        {MPI_LONG, C_INTEGER},
        {MPI_SHORT, C_INTEGER},
        {MPI_UNSIGNED_SHORT, C_INTEGER},
        {MPI_UNSIGNED, C_INTEGER},
        {MPI_UNSIGNED_LONG, C_INTEGER},
        {MPI_LONG_LONG, C_INTEGER},
        {MPI_UNSIGNED_LONG_LONG, C_INTEGER},
        {MPI_SIGNED_CHAR, C_INTEGER},
        {MPI_UNSIGNED_CHAR, C_INTEGER},
        {MPI_INT8_T, C_INTEGER},
        {MPI_INT16_T, C_INTEGER},
        {MPI_INT32_T, C_INTEGER},
        {MPI_INT64_T, C_INTEGER},
        {MPI_UINT8_T, C_INTEGER},
        {MPI_UINT16_T, C_INTEGER},
        {MPI_UINT32_T, C_INTEGER},
        {MPI_UINT64_T, C_INTEGER},
        {MPI_INTEGER, FORTRAN_INTEGER},
        {MPI_INTEGER1, FORTRAN_INTEGER},
        {MPI_INTEGER2, FORTRAN_INTEGER},
        {MPI_INTEGER4, FORTRAN_INTEGER},
        {MPI_INTEGER8, FORTRAN_INTEGER},
        {MPI_FLOAT, FLOATING_POINT},
        {MPI_DOUBLE, FLOATING_POINT},
        {MPI_LONG_DOUBLE, FLOATING_POINT},
        {MPI_REAL, FLOATING_POINT},
        {MPI_DOUBLE_PRECISION, FLOATING_POINT},
        {MPI_REAL4, FLOATING_POINT},
        {MPI_REAL8, FLOATING_POINT},
        {MPI_REAL16, FLOATING_POINT},
        {MPI_LOGICAL, LOGICAL},
        {MPI_C_BOOL, LOGICAL},
        {MPI_CXX_BOOL, LOGICAL},
        {MPI_COMPLEX, COMPLEX},
        {MPI_DOUBLE_COMPLEX, COMPLEX},
        {MPI_COMPLEX8, COMPLEX},
        {MPI_COMPLEX16, COMPLEX},
        {MPI_C_FLOAT_COMPLEX, COMPLEX},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX},
        {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX},
        {MPI_CXX_FLOAT_COMPLEX, COMPLEX},
        {MPI_CXX_DOUBLE_COMPLEX, COMPLEX},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX},
        {MPI_BYTE, BYTES},
        {MPI_AINT, OF_MANY_LANGUAGES},
        {MPI_OFFSET, OF_MANY_LANGUAGES},
        {MPI_COUNT, OF_MANY_LANGUAGES},
        {MPI_FLOAT_INT, PAIR},
        {MPI_DOUBLE_INT, PAIR},
        {MPI_LONG_INT, PAIR},
        {MPI_2INT, PAIR},
        {MPI_SHORT_INT, PAIR},
        {MPI_LONG_DOUBLE_INT, PAIR},
        {MPI_2REAL, PAIR},
        {MPI_2DOUBLE_PRECISION, PAIR},
        {MPI_2INTEGER, PAIR},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].datatype == datatype) {
            return named[i].class;
        }
    }
    return 0;
}

/* MPI's own operators are not defined on datatypes that a program makes. MPICH refuses also copies of its own datatypes. */
static unsigned class_of_datatype(MPI_Datatype datatype)
{
    switch (rustcoll_combiner(datatype)) {
    case MPI_COMBINER_NAMED:
        return class_of_named(datatype);
    case MPI_COMBINER_F90_INTEGER:
        return FORTRAN_INTEGER;
    case MPI_COMBINER_F90_REAL:
        return FLOATING_POINT;
    case MPI_COMBINER_F90_COMPLEX:
        return COMPLEX;
    default:
        return 0;
    }
}

/* Pairs that fit are remembered. Both handles are MPI's own, and mean the same as long as MPI runs. */
enum { REMEMBERED = 64 };

typedef struct pair {
    const void *operator_, *datatype;
} pair;

static _Thread_local pair remembered[REMEMBERED];

int rustcoll_fits(const rustcoll_operator *operator_, const rustcoll_datatype *datatype)
{
    if (!operator_->predefined) {
        return 1;
    }
    const uintptr_t number = (uintptr_t) operator_->handle ^ (uintptr_t) datatype->handle;
    pair *known = &remembered[(number ^ number >> 6) % REMEMBERED];
    if (known->operator_ == operator_->handle && known->datatype == datatype->handle) {
        return 1;
    }
    if (0 == (classes_of_operator(RUSTCOLL_OPERATOR(operator_->handle)) & class_of_datatype(RUSTCOLL_DATATYPE(datatype->handle)))) {
        return 0;
    }
    *known = (pair) {operator_->handle, datatype->handle};
    return 1;
}
