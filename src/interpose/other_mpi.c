/* For programs that use another MPI than the one that this library was made for, because a site preloads the library
 * into every program, for example. Handles are numbers in one MPI and addresses in another, so functions declared for
 * one cannot even pass on the calls of the other. The program must run without this library. */

#include "interpose.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
static const char *const served = "Open MPI", *const used = "another MPI";
enum { SERVES_OPEN_MPI = 1 };
/* Libraries that only another MPI loads, by the start of their names. */
static const char *const libraries_of_others[] = {"libmpi.so.12", "libmpich.so.12", NULL};
#else
static const char *const served = "MPICH and MPIs with its interface", *const used = "Open MPI";
enum { SERVES_OPEN_MPI = 0 };
static const char *const libraries_of_others[] = {"libopen-pal.so", NULL};
#endif

/* Whether the MPI functions that the program finds are those of Open MPI: their library, or one that it needs, has a function that only Open
 * MPI has. (A function, because programs may hold copies of Open MPI's data objects.) */
static int uses_open_mpi(void)
{
    Dl_info of_mpi;
    void *function = dlsym(RTLD_DEFAULT, "PMPI_Comm_rank");
    if (NULL == function || !dladdr(function, &of_mpi)) {
        return 0;
    }
    void *library = dlopen(of_mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (NULL == library) {
        /* MPI is linked into the program. */
        return NULL != dlsym(RTLD_DEFAULT, "ompi_mpi_init");
    }
    const int is_it = NULL != dlsym(library, "ompi_mpi_init");
    dlclose(library);
    return is_it;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return NULL == slash ? path : slash + 1;
}

/* Removes this library from LD_PRELOAD; returns whether it was there. */
static int remove_from_preloaded(void)
{
    Dl_info own;
    const char *preloaded = getenv("LD_PRELOAD");
    if (NULL == preloaded || !dladdr(&served, &own)) {
        return 0;
    }
    int is_removed = 0;
    char *others = calloc(1, strlen(preloaded) + 1), *list = strdup(preloaded), *rest = NULL;
    if (NULL == others || NULL == list) {
        return 0;
    }
    for (char *path = strtok_r(list, ": ", &rest); NULL != path; path = strtok_r(NULL, ": ", &rest)) {
        if (0 == strcmp(base_name(path), base_name(own.dli_fname))) {
            is_removed = 1;
        } else {
            strcat(strcat(others, '\0' == *others ? "" : ":"), path);
        }
    }
    if ('\0' == *others) {
        unsetenv("LD_PRELOAD");
    } else {
        setenv("LD_PRELOAD", others, 1);
    }
    return is_removed;
}

static int is_of_another_mpi(struct dl_phdr_info *loaded, size_t size, void *unused)
{
    const char *name = base_name(loaded->dlpi_name);
    for (int i = 0; NULL != libraries_of_others[i]; i++) {
        if (0 == strncmp(name, libraries_of_others[i], strlen(libraries_of_others[i]))) {
            return 1;
        }
    }
    return 0;
}

static void say(const char *what_follows)
{
    if (rustcoll_may_be_first_on_node()) {
        fprintf(stderr, "rustcoll: this library serves %s, but the program uses %s; %s\n", served, used, what_follows);
    }
}

/* Runs before the program, and starts it again without this library, in the same process. */
__attribute__((constructor)) static void leave_other_mpis_alone(int argc, char **argv)
{
    if (SERVES_OPEN_MPI != uses_open_mpi() && remove_from_preloaded()) {
        say("it stays inactive");
        execv("/proc/self/exe", argv);
    }
}

/* Some programs, such as those in Python, load MPI's library later than this one, which has brought its own MPI. */
void rustcoll_refuse_other_mpis(void)
{
    if (SERVES_OPEN_MPI != uses_open_mpi() || dl_iterate_phdr(is_of_another_mpi, NULL)) {
        say("start the program without it: it is named in LD_PRELOAD, or linked with the program");
        exit(1);
    }
}
