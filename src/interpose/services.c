/* What Rust asks of an MPI: descriptions of datatypes and operators, reductions, and facts about the process. */

#include "interpose.h"

#include <stdio.h>
#include <unistd.h>

int rustcoll_neutral(int error)
{
    int class = MPI_SUCCESS;
    if (MPI_SUCCESS != error && MPI_SUCCESS == PMPI_Error_class(error, &class) && MPI_ERR_TRUNCATE == class) {
        return RUSTCOLL_ERR_TRUNCATE;
    }
    return error;
}

int rustcoll_raise(MPI_Comm communicator, int error)
{
    error = rustcoll_error_of_mpi(error);
    PMPI_Comm_call_errhandler(MPI_COMM_NULL == communicator ? MPI_COMM_WORLD : communicator, error);
    return error;
}

#if MPI_VERSION >= 4
int rustcoll_has_large_counts(void) { return NULL != PMPI_Type_get_envelope_c; }
#endif

/* How a datatype was made, and how many arguments of each kind its constructor had. */
typedef struct envelope {
    int combiner, integers, large_counts;
} envelope;

/* Of a datatype made with large counts, MPI tells the envelope and the contents only by the functions with large counts. */

static envelope envelope_of(MPI_Datatype datatype)
{
    envelope found = {.combiner = MPI_UNDEFINED};
#if MPI_VERSION >= 4
    if (rustcoll_has_large_counts()) {
        MPI_Count integers = 0, addresses, counts = 0, datatypes;
        PMPI_Type_get_envelope_c(datatype, &integers, &addresses, &counts, &datatypes, &found.combiner);
        found.integers = (int) integers;
        found.large_counts = (int) counts;
        return found;
    }
#endif
    int addresses, datatypes;
    PMPI_Type_get_envelope(datatype, &found.integers, &addresses, &datatypes, &found.combiner);
    return found;
}

int rustcoll_combiner(MPI_Datatype datatype) { return envelope_of(datatype).combiner; }

/* Returns the datatype that another one repeats or copies, or MPI_DATATYPE_NULL. */
static MPI_Datatype part_of(MPI_Datatype datatype, envelope made)
{
    MPI_Datatype part = MPI_DATATYPE_NULL;
    MPI_Aint none;
    int count;
#if MPI_VERSION >= 4
    if (rustcoll_has_large_counts()) {
        MPI_Count large;
        PMPI_Type_get_contents_c(datatype, made.integers, 0, made.large_counts, 1, &count, &none, &large, &part);
        return part;
    }
#endif
    PMPI_Type_get_contents(datatype, made.integers, 0, 1, &count, &none, &part);
    return part;
}

static int has_no_gaps(const rustcoll_datatype *description)
{
    return (ptrdiff_t) description->size == description->extent && description->size == description->true_extent;
}

/* Whether MPI_Type_get_contents has returned a reference that must be freed. Fortran's parametrised datatypes are predefined, but MPICH
 * counts references to them. */
static int is_own_reference(int combiner)
{
#ifdef OPEN_MPI
    if (MPI_COMBINER_F90_REAL == combiner || MPI_COMBINER_F90_COMPLEX == combiner || MPI_COMBINER_F90_INTEGER == combiner) {
        return 0;
    }
#endif
    return MPI_COMBINER_NAMED != combiner;
}

/* Whether the elements that a datatype repeats or copies lie in memory without gaps, in the order in which they are sent. */
static int is_part_contiguous(MPI_Datatype datatype, envelope made)
{
    MPI_Datatype part = part_of(datatype, made);
    if (MPI_DATATYPE_NULL == part) {
        return 0;
    }
    rustcoll_datatype described;
    rustcoll_shim_describe(RUSTCOLL_OPAQUE(part), &described);
    if (is_own_reference(envelope_of(part).combiner)) {
        PMPI_Type_free(&part);
    }
    return described.contiguous;
}

/* Whether a datatype's own elements lie so. True only of datatypes that MPI has, and of copies and repetitions of these. */
static int is_contiguous(MPI_Datatype datatype, envelope made, const rustcoll_datatype *description)
{
    if (!has_no_gaps(description)) {
        return 0;
    }
    switch (made.combiner) {
    case MPI_COMBINER_NAMED:
        return 1;
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_DUP:
        return is_part_contiguous(datatype, made);
    default:
        return 0;
    }
}

/* Describes a datatype. Returns whether it is one that MPI has. */
static int describe(MPI_Datatype datatype, rustcoll_datatype *description)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Count size;
    *description = (rustcoll_datatype) {.handle = NULL};
    if (MPI_DATATYPE_NULL == datatype || MPI_SUCCESS != PMPI_Type_size_x(datatype, &size)
        || MPI_SUCCESS != PMPI_Type_get_extent(datatype, &lower, &extent)
        || MPI_SUCCESS != PMPI_Type_get_true_extent(datatype, &true_lower, &true_extent)) {
        return 0;
    }
    const envelope made = envelope_of(datatype);
    description->handle = RUSTCOLL_OPAQUE(datatype);
    description->size = (size_t) size;
    description->extent = 0 == size ? 0 : extent;
    description->true_lb = 0 == size ? 0 : true_lower;
    description->true_extent = 0 == size ? 0 : (size_t) true_extent;
    description->contiguous = is_contiguous(datatype, made, description);
    return MPI_COMBINER_NAMED == made.combiner;
}

/* Only MPI's own datatypes are remembered. Others may be freed, and their handles mean something else then. */
enum { REMEMBERED = 64 };
static _Thread_local rustcoll_datatype remembered[REMEMBERED];

void rustcoll_shim_describe(const void *datatype, rustcoll_datatype *description)
{
    const uintptr_t number = (uintptr_t) datatype;
    rustcoll_datatype *known = &remembered[(number ^ number >> 6) % REMEMBERED];
    if (known->handle == datatype && NULL != datatype) {
        *description = *known;
    } else if (describe(RUSTCOLL_DATATYPE(datatype), description)) {
        *known = *description;
    }
}

static int is_of_operators_that_mpi_has(MPI_Op operator_)
{
    const MPI_Op own[] = {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i] == operator_) {
            return 1;
        }
    }
    return 0;
}

rustcoll_operator rustcoll_describe_operator(MPI_Op operator_)
{
    if (is_of_operators_that_mpi_has(operator_)) {
        return (rustcoll_operator) {RUSTCOLL_OPAQUE(operator_), 1, 1};
    }
    int is_commutative = 0;
    if (MPI_OP_NULL == operator_ || MPI_SUCCESS != PMPI_Op_commutative(operator_, &is_commutative)) {
        return (rustcoll_operator) {NULL, 0, 0};
    }
    return (rustcoll_operator) {RUSTCOLL_OPAQUE(operator_), is_commutative, 0};
}

/* The most elements of one call of MPI_Reduce_local; more take several calls. */
enum { MOST_AT_A_TIME = 1 << 30 };

void rustcoll_shim_reduce(const void *operator_, const void *source, void *target, size_t count,
                          const void *datatype)
{
    rustcoll_datatype type;
    rustcoll_shim_describe(datatype, &type);
    for (size_t done = 0; done < count; done += MOST_AT_A_TIME) {
        const size_t some = count - done < MOST_AT_A_TIME ? count - done : MOST_AT_A_TIME;
        const ptrdiff_t offset = (ptrdiff_t) done * type.extent;
        int error = PMPI_Reduce_local((const char *) source + offset, (char *) target + offset, (int) some,
                                      RUSTCOLL_DATATYPE(datatype), RUSTCOLL_OPERATOR(operator_));
        if (MPI_SUCCESS != error) {
            rustcoll_end_job("rustcoll: MPI_Reduce_local fails with error %d in the middle of a collective", error);
        }
    }
}

/* MPI has no such function. */
int rustcoll_shim_reduce_apart(const void *operator_, const void *left, const void *right, void *target, size_t count,
                               const void *datatype)
{
    return 0;
}

int rustcoll_shim_is_threaded(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return MPI_THREAD_MULTIPLE == level;
}

int rustcoll_shim_is_preloaded(void) { return 1; }

/* Tags on the private communicator. Those from RUSTCOLL_FIRST_REQUEST_TAG on are for requests. */
int rustcoll_shim_tag(int collective) { return 1 + collective; }
int rustcoll_shim_profile_tag(void) { return RUSTCOLL_FIRST_REQUEST_TAG - RUSTCOLL_OWN_TAGS - 1; }

const void *rustcoll_shim_byte(void) { return RUSTCOLL_OPAQUE(MPI_BYTE); }
const void *rustcoll_shim_number(void) { return RUSTCOLL_OPAQUE(MPI_UINT64_T); }
const void *rustcoll_shim_maximum(void) { return RUSTCOLL_OPAQUE(MPI_MAX); }
const void *rustcoll_shim_union(void) { return RUSTCOLL_OPAQUE(MPI_BOR); }
void *rustcoll_shim_in_place(void) { return MPI_IN_PLACE; }

void rustcoll_shim_host_name(char *name, size_t length)
{
    if (0 != gethostname(name, length)) {
        name[0] = '\0';
    }
    name[length - 1] = '\0';
}

void rustcoll_shim_output(const char *line)
{
    char host[256];
    rustcoll_shim_host_name(host, sizeof host);
    fprintf(stderr, "[%s:%05d] %s\n", host, (int) getpid(), line);
}

void rustcoll_shim_abort(const void *communicator, const char *message) { rustcoll_end_job("%s", message); }

int rustcoll_shim_is_complete(const void *communicator) { return 1; }

/* MPI does not tell. */
unsigned long long rustcoll_shim_shared_number(const void *communicator) { return 0; }

#define COMMUNICATOR_OF(handle) (((const rustcoll_state *) (handle))->communicator)
#define OWN_OF(handle) (((const rustcoll_state *) (handle))->own)
#define DATATYPE_OF(handle) RUSTCOLL_DATATYPE(handle)
#define OPERATOR_OF(handle) RUSTCOLL_OPERATOR(handle)
#include "names.h"
