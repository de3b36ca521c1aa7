"""Sets of pieces with RFID tags: learned once from the start position, kept on disk, handed to the driver by name.

A set belongs to no board: in a hall pieces wander. Sets lie as JSON under ``state_dir/calibration``, and grow: a third
queen is added without losing the others. On the way from the configuration to a driver the name of a set is replaced
by the tags themselves, so that a capture holds all that its replay needs.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.config import Config, TableConfig
from gateway.errors import ConfigError, UsageError
from gateway.events import FrameRejected, Piece
from gateway.protocol import certabo
from gateway.protocol.certabo import CalibrationError, Tag
from gateway.protocol.framing import Framer
from gateway.protocol.reading import RefusedError
from gateway.registry import DRIVERS

ENOUGH = 15
"""Lines from which the maker's own program calibrates."""
OPTION = "calibration"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Collector:
    """Takes a board's bytes until they are enough for a calibration."""

    def __init__(self) -> None:
        self.occupancy = False
        """This board has no tags."""
        self._framer = Framer(certabo.measure, certabo.Certabo.patience)
        self._lines: list[list[Tag]] = []

    @property
    def enough(self) -> bool:
        """Whether no more is needed."""
        return len(self._lines) >= ENOUGH

    def feed(self, data: bytes, at: float) -> None:
        """Take what arrived."""
        for line in self._framer.feed(data, at):
            if isinstance(line, FrameRejected):
                continue
            try:
                numbers = certabo.read_numbers(line)
            except RefusedError:
                continue
            if len(numbers) == certabo.RFID_COUNT:
                self._lines.append(certabo.tags_of(numbers))
            elif numbers:
                self.occupancy = True

    def pieces(self) -> dict[Tag, Piece]:
        """The set. Raises `CalibrationError`."""
        if self.occupancy:
            raise CalibrationError("this board senses occupancy; it has no pieces to calibrate (driver sentio)")
        return certabo.calibrate(self._lines[-ENOUGH:])


def path(state_dir: Path, name: str) -> Path:
    """Where a set lies. Raises `UsageError` for what is no name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a set: letters, digits, _ and -, at most 32")
    return state_dir / "calibration" / f"{name}.json"


def load(state_dir: Path, name: str) -> dict[Tag, Piece]:
    """A stored set.

    Raises:
        UsageError: there is none of this name, or its file is damaged.
    """
    file = path(state_dir, name)
    try:
        stored = json.loads(file.read_bytes())["pieces"]
        pieces = certabo.read_calibration(",".join(f"{piece}{tag}" for tag, piece in stored.items()))
    except FileNotFoundError:
        raise UsageError(f"no set {name!r} is calibrated; `board-gateway calibrate {name}` does it") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        pieces = {}
    if not pieces:
        raise UsageError(f"{file} is damaged; calibrate the set again")
    return pieces


def save(state_dir: Path, name: str, pieces: Mapping[Tag, Piece]) -> tuple[Path, int]:
    """Store a set, with what was known of it before; return where, and how many pieces it has now.

    Raises:
        OSError: it cannot be written.
    """
    file = path(state_dir, name)
    try:
        known = load(state_dir, name)
    except UsageError:
        known = {}
    together = {**known, **pieces}
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"v": 1, "pieces": {tag.hex(): piece for tag, piece in sorted(together.items())}}, indent=1)
    fresh = file.with_suffix(".new")
    with fresh.open("w", encoding="ascii") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)
    return file, len(together)


def resolved(config: Config) -> Config:
    """The configuration with the tags of each set in the place of its name.

    Raises:
        ConfigError: a set is not there or damaged; all of them are said at once.
    """
    mistakes: list[str] = []
    tables = tuple(_resolved(table, config.state_dir, mistakes) for table in config.tables)
    if mistakes:
        raise ConfigError(mistakes)
    return replace(config, tables=tables)


def _resolved(table: TableConfig, state_dir: Path, mistakes: list[str]) -> TableConfig:
    name = table.board.options.get(OPTION)
    takes_one = any(option.name == OPTION for option in DRIVERS[table.board.driver].options)
    if not takes_one or not name or certabo.read_calibration(name):
        return table
    try:
        pieces = load(state_dir, name)
    except UsageError as error:
        mistakes.append(f"table {table.id}: board.options.{OPTION}: {error}")
        return table
    options: dict[str, Any] = {**table.board.options, OPTION: certabo.write_calibration(pieces)}
    return replace(table, board=replace(table.board, options=options))
