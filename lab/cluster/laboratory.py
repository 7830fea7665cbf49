"""A lab's name, and what follows from it: namespaces, addresses and the folder of its state."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cluster.refusal import Refusal

SOURCES = Path(__file__).resolve().parent.parent
PROGRAMS = SOURCES.parent / "build" / "lab"
NAMESPACES = Path("/run/netns")
DEFAULT_NAME = "lab"
STATES = Path("/run/rustcoll-lab")

# A host's number is the last byte of its addresses.
MAXIMUM_HOSTS = 254
# The devices of the emulated network, and of the network over which jobs start, which is not slowed down.
EMULATED_DEVICE = "eth0"
LAUNCH_DEVICE = "launch0"


@dataclass(frozen=True)
class Lab:
    name: str

    def __post_init__(self):
        # With a dash, one lab's namespaces could look like another's.
        if not re.fullmatch(r"[a-z0-9]{1,16}", self.name):
            raise Refusal(f"lab name {self.name!r}: it is made of 1 to 16 lower-case letters and digits")

    @property
    def command(self) -> str:
        """Returns the command with which users call this lab."""
        return "lab/lab" if self.name == DEFAULT_NAME else f"lab/lab --name {self.name}"

    @property
    def state(self) -> Path:
        return STATES / self.name

    @property
    def control(self) -> Path:
        return self.state / "control"

    @property
    def host_names(self) -> Path:
        return self.state / "hosts"

    @property
    def switch_log(self) -> Path:
        return self.state / "switch.log"

    @property
    def sessions(self) -> Path:
        """Returns the folder where Open MPI keeps the files of jobs, even of killed ones."""
        return self.state / "sessions"

    @property
    def job_lock(self) -> Path:
        return self.state / "job.lock"

    @property
    def launch_namespace(self) -> str:
        return f"rustcoll-{self.name}-launch"

    def namespace(self, host: int) -> str:
        return f"rustcoll-{self.name}-{host_name(host)}"

    def namespaces(self) -> list[str]:
        """Returns the existing namespaces, even those of a command that was killed."""
        if not NAMESPACES.is_dir():
            return []
        own = re.compile(rf"rustcoll-{self.name}-(h\d+|launch)")
        return sorted(path.name for path in NAMESPACES.iterdir() if own.fullmatch(path.name))

    def create_state(self) -> None:
        try:
            self.state.mkdir(parents=True)
        except FileExistsError:
            raise Refusal(f"the lab {self.name!r} is already up, or was not taken down; `{self.command} down` ends it") from None
        self.sessions.mkdir()

    def remove_state(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)
        if STATES.is_dir() and not any(STATES.iterdir()):
            STATES.rmdir()


def host_name(host: int) -> str:
    return f"h{host}"


def emulated_address(host: int) -> str:
    return f"10.211.0.{host}"


def launch_address(host: int) -> str:
    return f"10.212.0.{host}"


def hardware_address(host: int) -> str:
    """Returns the hardware address of a host. The switch reads a frame's receiver from the last byte."""
    return f"02:00:00:00:00:{host:02x}"
