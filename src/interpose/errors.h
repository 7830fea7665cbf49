/* Errors as Rust knows them. Numbers of classes differ between MPIs, and no MPI has negative ones. */
#ifndef RUSTCOLL_ERRORS_H
#define RUSTCOLL_ERRORS_H

#define RUSTCOLL_ERR_COUNT (-2)
#define RUSTCOLL_ERR_ROOT (-3)
#define RUSTCOLL_ERR_TRUNCATE (-4)
#define RUSTCOLL_ERR_INTERN (-5)
#define RUSTCOLL_ERR_NO_MEM (-6)

#endif
