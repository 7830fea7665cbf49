/* The module of a communicator: the functions below, and Rust's state. */

#include "component.h"

#include "ompi/mca/coll/base/coll_base_util.h"

static void construct(rustcoll_module *module)
{
    memset(&module->below, 0, sizeof module->below);
    module->has_saved = 0;
    module->late_persistent = 0;
    module->state = NULL;
}

/* Applies a function to the modules below that this module's slots may call, once for every slot. */
static void each_saved(rustcoll_module *module, void (*apply)(mca_coll_base_module_t *))
{
#define MODULES(number, Name, name, ...)                                                                                \
    module->below.coll_##name##_module, module->below.coll_i##name##_module,                                 \
        module->below.coll_##name##_init_module,
    mca_coll_base_module_t *const saved[] = {RUSTCOLL_EACH(MODULES)};
#undef MODULES
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        if (NULL != saved[i]) {
            apply(saved[i]);
        }
    }
}

static void retain(mca_coll_base_module_t *module) { OBJ_RETAIN(module); }
static void release(mca_coll_base_module_t *module) { OBJ_RELEASE(module); }

static void destruct(rustcoll_module *module)
{
    if (NULL != module->state) {
        rustcoll_communicator_free(module->state);
    }
    if (module->has_saved) {
        each_saved(module, release);
    }
}

static OBJ_CLASS_INSTANCE(rustcoll_module, mca_coll_base_module_t, construct, destruct);

static rustcoll_below served_below(const mca_coll_base_comm_coll_t *saved)
{
#define SERVED(number, Name, name, ...)                                                                                 \
    .blocking[RUSTCOLL_##number] = NULL != saved->coll_##name,                                               \
    .nonblocking[RUSTCOLL_##number] = NULL != saved->coll_i##name,                                           \
    .persistent[RUSTCOLL_##number] = NULL != saved->coll_##name##_init,
    return (rustcoll_below) {RUSTCOLL_EACH(SERVED)};
#undef SERVED
}

/* Applies a macro to each slot. */
#define EACH_SLOT(apply)                                                                                     \
    RUSTCOLL_EACH(apply##_FORMS)                                                                             \
    RUSTCOLL_EACH_OTHER_SLOT(apply)

static void enter_slots(mca_coll_base_module_t *module, mca_coll_base_comm_coll_t *slots)
{
#define ENTER(name)                                                                                          \
    if (NULL != module->coll_##name) {                                                                       \
        slots->coll_##name = module->coll_##name;                                                            \
        slots->coll_##name##_module = module;                                                                \
    }
#define ENTER_FORMS(number, Name, name, ...) ENTER(name) ENTER(i##name) ENTER(name##_init)
    EACH_SLOT(ENTER)
}

static void leave_slots(mca_coll_base_module_t *module, mca_coll_base_comm_coll_t *slots,
                        const mca_coll_base_comm_coll_t *below)
{
#define LEAVE(name)                                                                                          \
    if (module == slots->coll_##name##_module) {                                                             \
        slots->coll_##name = below->coll_##name;                                                             \
        slots->coll_##name##_module = below->coll_##name##_module;                                           \
    }
#define LEAVE_FORMS(number, Name, name, ...) LEAVE(name) LEAVE(i##name) LEAVE(name##_init)
    EACH_SLOT(LEAVE)
}

static int disable(mca_coll_base_module_t *super, struct ompi_communicator_t *communicator)
{
    leave_slots(super, communicator->c_coll, &((rustcoll_module *) super)->below);
    return OMPI_SUCCESS;
}

static int enable(mca_coll_base_module_t *super, struct ompi_communicator_t *communicator)
{
    rustcoll_module *module = (rustcoll_module *) super;
    module->below = *communicator->c_coll;
    each_saved(module, retain);
    module->has_saved = 1;
    const rustcoll_below below = served_below(&module->below);
    const int is_inter = OMPI_COMM_IS_INTER(communicator);
    module->group = (rustcoll_group) {ompi_comm_rank(communicator), ompi_comm_size(communicator), is_inter};
    /* Constant tags far from those of collectives would not do: some networks send only the last 20 or 24 bits of a tag. */
    const int last_tag = ompi_coll_base_nbc_reserve_tags(communicator, RUSTCOLL_OWN_TAGS);
    module->state = rustcoll_communicator_new(communicator, is_inter ? communicator->c_local_comm : communicator,
                                              module->group.rank, module->group.size,
                                              is_inter ? ompi_comm_remote_size(communicator) : 0, last_tag,
                                              rustcoll_identifier(communicator), &below);
    if (NULL == module->state) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rustcoll_complete_slots(super, &module->below);
    if (RUSTCOLL_ENTERS_ITS_SLOTS) {
        enter_slots(super, communicator->c_coll);
    }
    return OMPI_SUCCESS;
}

rustcoll_module *rustcoll_module_new(int is_inter)
{
    rustcoll_module *module = OBJ_NEW(rustcoll_module);
    if (NULL != module) {
        module->super.coll_module_enable = enable;
        module->super.coll_module_disable = RUSTCOLL_ENTERS_ITS_SLOTS ? disable : NULL;
        rustcoll_fill_slots(&module->super, is_inter);
    }
    return module;
}
