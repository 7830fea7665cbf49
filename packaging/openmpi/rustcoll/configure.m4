# -*- shell-script -*-
#
# rustcoll: collective algorithms in Rust. The C files are compiled by Open MPI's build; what is written in Rust comes as
# librustcoll.a in this folder, or cargo builds it from the sources in rust/.

# MCA_ompi_coll_rustcoll_CONFIG([action-if-can-compile], [action-if-cant-compile])
# ------------------------------------------------
AC_DEFUN([MCA_ompi_coll_rustcoll_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/coll/rustcoll/Makefile])

    coll_rustcoll_missing=
    AC_ARG_VAR([CARGO], [cargo, which builds rustcoll where no librustcoll.a came with it])
    AC_CHECK_TOOL([OBJCOPY], [objcopy])
    AS_IF([test -z "$OBJCOPY"], [coll_rustcoll_missing="objcopy of the GNU binutils"])

    AC_MSG_CHECKING([where librustcoll.a comes from])
    AS_IF([test -f "$srcdir/ompi/mca/coll/rustcoll/librustcoll.a"],
          [coll_rustcoll_archive='$(srcdir)/librustcoll.a'
           AC_MSG_RESULT([it is there])],
          [test -f "$srcdir/ompi/mca/coll/rustcoll/rust/Cargo.toml"],
          [coll_rustcoll_archive=cargo/library/librustcoll.a
           AC_MSG_RESULT([cargo builds it])
           AC_CHECK_PROG([CARGO], [cargo], [cargo])
           coll_rustcoll_rust=`test -z "$CARGO" || "$CARGO" --version 2>/dev/null | cut -d ' ' -f 2`
           AS_VERSION_COMPARE([${coll_rustcoll_rust:-0}], [1.88],
                 [coll_rustcoll_missing="cargo of Rust 1.88 or later (found ${coll_rustcoll_rust:-none}), or ompi/mca/coll/rustcoll/librustcoll.a"])],
          [AC_MSG_RESULT([nowhere])
           coll_rustcoll_missing="ompi/mca/coll/rustcoll/librustcoll.a, or rust/Cargo.toml beside it"])

    # For speed, where the compiler knows it: the compiler clears the description of a call with plain stores.
    coll_rustcoll_CFLAGS=`sed -n 2p "$srcdir/ompi/mca/coll/rustcoll/shim-flags"`
    coll_rustcoll_CFLAGS_save=$CFLAGS
    CFLAGS="$CFLAGS $coll_rustcoll_CFLAGS"
    AC_MSG_CHECKING([whether $CC takes $coll_rustcoll_CFLAGS])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
                      [AC_MSG_RESULT([yes])],
                      [AC_MSG_RESULT([no])
                       coll_rustcoll_CFLAGS=])
    CFLAGS=$coll_rustcoll_CFLAGS_save

    # What Rust's standard library needs.
    coll_rustcoll_LIBS=`cat "$srcdir/ompi/mca/coll/rustcoll/system-libraries"`

    AS_IF([test -z "$coll_rustcoll_missing"],
          [coll_rustcoll_WRAPPER_EXTRA_LIBS=$coll_rustcoll_LIBS
           $1],
          [AC_MSG_WARN([rustcoll is not built. Missing: $coll_rustcoll_missing])
           $2])

    AC_SUBST([coll_rustcoll_archive])
    AC_SUBST([coll_rustcoll_CFLAGS])
    AC_SUBST([coll_rustcoll_LIBS])
])dnl
