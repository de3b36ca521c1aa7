"""The generic text protocol: home-made boards over serial, and tests of what no bought board can say.

Models: whatever speaks it; an Arduino needs a dozen lines.

Link: 115200 8N1 by default.

Sample: ``place P@e4`` LF

Layout: ASCII lines, each ended by LF (a CR before it is allowed)::

    hello NAME senses=pieces|occupancy [serial=S]
    position PLACEMENT                  chess: first field of a FEN, ? for a piece of unknown kind
                                        draughts: W31,K32:B1, unknown kind ?1,2,31
    lift SQUARE
    place PIECE@SQUARE                  FEN letter, draughts w b W B, or ?
    clock WHITE BLACK white|black|none [flags=white,black] [counter=N] [lever=white|black]      seconds
    clock off
    battery PERCENT

and from the host, which need not be answered: ``hello?``, ``position?``.

Check: none. A line that is none of these is refused; LF starts afresh.

The clock names players, so White is told as the left side, and the observation says that this is known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gateway.errors import UsageError
from gateway.events import (
    Battery,
    BoardDump,
    ClockAbsent,
    ClockSide,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    GameKind,
    Identity,
    Observation,
    Piece,
    Senses,
    Square,
)
from gateway.protocol import Address, Decoder, Dialogue, Heard, Reject
from gateway.protocol.framing import Framer, Lines
from gateway.protocol.options import Option, settle
from gateway.protocol.squares import SQUARES

LONGEST_LINE = 1024
"""Bytes; a full draughts position takes 300."""

CHESS_LETTERS = frozenset("PNBRQKpnbrqk?")
DRAUGHTS_LETTERS = frozenset("wbWB?")

SIDES: Mapping[str, ClockSide] = {"white": "left", "black": "right"}
PLAYERS: Mapping[ClockSide, str] = {side: player for player, side in SIDES.items()}

OPTIONS = (Option("silence_s", 2.0, "seconds of silence after which a board that answers is asked again", lowest=0.5),)


class BadLineError(Exception):
    """The line is refused. Never leaves the protocol."""

    def __init__(self, reason: Reject = Reject.VALUE) -> None:
        super().__init__(reason)
        self.reason = reason


class Generic:
    """One board."""

    def __init__(self, game: GameKind = "chess") -> None:
        self._squares = SQUARES[game]
        self._letters = DRAUGHTS_LETTERS if game == "draughts" else CHESS_LETTERS
        self._placement = _draughts_placement if game == "draughts" else _chess_placement
        self._framer = Framer(Lines(LONGEST_LINE))

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`."""
        heard: list[Heard] = []
        for found in self._framer.feed(data, at):
            if isinstance(found, FrameRejected):
                heard.append((None, found))
            else:
                heard.extend((None, observation) for observation in self._read(found))
        return heard

    def state(self, at: float) -> dict[str, Any]:
        """See `gateway.protocol.Decoder`."""
        return self._framer.state(at)

    def restore(self, state: Mapping[str, Any], at: float) -> None:
        """See `gateway.protocol.Decoder`."""
        self._framer.restore(state, at)

    def _read(self, line: bytes) -> list[Observation]:
        try:
            if not line.isascii():
                raise BadLineError(Reject.NOISE)
            word, _, rest = line.decode("ascii").strip("\r\n").partition(" ")
            read = READERS.get(word)
            if read is None:
                raise BadLineError(Reject.UNKNOWN)
            return read(self, rest.split())
        except BadLineError as refusal:
            return [FrameRejected(refusal.reason, len(line))]

    def _hello(self, words: list[str]) -> list[Observation]:
        names, settings = _split(words, {"senses", "serial"})
        if len(names) != 1 or settings.get("senses") not in ("pieces", "occupancy"):
            raise BadLineError
        said: list[Observation] = [Identity("name", names[0]), Senses(settings["senses"] == "pieces")]
        if serial := settings.get("serial"):
            said.append(Identity("serial", serial))
        return said

    def _position(self, words: list[str]) -> list[Observation]:
        if len(words) != 1:
            raise BadLineError
        return [BoardDump(dict(self._placement(words[0], self._squares)))]

    def _lift(self, words: list[str]) -> list[Observation]:
        if len(words) != 1:
            raise BadLineError
        return [FieldUpdate(self._square(words[0]), None)]

    def _place(self, words: list[str]) -> list[Observation]:
        piece, at, square = words[0].partition("@") if len(words) == 1 else ("", "", "")
        if not at or piece not in self._letters:
            raise BadLineError
        return [FieldUpdate(self._square(square), piece)]

    def _clock(self, words: list[str]) -> list[Observation]:
        if words == ["off"]:
            return [ClockAbsent()]
        readings, settings = _split(words, {"flags", "counter", "lever"})
        if len(readings) != 3 or readings[2] not in (*SIDES, "none"):
            raise BadLineError
        return [
            ClockTimes(
                left=_seconds(readings[0]),
                right=_seconds(readings[1]),
                running=SIDES.get(readings[2]),
                lever=_side(settings["lever"]) if "lever" in settings else None,
                flags=frozenset(map(_side, filter(None, settings.get("flags", "").split(",")))),
                counter=_number(settings["counter"]) if "counter" in settings else None,
                left_is_white=True,
            )
        ]

    def _battery(self, words: list[str]) -> list[Observation]:
        percent = _number(words[0]) if len(words) == 1 else -1
        if not 0 <= percent <= 100:
            raise BadLineError
        return [Battery(percent)]

    def _square(self, name: str) -> Square:
        if name not in self._squares:
            raise BadLineError
        return name


READERS: Mapping[str, Callable[[Generic, list[str]], list[Observation]]] = {
    "hello": Generic._hello,
    "position": Generic._position,
    "lift": Generic._lift,
    "place": Generic._place,
    "clock": Generic._clock,
    "battery": Generic._battery,
}


def _split(words: list[str], allowed: set[str]) -> tuple[list[str], dict[str, str]]:
    """Words as they come, then ``key=value``, each at most once."""
    plain = [word for word in words if "=" not in word]
    settings: dict[str, str] = {}
    for word in words[len(plain) :]:
        key, equals, value = word.partition("=")
        if not equals or key not in allowed or key in settings:
            raise BadLineError
        settings[key] = value
    if any("=" in word for word in words[: len(plain)]):
        raise BadLineError
    return plain, settings


def _side(player: str) -> ClockSide:
    if player not in SIDES:
        raise BadLineError
    return SIDES[player]


def _number(text: str) -> int:
    if not text.isdigit() or len(text) > 9:
        raise BadLineError
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise BadLineError from None
    if not math.isfinite(seconds) or seconds < 0:
        raise BadLineError
    return seconds


def _chess_placement(text: str, squares: tuple[Square, ...]) -> Iterator[tuple[Square, Piece]]:
    rows = text.split("/")
    if len(rows) != 8:
        raise BadLineError
    for number, row in enumerate(rows):
        if "." in row:
            raise BadLineError
        spread = "".join("." * int(letter) if letter in "12345678" else letter for letter in row)
        if len(spread) != 8 or not CHESS_LETTERS.issuperset(spread.replace(".", "")):
            raise BadLineError
        for square, letter in zip(squares[number * 8 : number * 8 + 8], spread, strict=True):
            if letter != ".":
                yield square, letter


_MAN = re.compile(r"(K?)(\d+|[a-j]\d+)")


def _draughts_placement(text: str, squares: tuple[Square, ...]) -> Iterator[tuple[Square, Piece]]:
    seen: set[Square] = set()
    for part in text.split(":"):
        letter = part[:1]
        if letter not in ("W", "B", "?"):
            raise BadLineError
        for item in filter(None, part[1:].split(",")):
            man = _MAN.fullmatch(item)
            if man is None or man[2] not in squares or man[2] in seen:
                raise BadLineError
            seen.add(man[2])
            yield man[2], letter if man[1] else letter.lower()


POSITION_GAP_S = 1.0
"""At least this long between two questions, so that a noisy line is not flooded."""


class GenericDialogue:
    """Asks who is there and what stands; goes on asking only a board that has shown that it answers.

    A board need not answer, so two questions without an answer are no reason to think it dead, and no third is put.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.deadline: float | None = None
        self._silence_s: float = settle(OPTIONS, options or {})["silence_s"]
        self._asked = False
        self._asked_at = 0.0
        self._answers = False

    def opened(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        self._asked, self._asked_at = False, at
        self.deadline = at + self._silence_s
        return [build_hello_question() + build_position_question()]

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`. A refused line may have been an update, so the position is asked for."""
        if isinstance(observation, FrameRejected):
            if self._answers and self.deadline is not None:
                self.deadline = min(self.deadline, max(at, self._asked_at + POSITION_GAP_S))
            return []
        # Only an answer to a question put into a silence proves anything: a board may say hello when it is opened.
        if self._asked and isinstance(observation, BoardDump):
            self._answers = True
        self._asked = False
        self.deadline = at + self._silence_s
        return []

    def tick(self, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        if self.deadline is None or at < self.deadline:
            return []
        self._asked, self._asked_at = True, at
        self.deadline = at + self._silence_s if self._answers else None
        return [build_position_question()]


# --- building: what a simulated board says, and the host --------------------------------------------------------


def build_hello(name: str, pieces: bool = True, serial: str | None = None) -> bytes:
    """Who I am and what I sense."""
    return _line("hello", name, f"senses={'pieces' if pieces else 'occupancy'}", serial and f"serial={serial}")


def build_position(pieces: Mapping[Square, Piece], game: GameKind = "chess") -> bytes:
    """All that stands on the board."""
    return _line("position", _draughts_text(pieces) if game == "draughts" else _chess_text(pieces))


def build_lift(square: Square) -> bytes:
    """A square became empty."""
    return _line("lift", square)


def build_place(square: Square, piece: Piece) -> bytes:
    """A piece came to a square, or another piece than before."""
    return _line("place", f"{piece}@{square}")


def build_clock(times: ClockTimes) -> bytes:
    """Both times; White is the left side."""
    if times.running == "both" or times.left_is_white is False:
        raise UsageError("the generic protocol knows one running side, and White on the left")
    return _line(
        "clock",
        _number_text(times.left),
        _number_text(times.right),
        PLAYERS[times.running] if times.running else "none",
        times.flags and "flags=" + ",".join(PLAYERS[side] for side in sorted(times.flags)),
        times.counter is not None and f"counter={times.counter}",
        times.lever and f"lever={PLAYERS[times.lever]}",
    )


def build_clock_off() -> bytes:
    """No clock."""
    return _line("clock", "off")


def build_battery(percent: int) -> bytes:
    """Charge."""
    return _line("battery", str(percent))


def build_hello_question() -> bytes:
    """Host: who is there?"""
    return _line("hello?")


def build_position_question() -> bytes:
    """Host: what stands on the board?"""
    return _line("position?")


def _line(*words: Any) -> bytes:
    return " ".join(word for word in words if word).encode("ascii") + b"\n"


def _number_text(seconds: float) -> str:
    """The shortest decimal that reads as the same number."""
    return repr(float(seconds)).removesuffix(".0")


def _chess_text(pieces: Mapping[Square, Piece]) -> str:
    squares = SQUARES["chess"]
    rows = ("".join(pieces.get(square, ".") for square in squares[start : start + 8]) for start in range(0, 64, 8))
    return re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(rows))


def _draughts_text(pieces: Mapping[Square, Piece]) -> str:
    def part(letters: str) -> str:
        standing = (square for square in SQUARES["draughts"] if pieces.get(square, ".") in letters)
        return letters[0] + ",".join(("K" if pieces[square] in "WB" else "") + square for square in standing)

    unknown = part("?")
    return ":".join((part("Ww"), part("Bb"), *([unknown] if len(unknown) > 1 else [])))


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For a port of one board."""
    return Generic(games[None])


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """For a port of one board."""
    return GenericDialogue(options)
