"""Jobs of Open MPI on the emulated hosts."""

import fcntl
import os
import shlex
import sys

from cluster import priority, processes, programs, switch
from cluster.laboratory import EMULATED_DEVICE, LAUNCH_DEVICE, SOURCES, Lab, host_name
from cluster.refusal import Refusal

AGENT = SOURCES / "agent"
# Time for the daemons of a finished job to end by themselves.
SECONDS_OF_GRACE = 1
# How long a waiting rank may sleep. Over TCP the next message wakes it. A message in shared memory does not,
# and all limits from 20 to 200 microseconds made jobs slower than ranks that only yield to each other.
IDLE_MICROSECONDS_ALONE = 1000
IDLE_MICROSECONDS_TOGETHER = 0


def _parameters(lab: Lab, ranks_per_host: int) -> dict[str, str]:
    """Returns Open MPI's parameters as environment variables, so that parameters on the command line override them."""
    transports = "tcp,self" if ranks_per_host == 1 else "tcp,vader,self"
    parameters = {
        "plm_rsh_agent": str(AGENT),
        # The first host starts all hosts at once, without a tree of agents, and they talk to it directly.
        "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_num_concurrent": "128",
        "routed": "direct",
        "oob_tcp_if_include": LAUNCH_DEVICE,
        "orte_tmpdir_base": str(lab.sessions),
        "pml": "ob1",
        "btl": transports,
        "btl_tcp_if_include": EMULATED_DEVICE,
        # Several connections between two ranks hang large exchanges.
        "btl_tcp_links": "1",
        "btl_vader_backing_directory": str(lab.sessions),
        "mpi_yield_when_idle": "1",
        "hwloc_base_binding_policy": "none",
    }
    return {f"OMPI_MCA_{name}": value for name, value in parameters.items()}


def _environment(lab: Lab, ranks_per_host: int) -> dict[str, str]:
    own = {
        "RUSTCOLL_LAB": lab.name,
        "RUSTCOLL_LAB_STATE": str(lab.state),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    idle = IDLE_MICROSECONDS_ALONE if ranks_per_host == 1 else IDLE_MICROSECONDS_TOGETHER
    defaults = {**_parameters(lab, ranks_per_host), "RUSTCOLL_LAB_IDLE_US": str(idle)}
    return {**defaults, **os.environ, **own}


def command(lab: Lab, hosts: int, ranks_per_host: int, options: list[str], program: list[str]) -> list[str]:
    """Returns the command that starts a job from the first host, where mpirun runs."""
    slots = ",".join(f"{host_name(host)}:{ranks_per_host}" for host in range(1, hosts + 1))
    mpirun = ["mpirun", "--host", slots, "-np", str(hosts * ranks_per_host), "--map-by", f"ppr:{ranks_per_host}:node"]
    preload = ["-x", f"LD_PRELOAD={programs.idle_library()}"]
    there = f"cd {shlex.quote(os.getcwd())} && exec {shlex.join(mpirun + preload + options + program)}"
    return [str(AGENT), host_name(1), there]


def run(lab: Lab, hosts: int, ranks_per_host: int, options: list[str], program: list[str]) -> None:
    """Replaces this process by the job, so the command has the job's exit code."""
    available = switch.hosts(lab)
    if hosts > available:
        raise Refusal(f"{hosts} hosts are asked for, but the lab {lab.name!r} has {available}")
    job = command(lab, hosts, ranks_per_host, options, program)
    _await_turn(lab)
    _end_remains(lab)
    priority.take(priority.OF_RANKS)
    os.execve(job[0], job, _environment(lab, ranks_per_host))


def _await_turn(lab: Lab) -> None:
    """Waits for other jobs of the lab, because two jobs would disturb each other's times. mpirun inherits the lock and
    keeps it until its end, but does not pass it on."""
    lock = os.open(lab.job_lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"lab: waiting for the end of another job on the lab {lab.name!r}", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.set_inheritable(lock, True)


def _end_remains(lab: Lab) -> None:
    """Ends ranks that a job with a killed mpirun has left behind."""
    hosts = [namespace for namespace in lab.namespaces() if namespace != lab.launch_namespace]
    if remains := processes.await_end(hosts, SECONDS_OF_GRACE):
        print(f"lab: ending {len(remains)} processes that run on the hosts already", file=sys.stderr)
        processes.end(hosts)
