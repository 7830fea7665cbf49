/* The interface between the C shim, which knows an MPI's structures, and the Rust library, which does not. Counts are size_t, handles
 * are opaque, and nothing here depends on the MPI or its release. *The component below* is whatever serves the calls that rustcoll
 * does not: another component of Open MPI, or the MPI itself. */
#ifndef RUSTCOLL_SHIM_H
#define RUSTCOLL_SHIM_H

#include <stddef.h>

/* A function that returns an error returns RUSTCOLL_SUCCESS, an error code of MPI's, which Rust hands on, or one of
 * these errors of Rust's, which the shim translates (errors.h). The error classes of MPIs have different numbers; no
 * error class, and no error of Open MPI's own, has one of these. */
#define RUSTCOLL_SUCCESS 0
#define RUSTCOLL_ERR_COUNT (-0x40000001)
#define RUSTCOLL_ERR_ROOT (-0x40000002)
#define RUSTCOLL_ERR_TRUNCATE (-0x40000003)
#define RUSTCOLL_ERR_INTERN (-0x40000004)
#define RUSTCOLL_ERR_NO_MEM (-0x40000005)
#define RUSTCOLL_ERR_UNREAD (-0x40000006)

/* Returned instead of an error: the component below shall serve the call. */
#define RUSTCOLL_BELOW 0x40000000

/* How the ranks of a communicator are spread over nodes. */
#define RUSTCOLL_ON_ONE_NODE 1
#define RUSTCOLL_ON_SEVERAL_NODES 2

/* Kinds of parameter files. MPI takes their values before those of the environment, or after them, or the launcher has
 * read them and passes the values on in the environment. */
#define RUSTCOLL_BEFORE_ENVIRONMENT 0
#define RUSTCOLL_BEHIND_ENVIRONMENT 1
#define RUSTCOLL_IN_ENVIRONMENT 2

/* What has become of an abandoned request. FREED: it is freed, and nothing uses its buffer any more. LOST: it is freed,
 * but a message may still use its buffer. ENDING: MPI will end it, and until then the caller must abandon it again. */
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

/* A parameter that the shim registers, and where its value is kept. A text has no words and no variable, and is only
 * read when the job starts. */
typedef struct rustcoll_parameter {
    const char *name;          /* without the component's prefix */
    const char *description;
    char **text;               /* where its value is kept if it is a text, else NULL */
    const char *const *words;  /* words[i] stands for the value i; ends with NULL */
    int minimum;               /* numbers from here up are legal beside the words; 0: words only */
    int *value;
    int is_fixed;              /* the value is only read when the job starts */
    const char *variable;      /* name of its performance variable, or NULL */
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

/* The process topology of a communicator, as far as this rank knows it: the dimensions of a grid, or the ranks from
 * which it receives and to which it sends. */
typedef struct rustcoll_topology {
    int is_grid;
    size_t dimensions;
    const int *lengths, *periods; /* of each dimension, and whether it is periodic */
    size_t indegree, outdegree;   /* also of a grid */
    const int *sources, *destinations;
} rustcoll_topology;

/* Which forms of a collective the component below a module serves. */
typedef struct rustcoll_below {
    unsigned char blocking[RUSTCOLL_COLLECTIVES];
    unsigned char nonblocking[RUSTCOLL_COLLECTIVES];
    unsigned char persistent[RUSTCOLL_COLLECTIVES];
} rustcoll_below;

/* An array of numbers, one for each rank (on an inter-communicator mostly of the other group) or neighbour, as the
 * caller passed it. `values` is NULL if there is none. */
typedef struct rustcoll_numbers {
    const void *values;
    int are_wide; /* ptrdiff_t, else int */
} rustcoll_numbers;

/* An array of datatypes' handles, one for each rank or neighbour, as the caller passed it. `values` is NULL if there is none. */
typedef struct rustcoll_handles {
    const void *values;
    int are_ints; /* else addresses */
} rustcoll_handles;

/* One buffer of a call: `count` elements (of the vector, or of each block), or counts and displacements for each rank
 * or neighbour. What MPI calls not significant at this rank is left zero. */
typedef struct rustcoll_side {
    const void *buffer;
    size_t count;
    const rustcoll_datatype *datatype; /* NULL: not significant, or each rank has its own */
    rustcoll_numbers counts;
    rustcoll_numbers displacements;    /* in elements; in bytes if each rank has its own datatype */
    rustcoll_handles datatypes;        /* if each rank has its own */
} rustcoll_side;

/* The arguments of a collective. In place, the send side is left zero; for scatters, the receive side. In collectives
 * with a root, only the root can be in place. */
typedef struct rustcoll_call {
    int collective;
    int in_place;
    int root; /* on an inter-communicator, the ranks of the other group are numbered after those of the own */
    rustcoll_side send;
    rustcoll_side recv; /* the buffer of a broadcast */
    const rustcoll_operator *operator_;
} rustcoll_call;

/* One side of a call of a communicator's own collectives: one count, or counts and displacements in elements. */
typedef struct rustcoll_own_side {
    void *buffer; /* or MPI_IN_PLACE, or NULL where the rank has none */
    int count;
    const void *datatype;
    const int *counts, *displacements;
} rustcoll_own_side;

/* A call of a communicator's own collectives. */
typedef struct rustcoll_own_call {
    int collective;
    int root;
    rustcoll_own_side send, recv; /* a broadcast has only recv; a reduce-scatter has its counts in send */
    const void *operator_;
} rustcoll_own_call;

/* What differs between two processes, and what each of them has. The texts live as long as the process. */
typedef struct rustcoll_difference {
    const char *what, *own, *other;
} rustcoll_difference;

/* ---- Rust, called by the shim ---- */

/* Fills in parameter number `index`; returns 0 past the last one. */
int rustcoll_parameter_get(int index, rustcoll_parameter *parameter);
/* Returns a parameter of this library that the user gives, in the environment or in a file of MPI's, but that does not exist; or NULL. Also
 * the nearest name that exists, and where the value stands. The texts live as long as the process. */
const char *rustcoll_unknown_parameter(const char **nearest, const char **place);
/* Returns the value that the user gives for the parameter of that full name, registered or not, or NULL; also where it
 * stands. The texts live as long as the process. */
const char *rustcoll_given(const char *full_name, const char **place);
/* Returns the word nearest to a value that is not legal for the parameter of that full name, or NULL if the parameter
 * does not take only words. The word lives as long as the process. */
const char *rustcoll_nearest_word(const char *full_name, const char *value);
/* Whether the user gives any parameter, even one that does not exist. */
int rustcoll_gives_parameters(void);
/* Whether the user, not the site, gives rules, in files or lines. */
int rustcoll_gives_rules(void);
/* Returns the faults of the rules and schedule files that this process leaves out; "" if there are none. The text lives
 * as long as the process. */
const char *rustcoll_faults(void);
/* Starts rustcoll in this process, with logs at a verbosity from 0 to 100. Ends the job if rules have faults and the
 * user wants that. `rank`: this process's rank in the job. `job`: 0 for the launcher's job, else the number of one that MPI_Comm_spawn
 * started. */
void rustcoll_start(int verbosity, int is_first_on_node, int rank, int job);
/* Prints the report and writes learnt rules, if the user wants them, and frees memory. */
void rustcoll_finish(void);
/* Returns the priority on a communicator, or -1 to stay away; a rule file may set one. `given`: the parameter's value, if the user set it.
 * `components`: the value of `--mca coll`; `preference`: that of the communicator's info key. Both may be NULL. */
int rustcoll_priority(int is_given, int given, const char *components, const char *preference);
/* Returns what must be equal on all processes, as this process has it: a text that lives as long as the process.
 * `priority`: that on communicators whose info keys do not name the component. `components`: the value of `--mca coll`. `wrong`: the name of
 * a parameter that is given wrongly. Both may be NULL. */
const char *rustcoll_holdings(int priority, const char *components, const char *wrong);
/* Whether two such texts differ, and how; `other` is NULL if the other process has none. */
int rustcoll_differ(const char *own, const char *other, rustcoll_difference *difference);
/* Returns a hash of a text, the same in every process. */
unsigned long long rustcoll_digest(const char *text);
/* So many tags of each communicator are those of messages by which ranks get shared memory, find the stencil of their neighbours, wait for
 * each other after calls that they refused, and prepare persistent collectives. */
#define RUSTCOLL_OWN_TAGS 4
/* Returns a communicator's state, or NULL if there is no memory. `remote_size`: the number of ranks of the other group
 * of an inter-communicator, else 0. `local_communicator` reaches the own group. No collective on the communicator has `last_tag` or the
 * RUSTCOLL_OWN_TAGS - 1 tags below it, also where a network sends only the last bits of a tag. */
void *rustcoll_communicator_new(const void *communicator, const void *local_communicator, int rank, int size,
                                int remote_size, int last_tag, unsigned identifier, const rustcoll_below *below);
void rustcoll_communicator_free(void *state);
/* Called between the same two collectives of a communicator at all its ranks, once rustcoll_shim_spread tells what it did not tell before. */
void rustcoll_look_again(void *state);

/* Begin and write the job's profile. The former returns whether the user wants one. All ranks of the job call the latter when MPI ends and
 * messages can still be sent. The communicator has all ranks of the job, and carries no other messages with rustcoll_shim_profile_tag. */
int rustcoll_begin_profile(int rank, int size);
void rustcoll_write_profile(const void *communicator, int rank, int size);

/* Runs a collective to its end. Returns an error, or RUSTCOLL_BELOW: then the shim calls the component below, and
 * afterwards rustcoll_ended_below. */
int rustcoll_run(void *state, const rustcoll_call *call);
void rustcoll_ended_below(void *state);

/* Prepares a non-blocking or persistent collective with tags of its own for the communicator and the local communicator. What `call` points
 * to need not live on. Returns an error, or RUSTCOLL_BELOW. Rust will pass `request` to rustcoll_shim_complete. */
int rustcoll_prepare(void *state, const rustcoll_call *call, int is_persistent, int tag, int local_tag,
                     void *request, void **operation);
/* Called instead of rustcoll_prepare if the shim has no memory for the collective; the other ranks count on this one. */
void rustcoll_missed(void *state, int is_persistent);
/* Starts a prepared collective; a persistent one may be started again after its completion. */
void rustcoll_operation_start(void *operation);
/* Frees a collective that is not in flight. */
void rustcoll_operation_free(void *operation);
/* Advances all collectives that are in flight; returns how many it completed. */
int rustcoll_progress(void);

/* What tools may count of the calls of a collective, by the numbers of algorithms, with the component below first. The former function
 * returns how many numbers there are, the latter the sums so far (unsigned long long; time as double, in seconds). */
enum rustcoll_quantity { RUSTCOLL_CALLS, RUSTCOLL_BYTES, RUSTCOLL_TIME, RUSTCOLL_QUANTITIES };
int rustcoll_counted_numbers(int collective);
void rustcoll_counted(int collective, int quantity, void *sums);
/* Adds `more` tools that count; a negative number removes some. */
void rustcoll_watch(int more);

/* ---- the shim, called by Rust ---- */

/* Start a message. */
int rustcoll_shim_send(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                       const void *communicator, void **request);
int rustcoll_shim_receive(void *buffer, size_t count, const void *datatype, int peer, int tag,
                          const void *communicator, void **request);
/* Send or receive a message, blocking until it is complete. */
int rustcoll_shim_send_and_wait(const void *buffer, size_t count, const void *datatype, int peer, int tag,
                                const void *communicator);
int rustcoll_shim_receive_and_wait(void *buffer, size_t count, const void *datatype, int peer, int tag,
                                   const void *communicator);
/* Waits for a request and frees it; returns the error that its status holds. */
int rustcoll_shim_wait(void **request);
/* Abandons a request after an error elsewhere; returns RUSTCOLL_FREED, RUSTCOLL_LOST or RUSTCOLL_ENDING. */
int rustcoll_shim_abandon(void **request);
/* Returns MPI's error if a process of a communicator has failed, as far as this one knows, or if the communicator was
 * revoked; else RUSTCOLL_SUCCESS. The answer changes only while MPI makes progress. */
int rustcoll_shim_failure(const void *communicator);

/* Whether buffers may lie on devices, such as GPUs; the same at each call. */
int rustcoll_shim_has_devices(void);
/* Whether an address is in a device's memory, which only rustcoll_shim_copy may read and write. */
int rustcoll_shim_is_on_device(const void *address);
/* Make memory of the host known to the devices, which then copy it faster, or unknown, which must happen before it is
 * freed. Return 0 if that is not possible. */
int rustcoll_shim_register_host(void *address, size_t bytes);
int rustcoll_shim_unregister_host(void *address);
/* Copies data to a layout that holds at least as many bytes. Datatypes must not be NULL: only the component takes NULL for plain bytes. */
int rustcoll_shim_copy(const void *source, size_t source_count, const void *source_datatype,
                       void *target, size_t target_count, const void *target_datatype);
/* Copy some bytes of the data of consecutive elements, from byte `first` on and counted without gaps, to plain bytes or from there. */
int rustcoll_shim_pack(const void *source, const void *datatype, size_t first, size_t bytes, void *packed);
int rustcoll_shim_unpack(const void *packed, size_t bytes, void *target, const void *datatype, size_t first);
/* target = source ⊕ target */
void rustcoll_shim_reduce(const void *operator_, const void *source, void *target, size_t count,
                          const void *datatype);
/* target = left ⊕ right; the target does not overlap the operands. Returns 0 if MPI cannot do that. */
int rustcoll_shim_reduce_apart(const void *operator_, const void *left, const void *right, void *target, size_t count,
                               const void *datatype);
/* Lets MPI make progress. */
void rustcoll_shim_progress(void);
/* Whether several threads may call MPI at the same time. */
int rustcoll_shim_is_threaded(void);
/* Whether the job has more processes on this node than the node has processors, or MPI yields the processor while it waits. */
int rustcoll_shim_is_crowded(void);
/* Whether the library is loaded before an MPI, rather than by Open MPI as a component; the same at each call. */
int rustcoll_shim_is_preloaded(void);
/* Returns the names of MPI's parameter files of one kind (RUSTCOLL_BEFORE_ENVIRONMENT, for example), separated by
 * commas, in the order in which MPI looks into them. The text lives until the next call. */
const char *rustcoll_shim_parameter_files(int which);
/* Returns the switches that the shim reads itself, that must be equal on all ranks, and that are on; "" if none is. */
const char *rustcoll_shim_switches(void);
/* The tag of a blocking collective. */
int rustcoll_shim_tag(int collective);
/* The tag of messages that gather the job's profile when MPI ends. */
int rustcoll_shim_profile_tag(void);
/* MPI_BYTE, MPI_UINT64_T, MPI_MAX, MPI_BOR, MPI_IN_PLACE */
const void *rustcoll_shim_byte(void);
const void *rustcoll_shim_number(void);
const void *rustcoll_shim_maximum(void);
const void *rustcoll_shim_union(void);
void *rustcoll_shim_in_place(void);

/* Calls a blocking collective on a communicator, whatever component serves it there; returns an error. Serves neither
 * alltoallw, barriers and scans nor collectives among neighbours. */
int rustcoll_shim_call(const void *communicator, const rustcoll_own_call *call);

/* Whether a request is complete; if so, it is freed as by rustcoll_shim_wait, and *error says how it ended. */
int rustcoll_shim_test(void **request, int *error);
/* Describes the process topology of a communicator that has one. */
void rustcoll_shim_topology(const void *communicator, rustcoll_topology *topology);
/* Tells key and value of the info entry of that number that a communicator was created with; 0 past the last one. They
 * live until the next call, as long as nobody changes the entries. */
int rustcoll_shim_info(const void *communicator, int number, const char **key, const char **value);
/* Write the name that a user or MPI gives a communicator or a datatype, cut to `length` bytes with the zero byte at its
 * end; "" if there is none. */
void rustcoll_shim_communicator_name(const void *communicator, char *name, size_t length);
void rustcoll_shim_datatype_name(const void *datatype, char *name, size_t length);
/* The name of an operator of MPI's, or a text for all others. It lives as long as the process. */
const char *rustcoll_shim_operator_name(const void *operator_);
/* Whether users can know a communicator. MPI itself calls collectives on communicators before MPI_Init has ended, and before they are complete. */
int rustcoll_shim_is_complete(const void *communicator);
/* A communicator's number, the same at all its ranks, of which no other communicator of this process has it at the same time; 0 if MPI does not
 * tell any. */
unsigned long long rustcoll_shim_shared_number(const void *communicator);
/* Writes the ranks in MPI_COMM_WORLD of the `size` ranks of a communicator's own group; a negative number for ranks of another job, and for
 * all before MPI has made the communicator. */
void rustcoll_shim_world_ranks(const void *communicator, int *ranks, int size);
/* Describes a datatype. */
void rustcoll_shim_describe(const void *datatype, rustcoll_datatype *description);
/* Completes the request of a non-blocking or persistent collective. */
void rustcoll_shim_complete(void *request, int error);

/* Tells how a communicator's own group is spread over nodes: RUSTCOLL_ON_…, or 0 where MPI may not tell all its ranks alike. */
int rustcoll_shim_spread(const void *communicator);
/* Whether messages between nodes go by TCP, for a communicator whose processes are of this job; 0 if that is not known. All ranks get the
 * same answer. */
int rustcoll_shim_goes_by_tcp(void);
/* Writes the name of this host, cut to `length` bytes with the zero byte at its end. */
void rustcoll_shim_host_name(char *name, size_t length);

/* Writes a line to the log. */
void rustcoll_shim_output(const char *line);
/* Ends the job because of faulty rules. `speaks_first`: whether this rank reports the faults without waiting for others. */
void rustcoll_shim_refuse_rules(const char *faults, int speaks_first);
/* Ends the job; does not return. */
void rustcoll_shim_abort(const void *communicator, const char *message);

#endif
