"""Real-time priorities: the switch's, which it takes itself, is above these."""

import os
import sys

# Ranks that wait for ever would otherwise keep the command that ends them from running.
OF_COMMANDS = 20
# Before the machine's other load, which would be measured too.
OF_RANKS = 10


def take(priority: int) -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    except OSError as error:
        print(f"lab: no real-time priority ({error}), so other load will disturb jobs", file=sys.stderr)
