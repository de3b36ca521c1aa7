"""Tables of frames, and a short way to write what a frame says, so that a table can be read and checked by eye.

`frames/DRIVER.txt` holds for each driver of the registry: sections ``[game]``, ``[game channel=UUID]`` or
``[game at=ADDRESS]`` (bus), and lines ``FRAMES  =>  MEANING; MEANING  # source``. Frames are hex or a quoted text. What
is refused reads ``!reason size``. A driver joins every test of `test_ordeal` by having such a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.events import (
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    Identity,
    LogEntry,
    Observation,
    Senses,
)
from gateway.protocol import Address, Decoder
from gateway.protocol.squares import CHESS_SQUARES
from gateway.registry import Entry

FRAMES = Path(__file__).parent / "frames"


def short(observation: Observation) -> str:
    """An observation in few letters."""
    match observation:
        case BoardDump(pieces):
            return f"board {placement(pieces)}".strip()
        case FieldUpdate(square, piece):
            return f"{square} {piece or '-'}"
        case ClockTimes():
            return _clock(observation)
        case ClockAbsent():
            return "no clock"
        case Battery(percent):
            return f"battery {percent}"
        case Identity(kind, text):
            return f"{kind} {text}"
        case Senses(pieces):
            return "senses " + ("pieces" if pieces else "occupancy")
        case BoardLog(entries, complete):
            return " ".join(["log" if complete else "changes", *map(_entry, entries)])
        case FrameRejected(reason, size):
            return f"!{reason} {size}"
    raise AssertionError(observation)


def placement(pieces: Any) -> str:
    """Chess as a FEN's first field; all else as squares in order."""
    if not pieces or not set(pieces) <= set(CHESS_SQUARES):
        return ",".join(f"{piece}{square}" for square, piece in pieces.items())
    letters = "".join(pieces.get(square, ".") for square in CHESS_SQUARES)
    text = "/".join(letters[start : start + 8] for start in range(0, 64, 8))
    for size in range(8, 0, -1):
        text = text.replace("." * size, str(size))
    return text


def _clock(times: ClockTimes) -> str:
    words = [f"clock {times.left:g} {times.right:g} {times.running or 'stopped'}"]
    words += [f"lever={times.lever}"] if times.lever else []
    words += ["flags=" + ",".join(sorted(times.flags))] if times.flags else []
    words += ["low"] if times.battery_low else []
    words += [f"counter={times.counter}"] if times.counter is not None else []
    words += ["left=white"] if times.left_is_white else []
    return " ".join(words)


def _entry(entry: LogEntry) -> str:
    if entry.tag:
        return entry.tag
    if entry.clock:
        return f"{entry.clock}:{entry.reading:g}"
    return f"{entry.square}:{entry.piece or '-'}{'+' if entry.quick else ''}"


@dataclass(frozen=True)
class Sample:
    """One line of a table."""

    driver: str
    game: str
    channel: str | None
    address: Address
    frames: bytes
    meaning: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.driver}-{self.game}-{self.frames[:12].hex()}"

    def decoder(self, entry: Entry) -> Decoder:
        """A fresh one for this line."""
        return entry.family.decoder({self.address: self.game}, {})

    def read(self, decoder: Decoder, data: bytes | None = None, at: float = 0.0) -> list[str]:
        """What the decoder makes of it."""
        heard = decoder.feed(self.frames if data is None else data, at, self.channel)
        return [short(observation) for _, observation in heard]


def samples(driver: str) -> Iterator[Sample]:
    """All lines of a driver's table."""
    game, settings = "chess", {}
    for line in (FRAMES / f"{driver}.txt").read_text().splitlines():
        line = line.partition("  # ")[0].strip()
        if line.startswith("["):
            game, *words = line.strip("[]").split()
            settings = dict(word.split("=") for word in words)
        elif line and not line.startswith("#"):
            frames, _, meaning = line.partition("=>")
            frames = frames.strip()
            data = json.loads(frames).encode("utf-8") if frames.startswith('"') else bytes.fromhex(frames)
            address = int(settings["at"]) if "at" in settings else None
            told = tuple(part.strip() for part in meaning.split(";") if part.strip())
            yield Sample(driver, game, settings.get("channel"), address, data, told)
