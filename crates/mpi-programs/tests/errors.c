/* A user's program that makes wrong calls of all collectives, on all ranks, and prints a table of the errors'
 * classes. With an argument it makes only that mistake. */
#include "collectives.h"

enum { ROOM = 64 };

static int send_room[ROOM * MOST_RANKS], recv_room[ROOM * MOST_RANKS];

typedef struct mistake {
    const char *name;
    void (*make)(arguments *);
    enum { OF_ALL, OF_SENDERS, OF_RECEIVERS } whose;
} mistake;

static MPI_Datatype uncommitted, pair;

static void none(arguments *a) { (void) a; }
static void negative_root(arguments *a) { a->root = -17; }
static void root_beyond(arguments *a) { a->root = size; }
static void root_is_root(arguments *a) { a->root = MPI_ROOT; }
static void root_is_null(arguments *a) { a->root = MPI_PROC_NULL; }
static void negative_send_count(arguments *a) { a->send_count = -1; }
static void negative_recv_count(arguments *a) { a->recv_count = -1; }
static void null_send_type(arguments *a) { a->send_type = MPI_DATATYPE_NULL; }
static void null_recv_type(arguments *a) { a->recv_type = MPI_DATATYPE_NULL; }
static void uncommitted_send_type(arguments *a) { a->send_type = uncommitted; }
static void uncommitted_recv_type(arguments *a) { a->recv_type = uncommitted; }
static void null_operator(arguments *a) { a->operator_ = MPI_OP_NULL; }
static void replace_operator(arguments *a) { a->operator_ = MPI_REPLACE; }
static void no_operator(arguments *a) { a->operator_ = MPI_NO_OP; }
static void pair_operator(arguments *a) { a->operator_ = MPI_MAXLOC; }
static void derived_type(arguments *a) { a->recv_type = pair; }
static void bits_of_double(arguments *a)
{
    a->operator_ = MPI_BAND;
    a->recv_type = MPI_DOUBLE;
}
static void send_in_place(arguments *a) { a->send = MPI_IN_PLACE; }
static void recv_in_place(arguments *a) { a->recv = MPI_IN_PLACE; }
static void both_in_place(arguments *a) { a->send = a->recv = MPI_IN_PLACE; }
static void aliased(arguments *a) { a->recv = a->send; }
static void null_buffers_without_data(arguments *a)
{
    a->send = a->recv = NULL;
    a->send_count = a->recv_count = 0;
}

static const mistake mistakes[] = {
    {"none", none},
    {"negative root", negative_root},
    {"root beyond", root_beyond},
    {"MPI_ROOT", root_is_root, OF_SENDERS},
    {"MPI_PROC_NULL", root_is_null},
    {"negative send count", negative_send_count, OF_SENDERS},
    {"negative recv count", negative_recv_count, OF_RECEIVERS},
    {"null send type", null_send_type, OF_SENDERS},
    {"null recv type", null_recv_type, OF_RECEIVERS},
    {"uncommitted send type", uncommitted_send_type, OF_SENDERS},
    {"uncommitted recv type", uncommitted_recv_type, OF_RECEIVERS},
    {"null operator", null_operator},
    {"MPI_REPLACE", replace_operator},
    {"MPI_NO_OP", no_operator},
    {"MPI_MAXLOC of int", pair_operator},
    {"derived type", derived_type, OF_RECEIVERS},
    {"MPI_BAND of double", bits_of_double, OF_RECEIVERS},
    {"send in place", send_in_place, OF_SENDERS},
    {"recv in place", recv_in_place, OF_SENDERS},
    {"both in place", both_in_place, OF_SENDERS},
    {"aliased", aliased, OF_SENDERS},
    {"null buffers without data", null_buffers_without_data},
};

static void print_classes(const char *form, const char *kind, const char *collective, const char *mistake, int class)
{
    char name[MPI_MAX_ERROR_STRING];
    int classes[MOST_RANKS], length;
    MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, talk);
    if (0 == rank) {
        printf("%s, %s, %s, %s:", collective, form, kind, mistake);
        for (int i = 0; i < size; i++) {
            MPI_Error_string(classes[i], name, &length);
            printf(" %.*s", (int) strcspn(name, ":"), name);
        }
        printf("\n");
        fflush(stdout);
    }
}

static void test_mistake(enum kind kind, enum collective collective, enum form form, const mistake *mistake)
{
    MPI_Comm comm = make(kind);
    arguments a = {send_room, recv_room, 4, 4, MPI_INT, MPI_INT, MPI_SUM, root_argument(kind)};
    mistake->make(&a);
    print_classes(forms[form], kinds[kind], names[collective], mistake->name, run(collective, form, &a, comm));
    MPI_Comm_free(&comm);
}

/* Only calls in which either all ranks that others wait for find the mistake, or none does. */
static int is_tried(enum collective collective, const mistake *mistake, const char *only)
{
    const int is_moving = is_rooted(collective) && !reduces(collective) && BCAST != collective;
    if ((OF_SENDERS == mistake->whose && (is_rooted(collective) || reduces(collective))) ||
        (OF_RECEIVERS == mistake->whose && is_moving)) {
        return 0;
    }
    /* Open MPI does not check all arrays of counts, so its own components crash. */
    return NULL == only ? negative_recv_count != mistake->make : 0 == strcmp(only, mistake->name);
}

static void test_arguments(const char *only)
{
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (enum kind kind = 0; kind < KINDS; kind++) {
        for (enum collective collective = 0; collective < COLLECTIVES; collective++) {
            for (size_t i = 0; is_of(collective, kind) && i < sizeof mistakes / sizeof *mistakes; i++) {
                for (enum form form = 0; form < FORMS && is_tried(collective, mistakes + i, only); form++) {
                    test_mistake(kind, collective, form, mistakes + i);
                }
            }
        }
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&uncommitted);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    test_arguments(argc > 1 ? argv[1] : NULL);
    end();
    return 0;
}
