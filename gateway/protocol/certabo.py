"""Certabo and Tabutronic: a stream of lines of numbers, one line for each scan.

Models: Certabo (all generations with RFID), Tabutronic Cerno and Cerno Spectrum: five bytes of a piece's tag for each
square. Tabutronic Sentio, Sentio Spectrum and Tactum: one bit for each square (driver ``sentio``).

Link: USB serial 38400 8N1 (CP210x); BLE, Nordic UART, where the colon may be missing and bytes 0 and 255 get in.

Sample: ``:255 255 0 0 8 0 247 255 \\r\\n``  occupancy after e2-e4
        ``:48 0 248 71 99 48 0 248 85 159 ..  \\r\\n``  tags, the first on a8

Layout::

    :n n n .. \\r\\n     320 numbers: five of each square, a8 b8 .. h8, a7 .. h1; five zeros: empty
                       8 numbers: ranks 8 .. 1, bit 7 = file a
    L\\r\\n, D\\r\\n       a light was set: one colour, colours

Check: the count, and 0 to 255. Some units put a line feed after each 64 characters, within a number too, and some end
a line with ``\\nL``: every CR and LF goes before the line is split, and only CR LF ends it. What came before it may
lack the last digit of its last number.

Tags are read with mistakes, and empty squares return anything. A square's piece is what two of the last three lines
say; a tag that is not in the set's calibration is no piece.

A set of pieces is calibrated once (`board-gateway calibrate`) and named by option ``calibration``. Without one, the
first start position that stands for seven lines is taken for it, for as long as the port stays open.

Choices where sources dispute:

* Majority of three, as picochess has it; two equal lines in a row (mono424) would lose a piece at every misread tag.
* Calibration by the most frequent tag of each square, in more than half of at least seven lines (picochess); the maker
  takes fifteen. Two squares with one tag are refused.
* DTR and RTS: two programs do the opposite. Both work.
* Which service Bluetooth has: only one program names it, another says it is secret.

Sources: CERTABO's own repositories, JohanSjoblom/picochess (parser, with frames of two real boards in its tests),
haklein/certabo-lichess, mono424/certabodriver, Programmierbaer/BearChess, gkalab/cer2nut.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.events import BoardDump, GameKind, Identity, Observation, Piece, Senses, Square
from gateway.protocol import Address, Decoder, Reject
from gateway.protocol.framing import Cut, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError, Repeats, taken
from gateway.protocol.squares import CHESS_SQUARES

Tag = bytes
"""The five bytes of one square."""

LONGEST_LINE = 2048
"""Bytes; 320 numbers of three digits take 1300."""
RFID_COUNT, OCCUPANCY_COUNT = 320, 8
EMPTY: Tag = bytes(5)

VOTE = 3
"""Lines over which a square's piece is voted."""
SAMPLES = 7
"""Lines over which a calibration is made."""

_START_ROWS = {"8": "rnbqkbnr", "7": "p" * 8, "2": "P" * 8, "1": "RNBQKBNR"}
START: Mapping[Square, Piece] = {
    f"{file}{rank}": letter for rank, row in _START_ROWS.items() for file, letter in zip("abcdefgh", row, strict=True)
}
SPARE_QUEENS: Mapping[Square, Piece] = {"d6": "q", "d3": "Q"}
"""Where they may stand while a set is calibrated."""

NOT_CALIBRATED = Identity("name", "RFID board whose set of pieces is not calibrated")

OPTIONS = (Option("calibration", "", "name of the calibrated set of pieces; empty: learned from the start position"),)
"""On its way from the configuration to here the name is replaced by the calibration itself, see `read_calibration`."""


class CalibrationError(Exception):
    """These lines give no calibration."""


class Certabo(Reading):
    """One board."""

    patience = 1.0

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._set = read_calibration(settle(OPTIONS, options or {})["calibration"])
        self._lines: deque[Sequence[Tag]] = deque(maxlen=SAMPLES)
        self._votes: deque[Sequence[Piece | None]] = deque(maxlen=VOTE)
        self._repeats = Repeats()

    def _measure(self, channel: str | None) -> Measure:
        return measure

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        numbers = read_numbers(frame)
        if not numbers:
            return []
        if len(numbers) == OCCUPANCY_COUNT:
            return self._occupancy(numbers, at)
        return self._tags(tags_of(numbers), at)

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return super().state(at) | {
            "set": {tag.hex(): piece for tag, piece in self._set.items()},
            "lines": [[tag.hex() for tag in line] for line in self._lines],
            "votes": [list(votes) for votes in self._votes],
            "repeats": self._repeats.state(at),
        }

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        super().restore(state, at)
        self._set = {bytes.fromhex(tag): piece for tag, piece in state["set"].items()}
        self._lines.extend([bytes.fromhex(tag) for tag in line] for line in state["lines"])
        self._votes.extend(state["votes"])
        if any(len(line) != len(CHESS_SQUARES) for line in (*self._lines, *self._votes)):
            raise ValueError("a line of another size")
        self._repeats.restore(state["repeats"], at)

    def _occupancy(self, rows: bytes, at: float) -> list[Observation]:
        if self._repeats.idle(rows, at):
            return []
        bits = (row >> (7 - file) & 1 for row in rows for file in range(8))
        return [Senses(pieces=False), BoardDump(taken(zip(CHESS_SQUARES, bits, strict=True)))]

    def _tags(self, tags: Sequence[Tag], at: float) -> list[Observation]:
        if not self._set:
            self._learn(tags)
        if not self._set:
            return [] if self._repeats.idle(NOT_CALIBRATED, at) else [NOT_CALIBRATED]
        self._votes.append([self._set.get(tag) for tag in tags])
        if len(self._votes) < VOTE:
            return []
        position = {
            square: piece
            for square, *votes in zip(CHESS_SQUARES, *self._votes, strict=True)
            if (piece := _majority(votes)) is not None
        }
        return [] if self._repeats.idle(position, at) else [BoardDump(position)]

    def _learn(self, tags: Sequence[Tag]) -> None:
        self._lines.append(tags)
        if len(self._lines) == SAMPLES:
            try:
                self._set = calibrate(self._lines)
            except CalibrationError:
                return
            self._votes.extend([self._set.get(tag) for tag in line] for line in self._lines)


def _majority(votes: Iterable[Piece | None]) -> Piece | None:
    """The piece that two of them name; None also where all differ."""
    piece, count = Counter(votes).most_common(1)[0]
    return piece if count >= 2 else None


def measure(buffer: bytearray) -> Cut | None:
    colon = buffer.find(b":", 1, LONGEST_LINE)
    end = buffer.find(b"\r\n", 0, LONGEST_LINE)
    if colon >= 0 and (end < 0 or colon < end):
        return Cut(colon, Reject.TRUNCATED if buffer[0] == ord(":") else Reject.NOISE)
    if end >= 0:
        return Cut(end + 2)
    return Cut(LONGEST_LINE, Reject.NOISE) if len(buffer) >= LONGEST_LINE else None


_ACKNOWLEDGED = re.compile(rb"(^|\n)[LD]$")
_NUMBERS = re.compile(rb" *(?:\d{1,3} +)*\d{1,3} *")


def read_numbers(line: bytes) -> bytes:
    """The numbers of a line; none if it is only an acknowledgement. Raises `RefusedError`."""
    text = _ACKNOWLEDGED.sub(b"", line.strip(b"\0\xff").removesuffix(b"\r\n"))
    text = text.translate(None, b"\r\n\0\xff").removeprefix(b":")
    if not text:
        return b""
    if not _NUMBERS.fullmatch(text):
        raise RefusedError
    numbers = [int(word) for word in text.split()]
    if len(numbers) not in (RFID_COUNT, OCCUPANCY_COUNT):
        raise RefusedError(Reject.SIZE)
    if max(numbers) > 255:
        raise RefusedError
    return bytes(numbers)


def tags_of(numbers: bytes) -> list[Tag]:
    """What each square's antenna says, a8 first."""
    return [numbers[at : at + 5] for at in range(0, RFID_COUNT, 5)]


# --- calibration ------------------------------------------------------------------------------------------------


def calibrate(lines: Iterable[Sequence[Tag]]) -> dict[Tag, Piece]:
    """The pieces of a set by their tags, from lines in which the start position stands.

    Args:
        lines: at least `SAMPLES`; the spare queens may stand on d6 and d3.

    Raises:
        CalibrationError: too few lines, a square whose tag is not stable, or a tag that is read on two squares.
    """
    seen = list(zip(*lines, strict=True))
    if not seen or len(seen[0]) < SAMPLES:
        raise CalibrationError(f"at least {SAMPLES} lines are needed")
    found: dict[Tag, Square] = {}
    for square, tags in zip(CHESS_SQUARES, seen, strict=True):
        tag, count = Counter(tags).most_common(1)[0]
        stable = count * 2 > len(tags) and tag.count(0) < 3
        if square not in START and not (stable and square in SPARE_QUEENS):
            continue
        if not stable:
            raise CalibrationError(f"no piece on {square}, or it is not read well")
        if tag in found:
            raise CalibrationError(f"the pieces on {found[tag]} and {square} have one tag")
        found[tag] = square
    pieces = {**START, **SPARE_QUEENS}
    return {tag: pieces[square] for tag, square in found.items()}


def write_calibration(pieces: Mapping[Tag, Piece]) -> str:
    """A calibration as one word, ``P`` and the tag's ten hex digits for each piece; so that a capture can hold it."""
    return ",".join(sorted(f"{piece}{tag.hex()}" for tag, piece in pieces.items()))


def read_calibration(text: str) -> dict[Tag, Piece]:
    """Undo `write_calibration`; nothing where `text` is no calibration."""
    words = text.split(",")
    if not all(re.fullmatch(r"[PNBRQKpnbrqk][0-9a-f]{10}", word) for word in words):
        return {}
    return {bytes.fromhex(word[1:]): word[0] for word in words}


# --- building: what a simulated board says ----------------------------------------------------------------------


def build_line(numbers: Iterable[int], wrapped: bool = False) -> bytes:
    """A line; `wrapped` as by the units that break it after every 64 characters."""
    text = ":" + " ".join(map(str, numbers)) + " "
    if wrapped:
        text = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return text.encode("ascii") + b"\r\n"


def build_tags(tags: Mapping[Square, Tag], wrapped: bool = False) -> bytes:
    """What stands where, by tags."""
    return build_line((number for square in CHESS_SQUARES for number in tags.get(square, EMPTY)), wrapped)


def build_occupancy(squares: Iterable[Square]) -> bytes:
    """What is taken."""
    rows = dict.fromkeys(range(8, 0, -1), 0)
    for square in squares:
        rows[int(square[1])] |= 0x80 >> "abcdefgh".index(square[0])
    return build_line(rows.values())


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board; the first good line shows what it senses."""
    return Certabo(options)


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> None:
    """The board talks all the time and is asked nothing."""


class _Sentio:
    """Boards that sense occupancy have no pieces to calibrate."""

    OPTIONS: tuple[Option, ...] = ()

    def decoder(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
        return Certabo()

    def dialogue(self, games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> None:
        return dialogue(games, options)


SENTIO = _Sentio()
