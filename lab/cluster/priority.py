"""Real-time priorities. The switch sets its own, higher priority."""

import os
import sys

# Without it, ranks that spin forever would keep the command that ends them from running.
OF_COMMANDS = 20
# Above the machine's other load, which would otherwise disturb times.
OF_RANKS = 10


def take(priority: int) -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    except OSError as error:
        print(f"lab: no real-time priority ({error}), so other load will disturb jobs", file=sys.stderr)
