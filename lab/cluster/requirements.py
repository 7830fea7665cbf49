"""The lab's requirements of the machine. The message names everything missing at once, and how to get it."""

import os
import shutil
import sys
from pathlib import Path

from cluster.refusal import Refusal

# Each command, and the Debian packages to install for it.
TO_EMULATE = {
    "ip": "iproute2",
    "tc": "iproute2",
    "sysctl": "procps",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "gcc": "gcc libc6-dev",
}
TO_RUN_JOBS = {"mpirun": "openmpi-bin"}
TO_CHECK = {"mpicc": "libopenmpi-dev"}

TUN = Path("/dev/net/tun")


def _missing_commands(commands: dict[str, str]) -> list[str]:
    missing = {command: package for command, package in commands.items() if not shutil.which(command)}
    if not missing:
        return []
    packages = " ".join(dict.fromkeys(missing.values()))
    return [f"{', '.join(missing)} not found; on Debian: apt-get install {packages}"]


def _missing_rights() -> list[str]:
    return [] if os.geteuid() == 0 else ["network namespaces and TAP devices need root; run this command with sudo"]


def _missing_in_kernel() -> list[str]:
    missing = []
    if not Path("/proc/self/ns/net").exists():
        missing.append("the kernel has no network namespaces (CONFIG_NET_NS)")
    if not TUN.exists():
        missing.append(f"{TUN} does not exist; try modprobe tun; a container wants --device {TUN} --privileged")
    elif os.geteuid() == 0 and not _opens(TUN):
        missing.append(f"{TUN} cannot be opened; a container wants --device {TUN} --privileged")
    return missing


def _opens(device: Path) -> bool:
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError:
        return False
    return True


def require(commands: dict[str, str]) -> None:
    if not sys.platform.startswith("linux"):
        raise Refusal("the lab emulates hosts by network namespaces, which only Linux has")
    missing = _missing_rights() + _missing_in_kernel() + _missing_commands(commands)
    if missing:
        raise Refusal("\n".join(["this machine cannot emulate a cluster:"] + [f"  - {reason}" for reason in missing]))
