/* Makes allreduces by each algorithm in turn. All ranks must get the same bits. */
#include "algorithms.h"
#include "same_bits.h"
#include "verdict.h"

int main(int argc, char **argv)
{
    const int counts[] = {1, 10, 1000, 50000};
    const MPI_Op operations[] = {MPI_MAX, MPI_MIN, MPI_SUM};
    int rank, wrong = 0;
    algorithms all = {.number = 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!find_algorithms(&all, "allreduce")) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < all.number; i++) {
        const char *by = force(&all, i);
        for (int j = 0; j < 4 * 3; j++) {
            const int different = different_bits(counts[j / 3], operations[j % 3]);
            if (0 != different) {
                printf("rank %d has other bits by %s\n", rank, by);
            }
            wrong += different;
        }
    }
    if (0 == rank) {
        printf("%d algorithms\n", all.number);
    }
    release(&all);
    return verdict(wrong);
}
