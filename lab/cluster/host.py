"""The emulated hosts. Each is a network namespace with a TAP device to the switch, and a device over which jobs start."""

from cluster.execution import execute, execute_batch
from cluster.laboratory import (
    EMULATED_DEVICE,
    LAUNCH_DEVICE,
    Lab,
    emulated_address,
    hardware_address,
    host_name,
    launch_address,
)
from cluster.quantities import Network

# TCP must add nothing to what the switch emulates: no slow start, no retransmission of data that only wait in
# a queue, no memory of earlier connections, and no more data in a device's queue than a real card would hold.
SYSTEM_SETTINGS = [
    "net.ipv4.tcp_congestion_control=reno",
    "net.ipv4.tcp_slow_start_after_idle=0",
    "net.ipv4.tcp_early_retrans=0",
    "net.ipv4.tcp_no_metrics_save=1",
    "net.ipv4.tcp_limit_output_bytes=131072",
    "net.ipv4.tcp_rmem=4096 6291456 16777216",
    "net.ipv4.tcp_wmem=4096 131072 262144",
    "net.ipv6.conf.all.disable_ipv6=1",
]
ROUTE = "initcwnd 400 initrwnd 400 rto_min 3s quickack 1"
# The kernel's longest frame. It is so short that frames of several senders take turns on a port.
LONGEST_SEGMENT = 16384
BRIDGE = "bridge0"

ADVICE_ON_NAMESPACES = "A container must be allowed to make network namespaces, as with docker run --privileged."
ADVICE_ON_SHAPING = "If the kernel has no token bucket filter, try modprobe sch_tbf (CONFIG_NET_SCH_TBF)."


def create_namespaces(lab: Lab, hosts: int) -> None:
    execute("ip", "netns", "add", lab.launch_namespace, advice=ADVICE_ON_NAMESPACES)
    execute_batch(lab.launch_namespace, [f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up"])
    for host in range(1, hosts + 1):
        execute("ip", "netns", "add", lab.namespace(host))


def write_host_names(lab: Lab, hosts: int) -> None:
    lines = ["127.0.0.1 localhost"] + [f"{launch_address(host)} {host_name(host)}" for host in range(1, hosts + 1)]
    lab.host_names.write_text("\n".join(lines) + "\n", encoding="utf-8")


def configure(lab: Lab, host: int, hosts: int) -> None:
    """Connects a host. The switch must have made the host's TAP device."""
    connect_for_launching(lab, host)
    address = emulated_address(host)
    subnet = emulated_address(0) + "/24"
    device = EMULATED_DEVICE
    neighbours = [other for other in range(1, hosts + 1) if other != host]
    execute_batch(
        lab.namespace(host),
        [
            "link set lo up",
            f"link set {device} address {hardware_address(host)} mtu 1500 txqueuelen 20000 gso_max_size {LONGEST_SEGMENT}",
            f"addr add {address}/24 dev {device}",
            f"link set {device} up",
            f"route change {subnet} dev {device} src {address} {ROUTE}",
            f"addr add {launch_address(host)}/24 dev {LAUNCH_DEVICE}",
            f"link set {LAUNCH_DEVICE} up",
        ]
        # Hosts need not ask for addresses while times are measured.
        + [f"neigh replace {emulated_address(n)} lladdr {hardware_address(n)} dev {device} nud permanent" for n in neighbours],
    )
    execute("ip", "netns", "exec", lab.namespace(host), "sysctl", "-qw", *SYSTEM_SETTINGS)


def connect_for_launching(lab: Lab, host: int) -> None:
    port = f"port{host}"
    execute_batch(
        lab.launch_namespace,
        [
            f"link add {port} type veth peer name {LAUNCH_DEVICE} netns {lab.namespace(host)}",
            f"link set {port} master {BRIDGE} up",
        ],
    )


def limit_sending(lab: Lab, host: int, network: Network) -> None:
    """Makes data that wait for the port wait in the host, as behind a real card: TCP sees them there, and connections
    take turns.

    The rate is a little above the bandwidth, because the switch itself enforces the bandwidth."""
    rate = round(network.bandwidth * 1.05)
    execute(
        "tc", "-n", lab.namespace(host), "qdisc", "replace", "dev", EMULATED_DEVICE, "root",
        "tbf", "rate", f"{rate}bit", "burst", "70k", "limit", "64m",
        advice=ADVICE_ON_SHAPING,
    )
