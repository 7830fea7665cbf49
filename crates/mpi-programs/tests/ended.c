/* Loaded before MPI into the processes of a job. Each process that comes to MPI_Finalize leaves a file with its number in the folder that the
 * environment names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Finalize(void)
{
    int (*const next)(void) = (int (*)(void)) dlsym(RTLD_NEXT, "MPI_Finalize");
    const char *folder = getenv("FOLDER_OF_ENDED");
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", NULL == folder ? "." : folder, (int) getpid());
    const int file = NULL == folder ? -1 : open(name, O_CREAT | O_WRONLY, 0600);
    if (0 <= file) {
        close(file);
    }
    return next();
}
