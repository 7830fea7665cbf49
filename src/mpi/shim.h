/* The interface between the C shim, which knows an MPI's structures, and the Rust library, which does not. Counts are size_t, handles
 * are opaque, and nothing here depends on the MPI or its release. *The component below* is whatever serves the calls that rustcoll
 * does not: another component of Open MPI, or the MPI itself. */
#ifndef RUSTCOLL_SHIM_H
#define RUSTCOLL_SHIM_H

#include <stddef.h>

/* What functions return that return errors: this, an error code of MPI's, which Rust hands on, or one of these errors of Rust's, which
 * the shim translates (errors.h). Classes of errors have other numbers in each MPI; none of them, and no error of Open MPI's own, has
 * these. */
#define RUSTCOLL_SUCCESS 0
#define RUSTCOLL_ERR_COUNT (-0x40000001)
#define RUSTCOLL_ERR_ROOT (-0x40000002)
#define RUSTCOLL_ERR_TRUNCATE (-0x40000003)
#define RUSTCOLL_ERR_INTERN (-0x40000004)
#define RUSTCOLL_ERR_NO_MEM (-0x40000005)
#define RUSTCOLL_ERR_UNREAD (-0x40000006)

/* Returned instead: the component below shall serve the call. */
#define RUSTCOLL_BELOW 0x40000000

/* Where the ranks of a communicator are. */
#define RUSTCOLL_ON_ONE_NODE 1
#define RUSTCOLL_ON_SEVERAL_NODES 2

/* The files that parameters may stand in, by how MPI looks at them. */
#define RUSTCOLL_BEFORE_ENVIRONMENT 0
#define RUSTCOLL_BEHIND_ENVIRONMENT 1
#define RUSTCOLL_IN_ENVIRONMENT 2

/* What has become of a request that was given up: it is freed, and nothing uses its buffer any more; it is freed, but a message may still
 * use its buffer; or MPI brings it to its end, and until then it must be given up again and again. */
#define RUSTCOLL_FREED 0
#define RUSTCOLL_LOST 1
#define RUSTCOLL_ENDING 2

/* A datatype, described once per call. */
typedef struct rustcoll_datatype {
    const void *handle;
    size_t size;           /* bytes of data in one element */
    ptrdiff_t extent;      /* distance of consecutive elements */
    ptrdiff_t true_lb;     /* offset of the first byte of data */
    size_t true_extent;    /* from the first byte of data past the last */
    int contiguous;        /* consecutive elements have no gap anywhere */
} rustcoll_datatype;

/* An operator. */
typedef struct rustcoll_operator {
    const void *handle;
    int commutative;
    int predefined; /* one of MPI's own */
} rustcoll_operator;

/* A parameter that the shim registers, and where its value is kept. One that is a text has no words and no
 * variable, and is only read when the job starts. */
typedef struct rustcoll_parameter {
    const char *name;          /* without the component's prefix */
    const char *description;
    char **text;               /* where its value is kept if it is a text, else NULL */
    const char *const *words;  /* words[i] stands for the value i; ends with NULL */
    int minimum;               /* numbers from here up are legal beside the words; 0: words only */
    int *value;
    int is_fixed;              /* the value is only read when the job starts */
    const char *variable;      /* name of a performance variable that goes with it, or NULL */
    const char *const *variable_words;
    int *variable_value;
} rustcoll_parameter;

/* The collectives, in the order in which Rust lists them. */
enum rustcoll_collective {
    RUSTCOLL_ALLGATHER,
    RUSTCOLL_ALLGATHERV,
    RUSTCOLL_ALLREDUCE,
    RUSTCOLL_ALLTOALL,
    RUSTCOLL_ALLTOALLV,
    RUSTCOLL_ALLTOALLW,
    RUSTCOLL_BARRIER,
    RUSTCOLL_BCAST,
    RUSTCOLL_EXSCAN,
    RUSTCOLL_GATHER,
    RUSTCOLL_GATHERV,
    RUSTCOLL_NEIGHBOR_ALLGATHER,
    RUSTCOLL_NEIGHBOR_ALLGATHERV,
    RUSTCOLL_NEIGHBOR_ALLTOALL,
    RUSTCOLL_NEIGHBOR_ALLTOALLV,
    RUSTCOLL_NEIGHBOR_ALLTOALLW,
    RUSTCOLL_REDUCE,
    RUSTCOLL_REDUCE_SCATTER,
    RUSTCOLL_REDUCE_SCATTER_BLOCK,
    RUSTCOLL_SCAN,
    RUSTCOLL_SCATTER,
    RUSTCOLL_SCATTERV,
    RUSTCOLL_COLLECTIVES
};

/* The process topology of a communicator as far as this rank knows it: of a grid the dimensions, of any other the ranks
 * from which it receives and those to which it sends. */
typedef struct rustcoll_topology {
    int is_grid;
    size_t dimensions;
    const int *lengths, *periods; /* of each dimension, and whether it is periodic */
    size_t indegree, outdegree;   /* of a grid as well */
    const int *sources, *destinations;
} rustcoll_topology;

/* Which forms of a collective the component below a module serves. */
typedef struct rustcoll_below {
    int blocking[RUSTCOLL_COLLECTIVES];
    int nonblocking[RUSTCOLL_COLLECTIVES];
    int persistent[RUSTCOLL_COLLECTIVES];
} rustcoll_below;

/* An array of numbers, one for each rank (on an inter-communicator mostly of the other group) or neighbour, as the caller
 * gave it; NULL values: there is none. */
typedef struct rustcoll_numbers {
    const void *values;
    int are_wide; /* ptrdiff_t, else int */
} rustcoll_numbers;

/* An array of datatypes' handles, one for each rank or neighbour, as the caller gave it; NULL values: there is none. */
typedef struct rustcoll_handles {
    const void *values;
    int are_ints; /* else addresses */
} rustcoll_handles;

/* One buffer of a call: `count` elements (of the vector, or of each block), or counts and displacements for each rank
 * or neighbour. What MPI calls not significant at this rank is left zero. */
typedef struct rustcoll_side {
    const void *buffer;
    size_t count;
    const rustcoll_datatype *datatype; /* NULL: not significant, or one for each rank */
    rustcoll_numbers counts;
    rustcoll_numbers displacements;    /* in elements; in bytes where each rank has its datatype */
    rustcoll_handles datatypes;        /* where each rank has its own */
} rustcoll_side;

/* The arguments of a collective. In place: the send side, or with scatters the receive side, is left zero; with the
 * rooted ones only the root can be in place. */
typedef struct rustcoll_call {
    int collective;
    int in_place;
    int root; /* on an inter-communicator the ranks of the other group are numbered after those of the own */
    rustcoll_side send;
    rustcoll_side recv; /* the buffer of a broadcast */
    const rustcoll_operator *operator_;
} rustcoll_call;

/* One side of a call of a communicator's own collectives: a count for all, or counts and displacements in elements. */
typedef struct rustcoll_own_side {
    void *buffer; /* or what stands for a call in place, or NULL where the rank has none */
    int count;
    const void *datatype;
    const int *counts, *displacements;
} rustcoll_own_side;

/* A call of a communicator's own collectives. */
typedef struct rustcoll_own_call {
    int collective;
    int root;
    rustcoll_own_side send, recv; /* a broadcast has but the second one, a reduce-scatter its counts at the first one */
    const void *operator_;
} rustcoll_own_call;

/* What differs between two processes, and what each holds of it; the texts live as long as the process. */
typedef struct rustcoll_difference {
    const char *what, *own, *other;
} rustcoll_difference;

/* ---- Rust, called by the shim ---- */

/* Fills in parameter number `index`; returns 0 past the last one. */
int rustcoll_parameter_get(int index, rustcoll_parameter *parameter);
/* A parameter of this library that the user gives, in the environment or in a file of MPI's, and nobody knows, or NULL; the nearest
 * name that is known, and where it stands. The texts live as long as the process. */
const char *rustcoll_unknown_parameter(const char **nearest, const char **place);
/* What the user gives for the parameter of that full name, registered or not, or NULL; and where it stands. They live as long as the
 * process. */
const char *rustcoll_given(const char *full_name, const char **place);
/* The word that comes nearest to a value that is not legal for the parameter of that full name; NULL if it does not take one of several
 * words. It lives as long as the process. */
const char *rustcoll_nearest_word(const char *full_name, const char *value);
/* Whether the user gives any parameter, known or not. */
int rustcoll_gives_parameters(void);
/* Whether the user, not the site, gives rules, in files or lines. */
int rustcoll_gives_rules(void);
/* What is wrong with rules that are left out, at this process, as a text that lives as long as it; "" if nothing is. */
const char *rustcoll_faults(void);
/* Starts logging at a verbosity from 0 to 100, and ends the job if faulty rules are to. `rank`: this process's in the job. */
void rustcoll_start(int verbosity, int is_first_on_node, int rank);
/* Prints the report, if the user wants one. */
void rustcoll_finish(void);
/* Priority on a communicator, or -1 to stay away; a rule file may ask for one. `given`: the parameter's value, if the user set it. `components`:
 * the value of `--mca coll`, `preference`: that of the communicator's info key; either may be NULL. */
int rustcoll_priority(int is_given, int given, const char *components, const char *preference);
/* What this process holds that must be alike on all, as a text that lives as long as the process. `priority`: that on
 * communicators whose info keys do not name the component. */
const char *rustcoll_holdings(int priority);
/* Whether two such texts differ, and how; `other` is NULL if the other process has none. */
int rustcoll_differ(const char *own, const char *other, rustcoll_difference *difference);
/* A number made of a text, the same in every process. */
unsigned long long rustcoll_digest(const char *text);
/* A communicator's state, or NULL if there is no memory. `remote_size`: ranks of the other group of an
 * inter-communicator, else 0; `local_communicator` reaches the own group. */
void *rustcoll_communicator_new(const void *communicator, const void *local_communicator, int rank, int size,
                                int remote_size, unsigned identifier, const rustcoll_below *below);
void rustcoll_communicator_free(void *state);

/* Begins the profile of a job of so many ranks, and returns whether the user wants one; and writes it. All ranks of the job call the latter
 * when MPI ends and messages can still be sent on the communicator, which has all of them and carries no other messages under
 * rustcoll_shim_profile_tag. */
int rustcoll_begin_profile(int rank, int size);
void rustcoll_write_profile(const void *communicator, int rank, int size);

/* Runs a collective to its end: an MPI error code, or RUSTCOLL_BELOW; then rustcoll_ended_below is to be called when the
 * component below has ended it. */
int rustcoll_run(void *state, const rustcoll_call *call);
void rustcoll_ended_below(void *state);

/* Prepares a collective that does not block, under a tag of its own, on the local communicator under another one; what
 * `call` points to need not live on. An MPI error code, or RUSTCOLL_BELOW. `request` is what rustcoll_shim_complete
 * will be called with. */
int rustcoll_prepare(void *state, const rustcoll_call *call, int is_persistent, int tag, int local_tag,
                     void *request, void **operation);
/* Instead of that, where the shim itself has no memory for it; the other ranks count on this one. */
void rustcoll_missed(void *state, int is_persistent);
/* Starts a prepared collective; a persistent one may be started again after its completion. */
void rustcoll_operation_start(void *operation);
/* Frees a collective that is not under way. */
void rustcoll_operation_free(void *operation);
/* Goes on with all collectives that are under way; how many were completed. */
int rustcoll_progress(void);

/* What tools may count of the calls of a collective, by the numbers of algorithms, with the component below first: how
 * many numbers, and the sums so far (unsigned long long; of time double, in seconds). */
enum rustcoll_quantity { RUSTCOLL_CALLS, RUSTCOLL_BYTES, RUSTCOLL_TIME, RUSTCOLL_QUANTITIES };
int rustcoll_counted_numbers(int collective);
void rustcoll_counted(int collective, int quantity, void *sums);
/* There are more tools that count, or fewer. */
void rustcoll_watch(int more);

/* ---- the shim, called by Rust ---- */

/* Messages. */
int rustcoll_shim_send(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                       const void *communicator, void **request);
int rustcoll_shim_receive(void *buffer, size_t count, const void *datatype, int peer, int tag,
                          const void *communicator, void **request);
/* The same, blocking until they are complete. */
int rustcoll_shim_send_and_wait(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                                const void *communicator);
int rustcoll_shim_receive_and_wait(void *buffer, size_t count, const void *datatype, int peer, int tag,
                                   const void *communicator);
/* Waits for a request and frees it; returns the error that its status holds. */
int rustcoll_shim_wait(void **request);
/* Gives a request up after an error elsewhere: one of RUSTCOLL_…. */
int rustcoll_shim_abandon(void **request);
/* MPI's error if a process of a communicator has failed, as far as this one knows, or if the communicator was revoked; else
 * RUSTCOLL_SUCCESS. Only where progress is made can it change. */
int rustcoll_shim_failure(const void *communicator);

/* Whether buffers may lie on devices, such as GPUs; the same at each call. */
int rustcoll_shim_has_devices(void);
/* Whether an address is one of a device's memory, which only rustcoll_shim_copy may read and write. */
int rustcoll_shim_is_on_device(const void *address);
/* Makes memory of the host known to the devices, which then copy it faster, and has them forget it, which must come before it is given
 * back; 0 if that is not possible. */
int rustcoll_shim_register_host(void *address, size_t bytes);
int rustcoll_shim_unregister_host(void *address);
/* Copies data to a layout that holds at least as many bytes; a NULL datatype stands for plain bytes. */
int rustcoll_shim_copy(const void *source, size_t source_count, const void *source_datatype,
                       void *target, size_t target_count, const void *target_datatype);
/* Some bytes of the data of consecutive elements, counted without gaps from `first` on: copied to plain bytes, and from
 * there. */
int rustcoll_shim_pack(const void *source, const void *datatype, size_t first, size_t bytes, void *packed);
int rustcoll_shim_unpack(const void *packed, size_t bytes, void *target, const void *datatype, size_t first);
/* target = source ⊕ target */
void rustcoll_shim_reduce(const void *operator_, const void *source, void *target, size_t count,
                          const void *datatype);
/* target = left ⊕ right, the target being apart from both; 0 if MPI cannot do that. */
int rustcoll_shim_reduce_apart(const void *operator_, const void *left, const void *right, void *target, size_t count,
                               const void *datatype);
/* Makes progress. */
void rustcoll_shim_progress(void);
/* Whether several threads may call MPI at the same time. */
int rustcoll_shim_is_threaded(void);
/* Whether the job has more processes on this node than the node has processors. */
int rustcoll_shim_is_crowded(void);
/* Whether the library is loaded before an MPI, rather than by Open MPI as a component; the same at each call. */
int rustcoll_shim_is_preloaded(void);
/* The files from which MPI has parameters, separated by commas, the first first: those that go before the environment, those behind it,
 * or those that the launcher has read, which hands their values on in the environment. The text lives until the next call. */
const char *rustcoll_shim_parameter_files(int which);
/* The switches that the shim reads itself and that are on, of those that must be alike at all ranks; "" if none is. */
const char *rustcoll_shim_switches(void);
/* The tag under which a collective communicates that blocks. */
int rustcoll_shim_tag(int collective);
/* The tags under which ranks come to memory that they share, and find the stencil of their neighbours. No collective has them. */
int rustcoll_shim_memory_tag(void);
int rustcoll_shim_stencil_tag(void);
/* The tag under which ranks tell each other what they did, when MPI ends. */
int rustcoll_shim_profile_tag(void);
/* MPI_BYTE, MPI_UINT64_T, MPI_MAX, MPI_BOR, MPI_IN_PLACE */
const void *rustcoll_shim_byte(void);
const void *rustcoll_shim_number(void);
const void *rustcoll_shim_maximum(void);
const void *rustcoll_shim_union(void);
void *rustcoll_shim_in_place(void);

/* Calls a collective that blocks, which whoever serves it on the communicator carries out: an MPI error code. Those whose
 * neighbours or datatypes differ from rank to rank, barriers and scans are not called so. */
int rustcoll_shim_call(const void *communicator, const rustcoll_own_call *call);

/* Whether a request is complete; if so, it is freed as by rustcoll_shim_wait, and *error says how it ended. */
int rustcoll_shim_test(void **request, int *error);
/* Describes the process topology of a communicator that has one. */
void rustcoll_shim_topology(const void *communicator, rustcoll_topology *topology);
/* Key and value of the info entry of that number that a communicator was created with; 0 past the last one. They live
 * as long as nobody changes the entries. */
int rustcoll_shim_info(const void *communicator, int number, const char **key, const char **value);
/* The name that a user or MPI gives a communicator or a datatype, cut to `length` bytes with the zero byte that ends it; "" if it has
 * none. */
void rustcoll_shim_communicator_name(const void *communicator, char *name, size_t length);
void rustcoll_shim_datatype_name(const void *datatype, char *name, size_t length);
/* The name of an operator of MPI's, or what tells that it is another one. It lives as long as the process. */
const char *rustcoll_shim_operator_name(const void *operator_);
/* The ranks in MPI_COMM_WORLD of all ranks of a communicator's own group; a negative number for those that are of another job. */
void rustcoll_shim_world_ranks(const void *communicator, int *ranks);
/* Describes a datatype. */
void rustcoll_shim_describe(const void *datatype, rustcoll_datatype *description);
/* Completes the request of a collective that does not block. */
void rustcoll_shim_complete(void *request, int error);

/* Over how many nodes the ranks of a communicator's own group are spread: RUSTCOLL_ON_…, or 0 where MPI may not tell
 * all of them alike. */
int rustcoll_shim_spread(const void *communicator);
/* The name of this host, cut to `length` bytes with the zero byte that ends it. */
void rustcoll_shim_host_name(char *name, size_t length);

/* One line for the log. */
void rustcoll_shim_output(const char *line);
/* Ends the job over faulty rules. `speaks_first`: at one rank of those that do so. */
void rustcoll_shim_refuse_rules(const char *faults, int speaks_first);
/* Ends the job; does not return. */
void rustcoll_shim_abort(const void *communicator, const char *message);

#endif
