/* The performance variables by which tools count calls. Each collective has three: calls, bytes and time. They are
 * arrays by the numbers of algorithms, in the order of the words of the variable that tells which algorithm ran. */

#include "component.h"

#include <stdio.h>

#include "opal/mca/base/mca_base_pvar.h"

typedef struct counter {
    int collective, quantity;
    int bound, started; /* how many handles of tools there are, and how many of them count */
} counter;

static counter counters[RUSTCOLL_COLLECTIVES][RUSTCOLL_QUANTITIES];

static int read_counter(const mca_base_pvar_t *variable, void *sums, void *object)
{
    const counter *counter = variable->ctx;
    rustcoll_counted(counter->collective, counter->quantity, sums);
    return OPAL_SUCCESS;
}

static void start(counter *counter, int more)
{
    counter->started += more;
    rustcoll_watch(more);
}

/* A handle may be freed without having been stopped, and Open MPI does not tell which: when no handle is left, none counts. */
static int note_event(mca_base_pvar_t *variable, mca_base_pvar_event_t event, void *object, int *numbers)
{
    counter *counter = variable->ctx;
    switch (event) {
    case MCA_BASE_PVAR_HANDLE_BIND:
        *numbers = rustcoll_counted_numbers(counter->collective);
        counter->bound++;
        break;
    case MCA_BASE_PVAR_HANDLE_START:
        start(counter, 1);
        break;
    case MCA_BASE_PVAR_HANDLE_STOP:
        start(counter, -1);
        break;
    case MCA_BASE_PVAR_HANDLE_UNBIND:
        if (0 == --counter->bound) {
            start(counter, -counter->started);
        }
        break;
    }
    return OPAL_SUCCESS;
}

static void register_counter(const mca_base_component_t *component, const char *collective, counter *counter)
{
    static const struct {
        const char *name;
        int class;
        mca_base_var_type_t type;
    } quantities[] = {
        [RUSTCOLL_CALLS] = {"calls", MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
        [RUSTCOLL_BYTES] = {"bytes", MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG},
        [RUSTCOLL_TIME] = {"time", MCA_BASE_PVAR_CLASS_TIMER, MCA_BASE_VAR_TYPE_DOUBLE},
    };
    char name[64];
    snprintf(name, sizeof name, "%s_%s", collective, quantities[counter->quantity].name);
    mca_base_component_pvar_register(component, name, NULL, OPAL_INFO_LVL_5, quantities[counter->quantity].class,
                                     quantities[counter->quantity].type, NULL, MPI_T_BIND_NO_OBJECT,
                                     MCA_BASE_PVAR_FLAG_READONLY, read_counter, NULL, note_event, counter);
}

void rustcoll_register_counters(const mca_base_component_t *component)
{
#define NAME(number, Name, name, ...) [RUSTCOLL_##number] = #name,
    static const char *const names[] = {RUSTCOLL_EACH(NAME)};
#undef NAME
    for (int collective = 0; collective < RUSTCOLL_COLLECTIVES; collective++) {
        for (int quantity = 0; quantity < RUSTCOLL_QUANTITIES; quantity++) {
            counter *counter = &counters[collective][quantity];
            counter->collective = collective;
            counter->quantity = quantity;
            register_counter(component, names[collective], counter);
        }
    }
}
