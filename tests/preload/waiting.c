/* A rank's operations must go on in every MPI call that waits or tests. The other side answers only once the operation
 * has ended on all ranks, so a call without progress never ends. An alarm then ends the job and names the call. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 50000, PATIENCE = 60 };

static const char *volatile current = "nothing";
static int rank, size, wrong, vector[LENGTH], sums[LENGTH];

static void give_up(int number)
{
    static const char text[] = ": operations do not go on in it\n";
    const char *name = current;
    if (write(2, name, strlen(name)) < 0 || write(2, text, sizeof text - 1) < 0) {
        _exit(2);
    }
    _exit(1);
}

/* The ways in which rank 1 gets the message of rank 0. Each ends with the received message. */
static int message;

static void receive_probed(void) { MPI_Recv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void by_recv(void) { receive_probed(); }

static void by_probe(void)
{
    MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_probed();
}

static void by_iprobe(void)
{
    for (int is_there = 0; !is_there;) {
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
    receive_probed();
}

static void by_mprobe(void)
{
    MPI_Message matched;
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE);
    MPI_Mrecv(&message, 1, MPI_INT, &matched, MPI_STATUS_IGNORE);
}

static void by_improbe(void)
{
    MPI_Message matched;
    for (int is_there = 0; !is_there;) {
        MPI_Improbe(0, 1, MPI_COMM_WORLD, &is_there, &matched, MPI_STATUS_IGNORE);
    }
    MPI_Mrecv(&message, 1, MPI_INT, &matched, MPI_STATUS_IGNORE);
}

static void by_sendrecv(void)
{
    MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, &message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_sendrecv_replace(void)
{
    MPI_Sendrecv_replace(&message, 1, MPI_INT, MPI_PROC_NULL, 1, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_Request posted(void)
{
    MPI_Request request;
    MPI_Irecv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    return request;
}

static void by_wait(void)
{
    MPI_Request request = posted();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_waitall(void)
{
    MPI_Request request = posted();
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void by_waitany(void)
{
    MPI_Request request = posted();
    int index;
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
}

static void by_waitsome(void)
{
    MPI_Request request = posted();
    int number, index;
    MPI_Waitsome(1, &request, &number, &index, MPI_STATUSES_IGNORE);
}

static void by_test(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0; !is_complete;) {
        MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    }
}

static void by_testall(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0; !is_complete;) {
        MPI_Testall(1, &request, &is_complete, MPI_STATUSES_IGNORE);
    }
}

static void by_testany(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0, index; !is_complete;) {
        MPI_Testany(1, &request, &index, &is_complete, MPI_STATUS_IGNORE);
    }
}

static void by_testsome(void)
{
    MPI_Request request = posted();
    for (int number = 0, index; 0 == number;) {
        MPI_Testsome(1, &request, &number, &index, MPI_STATUSES_IGNORE);
    }
}

static void by_get_status(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0; !is_complete;) {
        MPI_Request_get_status(request, &is_complete, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void by_get_status_any(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0, index; !is_complete;) {
        MPI_Request_get_status_any(1, &request, &index, &is_complete, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_get_status_all(void)
{
    MPI_Request request = posted();
    for (int is_complete = 0; !is_complete;) {
        MPI_Request_get_status_all(1, &request, &is_complete, MPI_STATUSES_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_get_status_some(void)
{
    MPI_Request request = posted();
    for (int number = 0, index; 0 == number;) {
        MPI_Request_get_status_some(1, &request, &number, &index, MPI_STATUSES_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

#if MPI_VERSION >= 4
static void by_recv_c(void) { MPI_Recv_c(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void by_sendrecv_c(void)
{
    MPI_Sendrecv_c(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, &message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
#endif

static const struct {
    const char *name;
    void (*receive)(void);
} calls[] = {
    {"MPI_Recv", by_recv},
    {"MPI_Probe", by_probe},
    {"MPI_Iprobe", by_iprobe},
    {"MPI_Mprobe", by_mprobe},
    {"MPI_Improbe", by_improbe},
    {"MPI_Sendrecv", by_sendrecv},
    {"MPI_Sendrecv_replace", by_sendrecv_replace},
    {"MPI_Wait", by_wait},
    {"MPI_Waitall", by_waitall},
    {"MPI_Waitany", by_waitany},
    {"MPI_Waitsome", by_waitsome},
    {"MPI_Test", by_test},
    {"MPI_Testall", by_testall},
    {"MPI_Testany", by_testany},
    {"MPI_Testsome", by_testsome},
    {"MPI_Request_get_status", by_get_status},
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    {"MPI_Request_get_status_any", by_get_status_any},
    {"MPI_Request_get_status_all", by_get_status_all},
    {"MPI_Request_get_status_some", by_get_status_some},
#endif
#if MPI_VERSION >= 4
    {"MPI_Recv_c", by_recv_c},
    {"MPI_Sendrecv_c", by_sendrecv_c},
#endif
};

int main(int argc, char **argv)
{
    int all_wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGALRM, give_up);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        MPI_Request request;
        current = calls[i].name;
        alarm(PATIENCE);
        for (int j = 0; j < LENGTH; j++) {
            vector[j] = rank + j;
        }
        MPI_Iallreduce(vector, sums, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        message = -1;
        if (1 == rank) {
            calls[i].receive();
            wrong += (int) i != message;
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (0 == rank) {
            int number = (int) i;
            MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        }
        for (int j = 0; j < LENGTH; j++) {
            wrong += size * (size - 1) / 2 + size * j != sums[j];
        }
    }
    alarm(0);
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf(0 == all_wrong ? "all results are right\n" : "%d results are wrong\n", all_wrong);
    }
    MPI_Finalize();
    return 0 != all_wrong;
}
