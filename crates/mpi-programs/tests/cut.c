/* Collectives on elements of a byte and, behind a gap, a complex number of long double: 32 bytes that Open MPI cannot unpack in parts. Blocks of
 * these elements are cut into pieces anywhere. */

#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

typedef struct element {
    char letter;
    long double _Complex number;
} element;

enum { ELEMENTS = 10000, BLOCK = 1000, ROUNDS = 10, FIRST = offsetof(element, number), LENGTH = sizeof(long double _Complex), GAP = 0x5a };

static MPI_Datatype type_of(size_t first, size_t extent)
{
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, (MPI_Aint) first};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_C_LONG_DOUBLE_COMPLEX};
    MPI_Datatype fields, type;
    MPI_Type_create_struct(2, lengths, places, types, &fields);
    MPI_Type_create_resized(fields, 0, (MPI_Aint) extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

/* Byte `i` of data, counted without gaps, in what a rank sends in a round. */
static unsigned char byte_of(int rank, int round, size_t i) { return (unsigned char) (i * 7 + i / 251 + (size_t) (31 * rank + 101 * round)); }

/* Fills elements: with a rank's bytes, and something else in the gaps. */
static void fill(unsigned char *memory, size_t elements, int rank, int round)
{
    memset(memory, GAP, elements * sizeof(element));
    for (size_t i = 0; i < elements; i++, memory += sizeof(element)) {
        memory[0] = byte_of(rank, round, i * (1 + LENGTH));
        for (size_t j = 0; j < LENGTH; j++) {
            memory[FIRST + j] = byte_of(rank, round, i * (1 + LENGTH) + 1 + j);
        }
    }
}

static int differs(const char *what, const unsigned char *found, size_t elements, int rank, int round)
{
    unsigned char *expected = malloc(elements * sizeof(element));
    fill(expected, elements, rank, round);
    const int is_wrong = 0 != memcmp(found, expected, elements * sizeof(element));
    free(expected);
    if (is_wrong) {
        printf("%s is wrong\n", what);
    }
    return is_wrong;
}

static int broadcasts(int rank, int size, MPI_Datatype type)
{
    unsigned char *all = malloc(ELEMENTS * sizeof(element));
    int wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int root = round % size;
        memset(all, GAP, ELEMENTS * sizeof(element));
        if (rank == root) {
            fill(all, ELEMENTS, root, round);
        }
        MPI_Bcast(all, ELEMENTS, type, root, MPI_COMM_WORLD);
        wrong += differs("MPI_Bcast", all, ELEMENTS, root, round);
    }
    free(all);
    return wrong;
}

/* Each rank sends a block without gaps and receives blocks with gaps, as one element each. */
static int allgathers(int rank, int size, MPI_Datatype type)
{
    MPI_Datatype packed = type_of(1, 1 + LENGTH), sent, received;
    unsigned char own[BLOCK * (1 + LENGTH)], *all = malloc((size_t) size * BLOCK * sizeof(element));
    int wrong = 0;
    MPI_Type_contiguous(BLOCK, packed, &sent);
    MPI_Type_contiguous(BLOCK, type, &received);
    MPI_Type_commit(&sent);
    MPI_Type_commit(&received);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof own; i++) {
            own[i] = byte_of(rank, round, i);
        }
        memset(all, GAP, (size_t) size * BLOCK * sizeof(element));
        MPI_Allgather(own, 1, sent, all, 1, received, MPI_COMM_WORLD);
        for (int sender = 0; sender < size; sender++) {
            wrong += differs("MPI_Allgather", all + (size_t) sender * BLOCK * sizeof(element), BLOCK, sender, round);
        }
    }
    free(all);
    MPI_Type_free(&received);
    MPI_Type_free(&sent);
    MPI_Type_free(&packed);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype type = type_of(FIRST, sizeof(element));
    const int wrong = broadcasts(rank, size, type) + allgathers(rank, size, type);
    MPI_Type_free(&type);
    return verdict(wrong);
}
