/* Ends the job if ranks would decide differently. Each process publishes what must be equal before Open MPI exchanges
 * such data in MPI_Init, and compares it with what the next rank of a communicator has published: if any two ranks
 * differ, some neighbouring ranks do. */

#include "component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/proc/proc.h"

extern mca_coll_base_component_t mca_coll_rustcoll_component;

/* How long ranks wait for another one to report the difference and to end the job. */
enum { PATIENCE_SECONDS = 10 };

/* What this process has published: what it holds, or nothing if it stays away, and, in lines that do not count as a difference, TCP if that is
 * all it has between nodes, and a digest of its rules' faults. */
static char *own = "";

#define TCP "\ntcp\n"

/* Whether all processes of this job are known to agree. */
static int does_world_agree;

static void publish(const char *holdings, unsigned long long faults)
{
    if (0 > asprintf(&own, "%s%s%016llx", holdings, rustcoll_has_only_tcp() ? TCP : "\n", faults)) {
        own = "";
    }
    int status;
    OPAL_MODEX_SEND(status, RUSTCOLL_EVERYWHERE, &mca_coll_rustcoll_component.collm_version, own, strlen(own) + 1);
    (void) status;
}

void rustcoll_publish(int priority, const char *wrong)
{
    if (rustcoll_can_exchange()) {
        publish(rustcoll_holdings(priority, rustcoll_text_of("ompi", "coll", NULL, NULL), wrong), rustcoll_digest(rustcoll_faults()));
    }
}

void rustcoll_publish_absence(void)
{
    if (rustcoll_can_exchange()) {
        publish("", 0);
    }
}

/* Returns what a process has published, or NULL. The caller frees it. */
static char *published_by(opal_process_name_t process, int at_once)
{
    char *key = mca_base_component_to_string(&mca_coll_rustcoll_component.collm_version);
    char *text = rustcoll_told_by(process, key, at_once);
    free(key);
    return text;
}

/* Returns what a process has published of what it holds, or NULL if it takes no part. The caller frees it. */
static char *held_by(opal_process_name_t process, int at_once)
{
    char *text = published_by(process, at_once);
    if (NULL != text && '\n' == *text) {
        free(text);
        text = NULL;
    }
    return text;
}

static int has_the_same_faults(opal_process_name_t process)
{
    char *text = published_by(process, 1);
    const char *last = NULL == text ? NULL : strrchr(text, '\n'), *own_last = strrchr(own, '\n');
    const int is_same = NULL != last && NULL != own_last && 0 == strcmp(last, own_last);
    free(text);
    return is_same;
}

void rustcoll_show_faults(void)
{
    rustcoll_show("left-out-rules", (int) OPAL_PROC_MY_NAME.vpid, opal_process_info.nodename, rustcoll_faults());
}

void rustcoll_tell_faults(struct ompi_communicator_t *communicator)
{
    static int is_told;
    ompi_group_t *group = communicator->c_local_group;
    if (is_told || '\0' == *rustcoll_faults()) {
        return;
    }
    is_told = 1;
    for (int rank = 0; rank < ompi_group_rank(group); rank++) {
        if (has_the_same_faults(ompi_group_get_proc_name(group, rank))) {
            return;
        }
    }
    rustcoll_show_faults();
}

/* Returns the first rank of a group that differs from the next one; `last` is one that does. */
static int first_to_differ(ompi_group_t *group, int last)
{
    rustcoll_difference difference;
    char *text = held_by(ompi_group_get_proc_name(group, 0), 1);
    int first = 0, differs = 0;
    while (first < last && !differs) {
        char *next = held_by(ompi_group_get_proc_name(group, first + 1), 1);
        differs = NULL != text && rustcoll_differ(text, next, &difference);
        first += !differs;
        free(text);
        text = next;
    }
    free(text);
    return first;
}

static const char *host_of(opal_process_name_t process)
{
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(process);
    const char *host = NULL == proc ? NULL : opal_get_proc_hostname(&proc->super);
    return NULL == host ? "an unknown host" : host;
}

/* Ends the job. All ranks that see a difference know which of them reports it. If that rank does not end the job, the others do. */
static void end_job(int is_to_speak, opal_process_name_t other, const rustcoll_difference *difference)
{
    if (!is_to_speak) {
        sleep(PATIENCE_SECONDS);
    }
    rustcoll_show("ranks-differ", difference->what, (int) OPAL_PROC_MY_NAME.vpid, opal_process_info.nodename,
                  difference->own, (int) other.vpid, host_of(other), difference->other);
    ompi_rte_abort(1, NULL);
}

/* The job's first process answers for all, so all get the same answer. A process that gets none ends the job, for others may get one. */
int rustcoll_shim_goes_by_tcp(void)
{
    static _Atomic int known = -1;
    if (0 > known && rustcoll_uses_transports()) {
        const opal_process_name_t first = {.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = 0};
        rustcoll_difference difference;
        char *text = published_by(first, 0);
        if (NULL == text && rustcoll_differ(own, text, &difference)) {
            end_job(1, first, &difference);
        }
        known = NULL != text && NULL != strstr(text, TCP);
        free(text);
    }
    return 0 < known;
}

static void compare_with_next(ompi_group_t *group)
{
    const int rank = ompi_group_rank(group), next = (rank + 1) % ompi_group_size(group);
    const opal_process_name_t process = ompi_group_get_proc_name(group, next);
    if (next == rank || (does_world_agree && process.jobid == OPAL_PROC_MY_NAME.jobid)) {
        return;
    }
    rustcoll_difference difference;
    char *text = held_by(process, 0);
    if (rustcoll_differ(own, text, &difference)) {
        end_job(rank == first_to_differ(group, rank), process, &difference);
    }
    free(text);
}

/* Each group compares its own ranks, so one rank of the other group represents all of them. */
static void compare_with_other_group(ompi_communicator_t *communicator)
{
    const opal_process_name_t process = ompi_group_get_proc_name(communicator->c_remote_group, 0);
    if (does_world_agree && process.jobid == OPAL_PROC_MY_NAME.jobid) {
        return;
    }
    rustcoll_difference difference;
    char *text = held_by(process, 0);
    if (rustcoll_differ(own, text, &difference)) {
        end_job(0 == ompi_comm_rank(communicator), process, &difference);
    }
    free(text);
}

void rustcoll_agree(struct ompi_communicator_t *communicator)
{
    compare_with_next(communicator->c_local_group);
    if (OMPI_COMM_IS_INTER(communicator)) {
        compare_with_other_group(communicator);
    }
    if (communicator == &ompi_mpi_comm_world.comm) {
        does_world_agree = 1;
    }
}
