"""Starts a lab, changes its network, and takes it down."""

from cluster import host, priority, processes, programs, switch
from cluster.execution import execute
from cluster.laboratory import Lab
from cluster.quantities import Network


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
    """Removes everything that exists of the lab; returns whether anything existed."""
    namespaces = lab.namespaces()
    found = bool(namespaces) or lab.state.exists()
    priority.take(priority.OF_COMMANDS)
    processes.end(namespaces)
    for namespace in namespaces:
        execute("ip", "netns", "del", namespace)
    lab.remove_state()
    return found
