"""Texts on disk, so that no reader ever sees half a file: written beside, synced, then renamed.

What is beside does not end in ``.pgn`` or ``.pdn``, so that a program that looks for those never takes it. After a
power cut or a ``kill -9`` a file is the old one or the new one; what was left beside is swept up at the next start.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

BESIDE = ".being-written"


class Folder:
    """A folder that holds exactly these texts, and what was there from earlier days."""

    def __init__(self, root: Path) -> None:
        """Make the folder, and sweep up. Raises OSError."""
        self.root = root
        self._texts: dict[str, str] = {}
        root.mkdir(parents=True, exist_ok=True)
        for path in root.rglob(f"*{BESIDE}"):
            path.unlink()

    def show(self, texts: Mapping[str, str]) -> list[str]:
        """Write what has changed; remove what is no longer among `texts` but was. Raises OSError.

        Returns:
            The paths that were written or removed.
        """
        changed = [path for path, text in texts.items() if self._texts.get(path) != text]
        for path in changed:
            write(self.root / path, texts[path])
            self._texts[path] = texts[path]
        gone = [path for path in self._texts if path not in texts]
        for path in gone:
            (self.root / path).unlink(missing_ok=True)
            del self._texts[path]
        return changed + gone

    def let(self, paths: list[str]) -> None:
        """Leave these files as they are from now on: their games are not followed any more."""
        for path in paths:
            self._texts.pop(path, None)


def write(path: Path, text: str) -> None:
    """Write a whole file, or none of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + BESIDE)
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
