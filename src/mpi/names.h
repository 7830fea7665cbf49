/* Names of communicators, datatypes and operators, and the ranks of communicators in MPI_COMM_WORLD, by functions that every MPI has.
 * The file that includes this one defines COMMUNICATOR_OF(handle), the communicator that a user knows; OWN_OF(handle), one of the same
 * ranks that lives as long as the handle; DATATYPE_OF(handle) and OPERATOR_OF(handle). The first two may be MPI_COMM_NULL. */

#include <stdlib.h>
#include <string.h>

/* Where a program has sessions of MPI alone, some of MPI's functions end the job. */
static int is_initialized(void)
{
    int flag = 0;
    PMPI_Initialized(&flag);
    return flag;
}

static void cut(const char *whole, char *name, size_t length)
{
    strncpy(name, whole, length - 1);
    name[length - 1] = '\0';
}

void rustcoll_shim_communicator_name(const void *communicator, char *name, size_t length)
{
    char whole[MPI_MAX_OBJECT_NAME];
    int written = 0;
    MPI_Comm named = COMMUNICATOR_OF(communicator);
    if (MPI_COMM_NULL == named || !is_initialized() || MPI_SUCCESS != PMPI_Comm_get_name(named, whole, &written)) {
        written = 0;
    }
    whole[written] = '\0';
    cut(whole, name, length);
}

void rustcoll_shim_datatype_name(const void *datatype, char *name, size_t length)
{
    char whole[MPI_MAX_OBJECT_NAME];
    int written = 0;
    if (!is_initialized() || MPI_SUCCESS != PMPI_Type_get_name(DATATYPE_OF(datatype), whole, &written)) {
        written = 0;
    }
    whole[written] = '\0';
    cut(whole, name, length);
}

const char *rustcoll_shim_operator_name(const void *handle)
{
    const MPI_Op op = OPERATOR_OF(handle);
    const struct {
        MPI_Op op;
        const char *name;
    } known[] = {{MPI_SUM, "MPI_SUM"},       {MPI_MAX, "MPI_MAX"},       {MPI_MIN, "MPI_MIN"},   {MPI_PROD, "MPI_PROD"},
                 {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},     {MPI_LOR, "MPI_LOR"},   {MPI_BOR, "MPI_BOR"},
                 {MPI_LXOR, "MPI_LXOR"},     {MPI_BXOR, "MPI_BXOR"},     {MPI_MAXLOC, "MPI_MAXLOC"},
                 {MPI_MINLOC, "MPI_MINLOC"}, {MPI_REPLACE, "MPI_REPLACE"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (op == known[i].op) {
            return known[i].name;
        }
    }
    return "user's";
}

void rustcoll_shim_world_ranks(const void *communicator, int *ranks, int size)
{
    MPI_Comm of = OWN_OF(communicator);
    int *own = malloc((size_t) size * sizeof *own);
    for (int rank = 0; rank < size; rank++) {
        ranks[rank] = -1;
        if (NULL != own) {
            own[rank] = rank;
        }
    }
    if (NULL != own && MPI_COMM_NULL != of && is_initialized()) {
        MPI_Group group, world;
        PMPI_Comm_group(of, &group);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Group_translate_ranks(group, size, own, world, ranks);
        for (int rank = 0; rank < size; rank++) {
            ranks[rank] = MPI_UNDEFINED == ranks[rank] ? -1 : ranks[rank];
        }
        PMPI_Group_free(&group);
        PMPI_Group_free(&world);
    }
    free(own);
}
