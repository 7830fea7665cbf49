/* The state of a communicator, from its first collective until it is freed: a private communicator of the same ranks, and Rust's state. */

#include "interpose.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rustcoll_state *states;
static int keyval = MPI_KEYVAL_INVALID;
static unsigned made;

/* Counts communicators that were freed. What a thread remembers of communicators is valid only while the count stays the same. */
static atomic_uint freed;

/* The most private communicators of a process at a time. MPIs allow some 2,000 communicators in all, and the program
 * needs as many as it makes itself. */
enum { MOST_PRIVATE = 256 };
static atomic_uint private_ones;

static void delete_state(rustcoll_state *state)
{
    if (NULL != state->rust) {
        rustcoll_communicator_free(state->rust);
    }
    if (MPI_REQUEST_NULL != state->duplication) {
        rustcoll_wait_for(&state->duplication, MPI_STATUS_IGNORE);
    }
    if (MPI_COMM_NULL != state->own) {
        PMPI_Comm_free(&state->own);
        private_ones--;
    }
    if (MPI_COMM_NULL != state->local) {
        PMPI_Comm_free(&state->local);
    }
    if (MPI_ERRHANDLER_NULL != state->handler) {
        PMPI_Errhandler_free(&state->handler);
    }
    free(state);
}

static void unlink_state(rustcoll_state *state)
{
    pthread_mutex_lock(&lock);
    rustcoll_state **place = &states;
    while (NULL != *place && state != *place) {
        place = &(*place)->next;
    }
    if (NULL != *place) {
        *place = state->next;
    }
    pthread_mutex_unlock(&lock);
}

void rustcoll_hold(rustcoll_state *state) { state->users++; }

void rustcoll_release(rustcoll_state *state)
{
    if (0 == --state->users) {
        unlink_state(state);
        delete_state(state);
    }
}

/* MPI calls this when the communicator is freed, perhaps before its requests are. */
static int forget(MPI_Comm communicator, int key, void *attribute, void *extra)
{
    rustcoll_state *state = attribute;
    freed++;
    if (1 < state->users) {
        PMPI_Comm_get_errhandler(communicator, &state->handler);
    }
    state->communicator = MPI_COMM_NULL;
    rustcoll_release(state);
    return MPI_SUCCESS;
}

/* Returns a state whose communicator is not freed yet, or NULL. */
static rustcoll_state *any_state(void)
{
    rustcoll_state *state = states;
    while (NULL != state && MPI_COMM_NULL == state->communicator) {
        state = state->next;
    }
    return state;
}

void rustcoll_free_states(void)
{
    for (rustcoll_state *state; NULL != (state = any_state());) {
        PMPI_Comm_delete_attr(state->communicator, keyval);
    }
}

enum { LONGEST_HOLDINGS = 8192 };

/* Ends the job; the first rank that differs from the next one reports how. `own` is NULL at a rank where the library is inactive. */
static void tell_difference(MPI_Comm all, const char *own)
{
    char mine[LONGEST_HOLDINGS] = "", next[LONGEST_HOLDINGS] = "";
    int rank, size, first;
    rustcoll_difference difference = {"components", "", ""};
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &size);
    if (NULL != own) {
        strncpy(mine, own, sizeof mine - 1);
    }
    PMPI_Sendrecv(mine, sizeof mine, MPI_CHAR, (rank + size - 1) % size, 0, next, sizeof next, MPI_CHAR, (rank + 1) % size,
                  0, all, MPI_STATUS_IGNORE);
    int differs = rustcoll_differ(mine, '\0' == *next ? NULL : next, &difference) ? rank : size;
    PMPI_Allreduce(&differs, &first, 1, MPI_INT, MPI_MIN, all);
    if (rank == first) {
        rustcoll_end_job("rustcoll: ranks of this job hold different %s, and would wait for each other forever:\n"
                         "  rank %d: %s\n  rank %d: %s",
                         difference.what, rank, difference.own, (rank + 1) % size, difference.other);
    }
    PMPI_Barrier(all);
}

/* A number of this node: a hash of the boot ID of its system or, without one, of the host's name. */
static uint64_t node;

static void read_node(void)
{
    char text[256] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (NULL == file || NULL == fgets(text, sizeof text, file)) {
        rustcoll_shim_host_name(text, sizeof text);
    }
    if (NULL != file) {
        fclose(file);
    }
    node = rustcoll_digest(text);
}

/* What ranks tell each other before they decide together: digests of what must be equal and of the node, each with its complement, and
 * how many private communicators they have. Of each, all learn the maximum; so of a digest, they learn the greatest and the least. */
enum { HELD, NODE = 2, PRIVATE_ONES = 4, FACTS };

static void own_facts(uint64_t facts[FACTS])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_node);
    facts[HELD] = rustcoll_digest(rustcoll_holdings(0, NULL, NULL));
    facts[NODE] = node;
    facts[HELD + 1] = ~facts[HELD];
    facts[NODE + 1] = ~facts[NODE];
    facts[PRIVATE_ONES] = private_ones;
}

/* Replaces facts by their maxima. On an inter-communicator, each group first learns the maxima of the other one, and then both learn those
 * of both. Waits in steps, because other ranks may wait for operations of this rank that are in flight. */
static void learn_facts(uint64_t facts[FACTS], MPI_Comm all, int is_inter)
{
    for (int i = 0; i <= is_inter; i++) {
        uint64_t others[FACTS] = {0};
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Iallreduce(facts, others, FACTS, MPI_UINT64_T, MPI_MAX, all, &request);
        rustcoll_wait_for(&request, MPI_STATUS_IGNORE);
        for (int fact = 0; fact < FACTS; fact++) {
            facts[fact] = facts[fact] < others[fact] ? others[fact] : facts[fact];
        }
    }
}

/* Ends the job if ranks would decide differently. Otherwise notes whether they are on one node. */
static void note_facts(rustcoll_state *state, const uint64_t facts[FACTS], MPI_Comm all)
{
    int size;
    if (facts[HELD] != ~facts[HELD + 1]) {
        tell_difference(all, rustcoll_holdings(0, NULL, NULL));
    }
    PMPI_Comm_size(all, &size);
    const int is_on_one_node = facts[NODE] == ~facts[NODE + 1];
    if (is_on_one_node) {
        rustcoll_note_neighbours(size);
    }
    state->spread = is_on_one_node ? RUSTCOLL_ON_ONE_NODE : RUSTCOLL_ON_SEVERAL_NODES;
    state->is_set_up = 1;
}

void rustcoll_show_faults(int rank)
{
    fprintf(stderr, "rustcoll: rules or schedule files have faults; what is faulty is left out; rank %d is the first that finds these:\n%s\n", rank,
            rustcoll_faults());
}

/* Shows the faults of rules that are left out, once for all ranks with the same faults. */
static void tell_faults(uint64_t own)
{
    int rank, size, first = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *all = malloc(size * sizeof *all);
    if (NULL == all) {
        rustcoll_end_job("rustcoll: no memory for the faults of rules");
    }
    PMPI_Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    while (all[first] != own) {
        first++;
    }
    free(all);
    if (0 != own && first == rank) {
        rustcoll_show_faults(rank);
    }
}

void rustcoll_compare_job(int is_active)
{
    const char *own = is_active ? rustcoll_holdings(0, NULL, NULL) : NULL;
    const uint64_t held = NULL == own ? 0 : rustcoll_digest(own);
    const uint64_t faults = is_active && '\0' != *rustcoll_faults() ? rustcoll_digest(rustcoll_faults()) : 0;
    uint64_t told[3] = {held, ~held, faults};
    rustcoll_meet();
    PMPI_Allreduce(MPI_IN_PLACE, told, 3, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (0 != told[2]) {
        tell_faults(faults);
    }
    if (told[0] != ~told[1]) {
        tell_difference(MPI_COMM_WORLD, own);
    }
}

/* Makes a private communicator of the same ranks. Unlike MPI_Comm_dup, MPI_Comm_create does not copy attributes, so no
 * function of the program's runs. Leaves MPI_COMM_NULL, at all ranks, if MPI has none left. */
static void create_own(rustcoll_state *state)
{
    MPI_Group group;
    MPI_Errhandler users;
    PMPI_Comm_group(state->communicator, &group);
    PMPI_Comm_get_errhandler(state->communicator, &users);
    PMPI_Comm_set_errhandler(state->communicator, MPI_ERRORS_RETURN);
    if (MPI_SUCCESS != PMPI_Comm_create(state->communicator, group, &state->own)) {
        state->own = MPI_COMM_NULL;
    }
    PMPI_Comm_set_errhandler(state->communicator, users);
    PMPI_Errhandler_free(&users);
    PMPI_Group_free(&group);
}

/* Makes a communicator for the own group of an inter-communicator; both groups do so together. Without one, frees the private
 * communicator as well. */
static void set_up_groups(rustcoll_state *state, const uint64_t facts[FACTS])
{
    MPI_Comm both;
    int rank;
    if (MPI_SUCCESS != PMPI_Intercomm_merge(state->own, 0, &both)) {
        PMPI_Comm_free(&state->own);
        return;
    }
    PMPI_Comm_rank(both, &rank);
    PMPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    /* The least rank of a group in `both` identifies the group. */
    if (MPI_SUCCESS == PMPI_Comm_split(both, rank - state->group.rank, state->group.rank, &state->local)) {
        PMPI_Comm_set_errhandler(state->local, MPI_ERRORS_RETURN);
        note_facts(state, facts, both);
    } else {
        state->local = MPI_COMM_NULL;
        PMPI_Comm_free(&state->own);
    }
    PMPI_Comm_free(&both);
}

/* Makes the private communicator in a blocking call, in which all ranks are. Leaves MPI_COMM_NULL, at all ranks, if one of them has all the
 * private communicators that it may have, or MPI has none left. */
static void create(rustcoll_state *state)
{
    uint64_t facts[FACTS];
    own_facts(facts);
    learn_facts(facts, state->communicator, state->group.is_inter);
    if (facts[PRIVATE_ONES] < MOST_PRIVATE) {
        create_own(state);
    }
    if (MPI_COMM_NULL == state->own) {
        return;
    }
    rustcoll_wait_until_it_can_send(state);
    if (state->group.is_inter) {
        set_up_groups(state, facts);
    } else {
        note_facts(state, facts, state->own);
    }
}

/* Has the ranks compare what must be equal, once all are in a blocking call. */
static void set_up(rustcoll_state *state)
{
    uint64_t facts[FACTS];
    own_facts(facts);
    rustcoll_wait_until_it_can_send(state);
    learn_facts(facts, state->own, 0);
    note_facts(state, facts, state->own);
}

/* Without its duplicate, a communicator's operations never end. */
static void check_duplication(int error)
{
    if (MPI_SUCCESS != error) {
        char reason[MPI_MAX_ERROR_STRING];
        int length = 0;
        PMPI_Error_string(error, reason, &length);
        rustcoll_end_job("rustcoll: RUSTCOLL_NONBLOCKING needs one more communicator for each that has collectives, and MPI made none: %.*s", length, reason);
    }
}

/* One thread tests the duplication at a time, as MPI demands of requests; to others it is not complete meanwhile. */
int rustcoll_can_send(rustcoll_state *state)
{
    int is_complete = 0;
    if (state->can_send || atomic_flag_test_and_set(&state->is_tested)) {
        return state->can_send;
    }
    if (!state->can_send) {
        check_duplication(PMPI_Test(&state->duplication, &is_complete, MPI_STATUS_IGNORE));
    }
    if (is_complete) {
        PMPI_Comm_set_errhandler(state->own, MPI_ERRORS_RETURN);
        state->can_send = 1;
    }
    atomic_flag_clear(&state->is_tested);
    return state->can_send;
}

static rustcoll_below served_by_mpi(void)
{
    rustcoll_below below;
    for (int i = 0; i < RUSTCOLL_COLLECTIVES; i++) {
        below.blocking[i] = below.nonblocking[i] = below.persistent[i] = !rustcoll_is_alone();
    }
    return below;
}

static void make_keyval(void) { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL); }

/* Whether MPI serves all collectives on a communicator, because it had no private one left for this library; the same at all ranks. */
static int is_left_to_mpi(const rustcoll_state *state)
{
    return MPI_COMM_NULL == state->own && MPI_REQUEST_NULL == state->duplication;
}

/* Only once, because more communicators follow. */
static void tell_that_mpi_serves(const rustcoll_state *state)
{
    static atomic_int is_told;
    if (0 == state->group.rank && 0 == is_told++) {
        fprintf(stderr,
                "rustcoll: there are %u communicators with collectives; MPI serves those of further ones itself, so that it does not run out of "
                "communicators\n",
                (unsigned) private_ones);
    }
}

/* Makes a state. All ranks do so in their first collective on a communicator, which is the same on all. A non-blocking collective begins at
 * some ranks before calls on other communicators, and at others after them. So nothing that a rank learnt in such calls may affect the
 * state: until the first blocking collective on this communicator, no rank knows how it is spread over nodes. */
static rustcoll_state *new_state(MPI_Comm communicator, int is_inter, int is_blocking)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int remote = 0;
    rustcoll_state *state = calloc(1, sizeof *state);
    if (NULL == state) {
        rustcoll_end_job("rustcoll: no memory for the state of a communicator");
        return NULL;
    }
    pthread_once(&once, make_keyval);
    *state = (rustcoll_state) {.own = MPI_COMM_NULL, .local = MPI_COMM_NULL, .communicator = communicator,
                               .duplication = MPI_REQUEST_NULL, .is_tested = ATOMIC_FLAG_INIT, .users = 1,
                               .handler = MPI_ERRHANDLER_NULL};
    state->group.is_inter = is_inter;
    PMPI_Comm_rank(communicator, &state->group.rank);
    PMPI_Comm_size(communicator, &state->group.size);
    if (is_inter) {
        PMPI_Comm_remote_size(communicator, &remote);
    }
    if (is_inter || !rustcoll_serves_nonblocking()) {
        create(state);
    } else {
        /* No rank may wait in MPI for its duplicate: another rank may wait for this rank's part of a non-blocking collective. */
        check_duplication(PMPI_Comm_idup(communicator, &state->own, &state->duplication));
        if (is_blocking) {
            set_up(state);
        }
    }
    PMPI_Comm_set_attr(communicator, keyval, state);
    pthread_mutex_lock(&lock);
    state->next = states;
    states = state;
    const unsigned number = made++;
    pthread_mutex_unlock(&lock);
    if (is_left_to_mpi(state)) {
        tell_that_mpi_serves(state);
        return state;
    }
    private_ones++;
    const rustcoll_below below = served_by_mpi();
    state->rust = rustcoll_communicator_new(state, is_inter ? (const void *) &state->local : state, state->group.rank,
                                            state->group.size, remote, RUSTCOLL_FIRST_REQUEST_TAG - 1, number, &below);
    if (NULL == state->rust) {
        rustcoll_end_job("rustcoll: no memory for the state of a communicator");
    }
    return state;
}

/* Finds the state of a communicator that has one, as rustcoll_find_state does. */
static int find_known(MPI_Comm communicator, rustcoll_state **state)
{
    static _Thread_local struct {
        MPI_Comm communicator;
        rustcoll_state *state;
        unsigned freed;
    } last;
    if (NULL != last.state && communicator == last.communicator && freed == last.freed) {
        *state = last.state;
        return MPI_SUCCESS;
    }
    rustcoll_state *found = NULL;
    int is_there = 0, error = MPI_SUCCESS;
    if (MPI_KEYVAL_INVALID != keyval) {
        error = PMPI_Comm_get_attr(communicator, keyval, &found, &is_there);
    }
    *state = MPI_SUCCESS == error && is_there ? found : NULL;
    if (NULL != *state) {
        last.communicator = communicator;
        last.state = found;
        last.freed = freed;
    }
    return error;
}

/* Makes the state of a communicator that has none, as rustcoll_find_state does. */
static int make_state(MPI_Comm communicator, int is_blocking, rustcoll_state **state)
{
    int is_inter;
    const int error = PMPI_Comm_test_inter(communicator, &is_inter);
    /* The groups of an inter-communicator cannot be set up without waiting. */
    const int can_make = MPI_SUCCESS == error && (is_blocking || !is_inter);
    *state = can_make ? new_state(communicator, is_inter, is_blocking) : NULL;
    return error;
}

int rustcoll_find_state(MPI_Comm communicator, int is_blocking, rustcoll_state **state)
{
    *state = NULL;
    if (MPI_COMM_NULL == communicator) {
        return MPI_SUCCESS;
    }
    int error = find_known(communicator, state);
    if (MPI_SUCCESS != error || (NULL == *state && !rustcoll_is_active())) {
        return error;
    }
    if (!is_blocking && !rustcoll_serves_nonblocking()) {
        *state = NULL;
        return MPI_SUCCESS;
    }
    if (NULL == *state) {
        error = make_state(communicator, is_blocking, state);
    }
    if (NULL != *state && is_left_to_mpi(*state)) {
        *state = NULL;
    }
    if (NULL != *state && is_blocking && !(*state)->is_set_up) {
        set_up(*state);
        rustcoll_look_again((*state)->rust);
    }
    return error;
}

int rustcoll_shim_spread(const void *handle) { return ((const rustcoll_state *) handle)->spread; }

/* Rust asks for the entries from number 0 on. MPI's copy of them is kept meanwhile, because it takes MPI microseconds to make one. */
int rustcoll_shim_info(const void *handle, int number, const char **key, const char **value)
{
    static _Thread_local char name[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    static _Thread_local MPI_Info info;
    static _Thread_local int keys;
    int is_there = 0;
    if (0 == number) {
        PMPI_Comm_get_info(((const rustcoll_state *) handle)->communicator, &info);
        PMPI_Info_get_nkeys(info, &keys);
    }
    if (number < keys) {
        PMPI_Info_get_nthkey(info, number, name);
        PMPI_Info_get(info, name, sizeof text - 1, text, &is_there);
        *key = name;
        *value = text;
    }
    if (!is_there) {
        PMPI_Info_free(&info);
    }
    return is_there;
}

/* Returns an array that lives until the thread asks for the next topology; Rust copies it at once. */
static int *room(size_t numbers)
{
    static _Thread_local int *kept;
    static _Thread_local size_t length;
    if (numbers > length) {
        free(kept);
        kept = malloc(numbers * sizeof *kept);
        length = numbers;
    }
    return kept;
}

void rustcoll_shim_topology(const void *handle, rustcoll_topology *topology)
{
    MPI_Comm communicator = ((const rustcoll_state *) handle)->communicator;
    int kind = MPI_UNDEFINED, dimensions, in, out, is_weighted;
    *topology = (rustcoll_topology) {0};
    PMPI_Topo_test(communicator, &kind);
    if (MPI_CART == kind) {
        PMPI_Cartdim_get(communicator, &dimensions);
        const size_t length = (size_t) dimensions;
        int *numbers = room(3 * length + 1);
        PMPI_Cart_get(communicator, dimensions, numbers, numbers + length, numbers + 2 * length);
        topology->is_grid = 1;
        topology->dimensions = length;
        topology->lengths = numbers;
        topology->periods = numbers + length;
        topology->indegree = topology->outdegree = 2 * length;
    } else if (MPI_GRAPH == kind) {
        const int rank = ((const rustcoll_state *) handle)->group.rank;
        PMPI_Graph_neighbors_count(communicator, rank, &out);
        int *neighbours = room((size_t) out + 1);
        PMPI_Graph_neighbors(communicator, rank, out, neighbours);
        topology->indegree = topology->outdegree = (size_t) out;
        topology->sources = topology->destinations = neighbours;
    } else if (MPI_DIST_GRAPH == kind) {
        PMPI_Dist_graph_neighbors_count(communicator, &in, &out, &is_weighted);
        const size_t edges = (size_t) (in + out);
        int *numbers = room(2 * edges + 1), *weights = numbers + edges;
        PMPI_Dist_graph_neighbors(communicator, in, numbers, is_weighted ? weights : MPI_UNWEIGHTED, out, numbers + in,
                                  is_weighted ? weights + in : MPI_UNWEIGHTED);
        topology->indegree = (size_t) in;
        topology->outdegree = (size_t) out;
        topology->sources = numbers;
        topology->destinations = numbers + in;
    }
}
