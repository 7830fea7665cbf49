/* What the C files share of the library that is loaded before an MPI and serves its collectives. */
#ifndef RUSTCOLL_INTERPOSE_H
#define RUSTCOLL_INTERPOSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "mpi.h"

#include "description.h"
#include "shim.h"
#include "errors.h"

/* Tags below are those of collectives that block. */
enum { RUSTCOLL_FIRST_REQUEST_TAG = 64 };

#define RUSTCOLL_DATATYPE(opaque) ((MPI_Datatype) (intptr_t) (opaque))
#define RUSTCOLL_OPERATOR(opaque) ((MPI_Op) (intptr_t) (opaque))

/* What is kept for a communicator. Rust knows it as the communicator's handle, and the address of `local` as that of the own
 * group of an inter-communicator. */
typedef struct rustcoll_state {
    MPI_Comm own;          /* a private one of the same ranks, which carries all messages; null where MPI serves the communicator */
    MPI_Comm local;        /* of an inter-communicator: the ranks of the own group, among themselves */
    MPI_Comm communicator; /* the user's; null, once that is freed */
    rustcoll_group group;
    void *rust;
    MPI_Request duplication; /* null, once `own` is complete */
    int is_set_up;           /* whether the ranks have compared what they hold */
    int spread;              /* RUSTCOLL_ON_…, or 0 if that is not known */
    unsigned operations[2];  /* how many that do not block were prepared: those that begin at once, and persistent ones */
    unsigned users;          /* the communicator, and each request */
    struct rustcoll_state *next;
} rustcoll_state;

/* ---- the state of communicators ---- */

/* The state of a communicator on which a collective is called that blocks, or does not; made if there is none. NULL: MPI itself
 * shall serve the call. */
rustcoll_state *rustcoll_state_for(MPI_Comm communicator, int is_blocking);
/* Goes on with what a state waits for; whether messages can be sent. */
int rustcoll_can_send(rustcoll_state *state);
/* Waits until that is so. All ranks must be in the same call. */
void rustcoll_wait_until_it_can_send(rustcoll_state *state);
void rustcoll_hold(rustcoll_state *state);
void rustcoll_release(rustcoll_state *state);

/* Frees all states, when MPI ends. */
void rustcoll_free_states(void);

/* Waits until all processes of the job are here. */
void rustcoll_meet(void);
/* Tells what is wrong with rules and schedule files that are left out. */
void rustcoll_show_faults(int rank);
/* Has all processes of the job compare what they hold, while none of them can be in another call. */
void rustcoll_compare_job(int is_active);

/* ---- the process ---- */

/* Reads what the user sets, once; whether calls are served at all. */
int rustcoll_begin(void);
/* Whether nothing is to be left to MPI's own collectives. */
int rustcoll_is_alone(void);
/* Whether collectives that do not block are served. */
int rustcoll_serves_nonblocking(void);
/* Ends a process whose MPI is another one than this library was made for, with a message. */
void rustcoll_refuse_other_mpis(void);
/* Whether this process may speak for its node: it is the first one there, or nobody says which one it is. */
int rustcoll_may_be_first_on_node(void);
/* Ends the job with a message. */
void rustcoll_end_job(const char *format, ...);
/* A communicator of this process alone, which nobody else uses. */
MPI_Comm rustcoll_itself(void);
/* Notes how many ranks of a communicator are on this node. */
void rustcoll_note_neighbours(int ranks);

/* Where a parameter's number is kept, or the number of the algorithm that served the last call of a collective (COLLECTIVE_ran);
 * NULL if there is no such name. For programs that find this function at run time, in place of MPI_T's variables. */
int *rustcoll_variable(const char *name);

/* ---- errors ---- */

/* An error of MPI's, as Rust knows it. */
int rustcoll_neutral(int error);
/* Raises an error on a communicator. */
int rustcoll_raise(MPI_Comm communicator, int error);

/* ---- copies ---- */

/* As rustcoll_shim_unpack, into data that are described already. */
int rustcoll_unpack(const void *packed, size_t bytes, void *target, const rustcoll_datatype *type, size_t first);

/* A copy of elements as they lie, in new memory. */
int rustcoll_copy_elements(const void *elements, size_t count, MPI_Datatype datatype, void **memory, void **copy);
/* Copies bytes from or to a device or the host. */
int rustcoll_copy_bytes(void *target, const void *source, size_t bytes);

/* ---- requests ---- */

/* Makes the request of a collective that does not block, and starts it unless it is persistent. An error code, or
 * RUSTCOLL_BELOW; then there is no request. */
int rustcoll_request_new(rustcoll_state *state, const rustcoll_call *call, int is_persistent, MPI_Request *request);
/* How many operations are under way, for which MPI's calls that block must make progress. */
extern atomic_int rustcoll_under_way;
/* Goes on with them. */
void rustcoll_go_on(void);
/* Waits for a request of MPI's own, and makes progress meanwhile. */
int rustcoll_wait_for(MPI_Request *request, MPI_Status *status);

#endif
