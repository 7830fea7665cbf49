/* Calls collectives with random arguments, blocking and not, on one group, on two, and among neighbours. Before each call, rank 0 describes it
 * on stderr, where the component also logs. Arguments: number of calls, seed, number of ranks that pretend to be on each node (0: all are on
 * one). There must be as many ranks as the grid has. */
#include "collectives.h"
#include "pretended_nodes.h"

enum { SIDE = 3, RANKS = SIDE * SIDE, MOST_NEIGHBOURS = 8, MOST_COUNT = (1 << 17) + 2 };

/* The collective that the others' list leaves out. */
enum { BARRIER = COLLECTIVES, CALLED };

/* The neighbours of a rank: on a Cartesian ring, on a ring that is given as a graph, or on a grid with diagonals. */
enum shape { CARTESIAN, RING, GRID, SHAPES };

typedef struct call {
    int collective, size, count, root, is_in_place;
    enum form form;
    enum kind kind;
    enum shape shape;
    MPI_Op operator_;
} call;

/* `fill` leaves gaps between the blocks of an alltoallw. */
enum { ROOM = MOST_RANKS * MOST_COUNT * (int) sizeof(int) };

static unsigned random_state;
static unsigned char sent[ROOM], received[ROOM];
static MPI_Op ordered, commutative;
/* The ranks of each size, in one group and in two. */
static MPI_Comm of_one_group[RANKS + 1], of_two_groups[RANKS + 1];

static int below(int bound) { return rand_r(&random_state) % bound; }

static void combine(void *left, void *right, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((unsigned char *) right)[i] |= ((unsigned char *) left)[i];
    }
}

/* Collectives in which either all ranks pass MPI_IN_PLACE, or none does. */
static int may_be_in_place(int one)
{
    return ALLGATHER == one || ALLGATHERV == one || ALLREDUCE == one || ALLTOALL == one || ALLTOALLV == one || ALLTOALLW == one
           || REDUCE_SCATTER_BLOCK == one;
}

/* Near powers of two, where conditions of rules have their bounds. */
static int random_count(void) { return (1 << below(18)) + below(3); }

static call random_call(void)
{
    const MPI_Op operators[] = {MPI_BOR, commutative, ordered};
    call made = {.collective = below(CALLED), .form = below(PERSISTENT), .count = random_count(), .size = 2 + below(RANKS - 1)};
    made.shape = below(SHAPES);
    made.operator_ = operators[below(3)];
    if (is_of(made.collective, NEIGHBOURS)) {
        made.kind = NEIGHBOURS;
        made.size = GRID == made.shape ? RANKS : made.size;
    } else if (is_of(made.collective, TWO_GROUPS) && 0 == below(4)) {
        made.kind = TWO_GROUPS;
        made.size -= made.size % 2;
    }
    made.is_in_place = ONE_GROUP == made.kind && may_be_in_place(made.collective) && below(2);
    made.root = below(made.size);
    return made;
}

static void announce(const call *made)
{
    const int is_total = ALLGATHERV == made->collective || REDUCE_SCATTER == made->collective;
    fprintf(stderr, "problem: collective=%s blocking=%d ranks=%d bytes=%d", BARRIER == made->collective ? "barrier" : names[made->collective],
            BLOCKING == made->form, made->size, made->count * (is_total ? made->size : 1));
    if (TWO_GROUPS == made->kind) {
        fprintf(stderr, " remote=%d", made->size / 2);
    } else {
        int on_node[RANKS] = {0}, most = 0;
        for (int i = 0; i < made->size; i++) {
            const int ranks = ++on_node[node_of(i)];
            most = most < ranks ? ranks : most;
        }
        fprintf(stderr, " nodes=%d ranks_per_node=%d", node_of(made->size - 1) + 1, most);
    }
    if (ONE_GROUP == made->kind && is_rooted(made->collective)) {
        fprintf(stderr, " root=%d", made->root);
    }
    if (NEIGHBOURS == made->kind) {
        fprintf(stderr, " cartesian=%d grid=%d", CARTESIAN == made->shape, GRID == made->shape);
    }
    fprintf(stderr, " in_place=%d predefined=%d ordered=%d\n", made->is_in_place,
            MPI_BOR == made->operator_, reduces(made->collective) && ordered == made->operator_);
}

/* Makes a communicator of the same ranks with neighbours. */
static MPI_Comm with_neighbours(const call *made)
{
    const int periodic = 1;
    int peers[MOST_NEIGHBOURS] = {(rank + made->size - 1) % made->size, (rank + 1) % made->size}, weights[MOST_NEIGHBOURS] = {0}, number = 2;
    MPI_Comm neighbours, ranks = of_one_group[made->size];
    if (CARTESIAN == made->shape) {
        MPI_Cart_create(ranks, 1, &made->size, &periodic, 0, &neighbours);
        return neighbours;
    }
    if (GRID == made->shape) {
        number = 0;
        for (int other = 0; other < RANKS; other++) {
            const int down = other / SIDE - rank / SIDE, right = other % SIDE - rank % SIDE;
            if (other != rank && abs(down) <= 1 && abs(right) <= 1) {
                peers[number++] = other;
            }
        }
    }
    MPI_Dist_graph_create_adjacent(ranks, number, peers, weights, number, peers, weights, MPI_INFO_NULL, 0, &neighbours);
    return neighbours;
}

static MPI_Comm with_two_groups(int ranks)
{
    const int half = ranks / 2, is_first = rank < half;
    MPI_Comm group, made;
    MPI_Comm_split(of_one_group[ranks], is_first, rank, &group);
    MPI_Intercomm_create(group, 0, of_one_group[ranks], is_first ? half : 0, 1, &made);
    MPI_Comm_free(&group);
    return made;
}

static void make_communicators(void)
{
    for (int ranks = 2; ranks <= RANKS; ranks++) {
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &of_one_group[ranks]);
        if (rank < ranks && 0 == ranks % 2) {
            of_two_groups[ranks] = with_two_groups(ranks);
        }
    }
}

static void perform(const call *made, MPI_Comm communicator)
{
    const int count = made->count, is_second = rank >= made->size / 2;
    arguments a = {made->is_in_place ? MPI_IN_PLACE : sent, received, count, count, MPI_BYTE, MPI_BYTE, made->operator_, made->root};
    MPI_Request request = MPI_REQUEST_NULL;
    if (TWO_GROUPS == made->kind) {
        a.root = is_second ? 0 : 0 == rank ? MPI_ROOT : MPI_PROC_NULL;
    }
    if (BARRIER != made->collective) {
        run(made->collective, made->form, &a, communicator);
    } else if (BLOCKING == made->form) {
        MPI_Barrier(communicator);
    } else {
        MPI_Ibarrier(communicator, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* A communicator with neighbours serves one call, so that nothing is known of them from earlier calls. */
static void take_part(const call *made)
{
    const int has_neighbours = NEIGHBOURS == made->kind;
    MPI_Comm communicator = TWO_GROUPS == made->kind ? of_two_groups[made->size] : of_one_group[made->size];
    if (has_neighbours) {
        communicator = with_neighbours(made);
    }
    if (0 == rank) {
        announce(made);
    }
    perform(made, communicator);
    if (has_neighbours) {
        MPI_Comm_free(&communicator);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (RANKS != size || 4 != argc) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    setvbuf(stderr, NULL, _IOLBF, 0); /* keeps lines whole between those of the log */
    random_state = (unsigned) atoi(argv[2]);
    ranks_on_node = atoi(argv[3]);
    MPI_Op_create(combine, 1, &commutative);
    MPI_Op_create(combine, 0, &ordered);
    make_communicators();
    for (int i = 0; i < atoi(argv[1]); i++) {
        const call made = random_call();
        if (rank < made.size) {
            take_part(&made);
        }
    }
    MPI_Finalize();
    return 0;
}
