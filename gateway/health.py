"""How the gateway itself is: what the health topic says of process and machine."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.link import Counters
from gateway.publish import VERSION, rfc3339

THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Process:
    """CPU since the last look, memory and temperature now."""

    def __init__(self) -> None:
        self._began = self._looked = time.monotonic()
        self._used = time.process_time()

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def cpu(self) -> float:
        """Percent of one core since the last call."""
        now, used = time.monotonic(), time.process_time()
        percent = 100 * (used - self._used) / max(now - self._looked, 1e-3)
        self._looked, self._used = now, used
        return round(percent, 1)


def memory() -> int:
    """Resident bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def temperature() -> float | None:
    """Degrees Celsius of the processor, where the kernel tells it."""
    try:
        return int(THERMAL.read_text()) / 1000
    except (OSError, ValueError):
        return None


def payload(
    process: Process,
    outbox: int,
    links: Mapping[str, Counters],
    problems: Sequence[str],
    wall: float,
    epoch: float,
) -> dict[str, Any]:
    """The health topic's payload; `epoch` is the wall clock at 0 of the links' times.

    `problems` are sentences about what is wrong now; the contract's keys are all before it.
    """
    return {
        "v": VERSION,
        "time": rfc3339(wall),
        "uptime": round(process.uptime, 1),
        "outbox": outbox,
        "cpu": process.cpu(),
        "memory": memory(),
        "temperature": temperature(),
        "links": {table: _link(counters, epoch) for table, counters in links.items()},
        "problems": list(problems),
    }


def _link(counters: Counters, epoch: float) -> dict[str, Any]:
    last = counters.last_frame
    return {
        "frames": counters.frames,
        "rejected": dict(counters.rejected),
        "reconnects": counters.reconnects,
        "last_frame": None if last is None else rfc3339(epoch + last),
    }
