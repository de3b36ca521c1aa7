"""The last `seq` of each stream that was told although the disk did not take the event.

A full disk takes no more bytes, but it takes others in their place. So this file is made at its full size while there
is room, and is overwritten from then on. After a crash the streams go on above what it says: a number is never used
for two events, even if the first is lost.

Two halves are written in turn, each with its checksum, so that a write that breaks off leaves the one before.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from gateway.store import Lane

HALF = 32 * 1024
"""Bytes; enough for some five hundred tables."""


class Numbers:
    """One such file. Used by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last: dict[Lane, int] = {}
        self._turn = 0
        """Writes so far."""

    def open(self) -> None:
        """Make the file at its full size, or read it; once. Raises `OSError`."""
        if self._turn:
            return
        if not self.path.exists() or self.path.stat().st_size < 2 * HALF:
            with self.path.open("wb") as file:
                file.write(bytes(2 * HALF))
                file.flush()
                os.fsync(file.fileno())
            return
        data = self.path.read_bytes()
        found = [half for half in (_read(data[:HALF]), _read(data[HALF : 2 * HALF])) if half is not None]
        if found:
            self._turn, self.last = max(found, key=lambda half: half[0])

    def note(self, told: Mapping[Lane, int]) -> None:
        """Keep that these numbers are used; on disk when it returns. Raises `OSError`."""
        self.last |= told
        self._turn += 1
        body = json.dumps([self._turn, [[*lane, seq] for lane, seq in self.last.items()]]).encode()
        line = b"%08x %b\n" % (zlib.crc32(body), body)
        if len(line) > HALF:
            raise OSError(f"{self.path}: too many streams")
        file = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(file, line, self._turn % 2 * HALF)
            os.fdatasync(file)
        finally:
            os.close(file)


def _read(half: bytes) -> tuple[int, dict[Lane, int]] | None:
    """What one half says; None if it was never written, or not to its end."""
    check, _, body = half.partition(b"\n")[0].partition(b" ")
    if check != b"%08x" % zlib.crc32(body):
        return None
    turn, streams = json.loads(body)
    return turn, {(table, stream): seq for table, stream, seq in streams}
