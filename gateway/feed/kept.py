"""What was heard, on disk until its games are old: a line each, so that a restart loses nothing that still waits.

A line is handed to the operating system before the next message is looked at, which a ``kill -9`` survives, and synced
once a second. What a power cut takes is noticed by its missing `seq`, and the `game` topic makes up for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from gateway.feed.files import write


class Kept:
    """One file of lines."""

    def __init__(self, directory: Path) -> None:
        """Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "heard.jsonl"
        self._unsynced = False
        self._file = self.path.open("ab")

    def lines(self) -> list[bytes]:
        """All lines; the last may be damaged."""
        return self.path.read_bytes().splitlines()

    def add(self, lines: Iterable[bytes]) -> None:
        """Keep these too. Raises OSError."""
        for line in lines:
            self._file.write(line + b"\n")
            self._unsynced = True
        self._file.flush()

    def sync(self) -> None:
        """Make sure that a power cut takes nothing of what was added. Raises OSError."""
        if self._unsynced:
            os.fdatasync(self._file.fileno())
            self._unsynced = False

    def only(self, wanted: Callable[[bytes], bool]) -> None:
        """Give up what is not wanted. Raises OSError."""
        lines = self.lines()
        still = [line for line in lines if wanted(line)]
        if len(still) == len(lines) and self.path.read_bytes()[-1:] in (b"", b"\n"):
            return
        self._file.close()
        write(self.path, b"".join(line + b"\n" for line in still).decode(errors="replace"))
        self._file = self.path.open("ab")

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        self._file.close()
