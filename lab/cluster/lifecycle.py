"""A lab comes up, changes its network, and is taken down."""

import os
import signal
import time

from cluster import host, programs, switch
from cluster.execution import execute
from cluster.laboratory import Lab
from cluster.quantities import Network
from cluster.refusal import Refusal

SECONDS_TO_END = 5


def up(lab: Lab, hosts: int, network: Network) -> None:
    programs.switch()
    programs.idle_library()
    lab.create_state()
    try:
        _start(lab, hosts, network)
    except BaseException:
        down(lab)
        raise


def _start(lab: Lab, hosts: int, network: Network) -> None:
    host.create_namespaces(lab, hosts)
    host.write_host_names(lab, hosts)
    switch.start(lab, hosts, network)
    for number in range(1, hosts + 1):
        host.configure(lab, number, hosts)
        host.limit_sending(lab, number, network)


def set_network(lab: Lab, network: Network) -> None:
    hosts = switch.hosts(lab)
    switch.set_network(lab, network)
    for number in range(1, hosts + 1):
        host.limit_sending(lab, number, network)


def down(lab: Lab) -> bool:
    """Removes whatever there is of the lab, and says whether there was something."""
    namespaces = lab.namespaces()
    found = bool(namespaces) or lab.state.exists()
    _end_processes(namespaces)
    for namespace in namespaces:
        execute("ip", "netns", "del", namespace)
    lab.remove_state()
    return found


def _processes(namespaces: list[str]) -> list[int]:
    listed = [process for namespace in namespaces for process in execute("ip", "netns", "pids", namespace).split()]
    return [int(process) for process in listed if int(process) != os.getpid()]


def _end_processes(namespaces: list[str]) -> None:
    deadline = time.monotonic() + SECONDS_TO_END
    while processes := _processes(namespaces):
        if time.monotonic() > deadline:
            raise Refusal(f"processes {' '.join(map(str, processes))} do not end")
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
