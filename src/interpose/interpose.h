/* What the C files of the preload library share. It is loaded before an MPI and serves its collectives. */
#ifndef RUSTCOLL_INTERPOSE_H
#define RUSTCOLL_INTERPOSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "mpi.h"

#include "description.h"
#include "shim.h"
#include "errors.h"

/* Smaller tags are those of blocking collectives. */
enum { RUSTCOLL_FIRST_REQUEST_TAG = 64 };

#define RUSTCOLL_DATATYPE(opaque) ((MPI_Datatype) (intptr_t) (opaque))
#define RUSTCOLL_OPERATOR(opaque) ((MPI_Op) (intptr_t) (opaque))

/* The state of a communicator. Its address is Rust's handle of the communicator; the address of `local` is that of an
 * inter-communicator's own group. At both addresses lies the MPI_Comm that carries the messages. */
typedef struct rustcoll_state {
    MPI_Comm own;          /* a private one of the same ranks, for all messages; null if MPI serves the communicator */
    MPI_Comm local;        /* of an inter-communicator: the ranks of the own group */
    MPI_Comm communicator; /* the user's; null, once that is freed */
    rustcoll_group group;
    void *rust;
    MPI_Request duplication; /* null, once `own` is complete */
    atomic_flag is_tested;   /* whether a thread tests `duplication` */
    atomic_int can_send;     /* whether `own` is complete */
    int is_set_up;           /* whether the ranks have compared what must be equal */
    int spread;              /* RUSTCOLL_ON_…, or 0 if unknown */
    unsigned operations[2];  /* how many were prepared: non-blocking ones, and persistent ones */
    atomic_uint users;       /* how many use it: the communicator, each request, and each call that MPI serves */
    MPI_Errhandler handler;  /* of a freed communicator that has requests; otherwise null */
    struct rustcoll_state *next;
} rustcoll_state;

/* ---- the state of communicators ---- */

/* Finds the state of a communicator on which a collective is called, blocking or not; makes it if there is none. The state is NULL if MPI
 * itself shall serve the call, and if the communicator is illegal. MPI has raised that error then; this function returns it. */
int rustcoll_find_state(MPI_Comm communicator, int is_blocking, rustcoll_state **state);
/* Advances the duplication of a communicator; returns whether messages can be sent. */
int rustcoll_can_send(rustcoll_state *state);
/* Waits until messages can be sent. All ranks must be in the same call. */
void rustcoll_wait_until_it_can_send(rustcoll_state *state);
void rustcoll_hold(rustcoll_state *state);
void rustcoll_release(rustcoll_state *state);

/* Frees all states, when MPI ends. */
void rustcoll_free_states(void);

/* Waits until all processes of the job have called this. */
void rustcoll_meet(void);
/* Shows the faults of rules and schedule files that are left out. */
void rustcoll_show_faults(int rank);
/* Has all processes of the job compare what must be equal, while none of them can be in another call. */
void rustcoll_compare_job(int is_active);

#if MPI_VERSION >= 4
/* An MPI with the binary interface of these headers may be older than they are, and lack these functions. */
#pragma weak PMPI_Type_get_envelope_c
#pragma weak PMPI_Type_get_contents_c
#pragma weak PMPI_Pack_c
#pragma weak PMPI_Unpack_c
/* Whether the MPI has functions with large counts. */
int rustcoll_has_large_counts(void);
#endif

static inline int rustcoll_is_among_neighbours(int collective)
{
    return RUSTCOLL_NEIGHBOR_ALLGATHER <= collective && collective <= RUSTCOLL_NEIGHBOR_ALLTOALLW;
}

/* ---- datatypes and operators ---- */

/* How a datatype was made: MPI_COMBINER_.... */
int rustcoll_combiner(MPI_Datatype datatype);
/* Whether MPI defines an operator on a datatype. An operator that the program made is defined on all. */
int rustcoll_fits(const rustcoll_operator *operator_, const rustcoll_datatype *datatype);

/* ---- the process ---- */

/* Reads the user's settings, once; returns whether any calls are served. MPI_Init must have ended. */
int rustcoll_begin(void);
/* As rustcoll_begin, but no before MPI_Init has ended: a program may use sessions of MPI before it, or never call it. */
int rustcoll_is_active(void);
/* Whether nothing may be left to MPI's own collectives. */
int rustcoll_is_alone(void);
/* Whether collectives with requests are served. */
int rustcoll_serves_nonblocking(void);
/* Ends a process, with a message, if its MPI is not the one that this library was made for. */
void rustcoll_refuse_other_mpis(void);
/* Whether this process may report for its node: it is the first one there, or the launcher does not tell. */
int rustcoll_may_be_first_on_node(void);
/* Ends the job with a message. */
void rustcoll_end_job(const char *format, ...);
/* A communicator of this process alone, which nobody else uses. */
MPI_Comm rustcoll_itself(void);
/* Notes that so many ranks of a communicator are on this node. */
void rustcoll_note_neighbours(int ranks);

/* Returns where a parameter's number is kept, or the number of the algorithm that served the last call of a collective (COLLECTIVE_ran);
 * NULL if there is no such name. For programs that find this function at run time, in place of MPI_T's variables. */
int *rustcoll_variable(const char *name);

/* ---- errors ---- */

/* Translates an error of MPI's for Rust. */
int rustcoll_neutral(int error);
/* Raises an error on a communicator. */
int rustcoll_raise(MPI_Comm communicator, int error);

/* ---- copies ---- */

/* As rustcoll_shim_unpack, but with the target's description. */
int rustcoll_unpack(const void *packed, size_t bytes, void *target, const rustcoll_datatype *type, size_t first);

/* Copies elements to new memory, with the same layout. The caller frees `*memory`; the copy's address is `*copy`. */
int rustcoll_copy_elements(const void *elements, size_t count, MPI_Datatype datatype, void **memory, void **copy);
/* Copies bytes from or to a device or the host. */
int rustcoll_copy_bytes(void *target, const void *source, size_t bytes);

/* ---- requests ---- */

/* Makes the request of a non-blocking or persistent collective, and starts it unless it is persistent. Returns an
 * error, or RUSTCOLL_BELOW; there is no request then. */
int rustcoll_request_new(rustcoll_state *state, const rustcoll_call *call, int is_persistent, MPI_Request *request);
/* How many operations are in flight. */
extern atomic_int rustcoll_under_way;
/* Whether MPI's blocking calls must advance operations: some are in flight, or another thread may start some meanwhile. */
int rustcoll_waits_in_steps(void);
/* Advances the operations that are in flight. */
void rustcoll_go_on(void);
/* Waits for a request of MPI's own, and advances the operations meanwhile. */
int rustcoll_wait_for(MPI_Request *request, MPI_Status *status);

#endif
