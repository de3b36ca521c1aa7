"""Chess Peripheral Protocol: open text for home-made boards, chess and draughts.

Models: OPENCHESSBOARD, boards made with ArduinoBleChess, and whatever else speaks it.

Link: BLE, one command in each notification or write, without an end; on a serial line (115200 8N1) a command ends with
LF, which is our own reading of "implementations through different physical interfaces" (option ``newline`` for ours).

Sample: ``state rnbqkbnr/pppppppp/8/8/8/8/1PPPPPPP/RNBQKBNR``  the piece of a2 is in the hand

Layout: lower-case words and a blank between them::

    state FEN, sync FEN, unsync FEN, unsync_setible FEN    what stands; ten squares to a row in draughts_standard
    move UCI, undo UCI                                     a move made on the board; the host answers ok or nok
    ok, nok, moved, msg TEXT, err TEXT, resign, draw_offer, option .., end ..
    host: feature NAME, variant NAME, set_variant NAME, get_state, begin FEN, ok, nok

Check: none. A line that is none of these is refused.

A round is never begun (``begin``): until it is, a board with the feature get_state tells every change of its squares,
which is all that is wanted here, while in a round it would tell complete moves only, and light up what it disagrees
with. Should a board begin one by itself, its moves are answered ``ok``.

Choices where sources dispute:

* ``w``, ``b``, ``?``, ``u``, ``U`` all stand for a piece of unknown kind, and ``b`` for a bishop too. Every piece is
  told as unknown: none of the boards known to speak this tells pieces apart.
* Draughts: only draughts_standard has the hundred squares that this gateway plays on; the 8x8 variants are refused by
  the size of their rows. Variants are named by a fork of the protocol, not by its first text.
* ``time`` goes from the app to the board and is no reading of a clock.

Sources: vovagorodok/chess_peripheral_protocol and ArduinoBleChess. No recording is public.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gateway.events import BoardDump, FieldUpdate, GameKind, Identity, Observation, Square
from gateway.protocol import Address, Decoder, Dialogue, Heard, Reject
from gateway.protocol.asking import Asking, Questions
from gateway.protocol.framing import Lines, Measure
from gateway.protocol.options import Option, settle
from gateway.protocol.reading import Reading, RefusedError, taken
from gateway.protocol.squares import SQUARES

SERVICE = "f5351050-b2c9-11ec-a0c0-b3bc53b08d33"
NOTIFY = "f53513ca-b2c9-11ec-a0c1-639b8957db99"
WRITE = "f535147e-b2c9-11ec-a0c2-8bbd706ec4e6"

LONGEST_LINE = 512
ROWS: Mapping[GameKind, int] = {"chess": 8, "chess960": 8, "draughts": 10}
VARIANTS: Mapping[GameKind, str] = {"chess960": "chess_960", "draughts": "draughts_standard"}
"""To be set; `standard` is what a board begins with."""

POSITIONS = ("state", "sync", "unsync", "unsync_setible")
SILENT = ("ok", "nok", "moved", "resign", "draw_offer", "option", "options_end", "options_reset", "set_option", "err")
_ROW = re.compile(r"(?:10|[1-9]|[A-Za-z?])+")
_CELL = re.compile(r"10|[1-9]|[A-Za-z?]")
_MOVE = re.compile(r"([a-j](?:10|[1-9]))([a-j](?:10|[1-9]))[a-z]?")

OPTIONS = (
    Option("newline", False, "end each command with a line feed, for a board on a serial line"),
    Option("silence_s", 2.0, "seconds of silence after which the board is asked for its state", lowest=0.5),
)


class Cpp(Reading):
    """One board. An undone move is told as a move back."""

    patience = None

    def __init__(self, game: GameKind = "chess") -> None:
        super().__init__()
        self._size = ROWS[game]
        self._squares = SQUARES[game]

    def feed(self, data: bytes, at: float, channel: str | None = None) -> list[Heard]:
        """See `gateway.protocol.Decoder`. A notification is a whole command."""
        return super().feed(data if channel is None else data.rstrip(b"\r\n") + b"\n", at, channel)

    def _measure(self, channel: str | None) -> Measure:
        return Lines(LONGEST_LINE)

    def _read(self, frame: bytes, at: float, channel: str | None) -> Iterable[Observation]:
        if not frame.isascii():
            raise RefusedError(Reject.NOISE)
        word, _, rest = frame.decode("ascii").strip().partition(" ")
        if word in POSITIONS:
            return [BoardDump(taken(self._position(rest.partition(" ")[0])))]
        if word in ("move", "undo"):
            return self._moved(rest, back=word == "undo")
        if word == "msg":
            return [Identity("name", rest)]
        if word not in SILENT:
            raise RefusedError(Reject.UNKNOWN)
        return []

    def _position(self, placement: str) -> Iterator[tuple[Square, bool]]:
        rows = placement.split("/")
        if len(rows) != self._size or not all(map(_ROW.fullmatch, rows)):
            raise RefusedError
        for number, row in enumerate(rows):
            cells: list[bool] = []
            for cell in _CELL.findall(row):
                cells += [False] * int(cell) if cell.isdigit() else [True]
            if len(cells) != self._size:
                raise RefusedError
            yield from zip(self._squares[number * self._size :], cells, strict=False)

    def _moved(self, text: str, back: bool) -> list[Observation]:
        move = _MOVE.fullmatch(text)
        if move is None:
            raise RefusedError
        squares = [self._square(move[1]), self._square(move[2])]
        departure, arrival = reversed(squares) if back else squares
        return [FieldUpdate(departure, None), FieldUpdate(arrival, "?")]

    def _square(self, name: str) -> Square:
        column, row = "abcdefghij".index(name[0]), int(name[1:])
        if column >= self._size or row > self._size:
            raise RefusedError
        return self._squares[(self._size - row) * self._size + column]


class CppDialogue(Asking):
    """Asks for the board's state and accepts what moves it tells."""

    def __init__(self, game: GameKind, options: Mapping[str, Any]) -> None:
        settings = settle(OPTIONS, options)
        self._end = "\n" if settings["newline"] else ""
        variant = VARIANTS.get(game)
        commands = [*([f"set_variant {variant}"] if variant else []), "feature get_state", "get_state"]
        opening = tuple(map(self._command, commands))
        super().__init__(Questions(opening, opening[-1:], opening[-1], silence_s=settings["silence_s"]))

    def _command(self, text: str) -> bytes:
        return f"{text}{self._end}".encode("ascii")

    def heard(self, address: Address, observation: Observation, at: float) -> list[bytes]:
        """See `gateway.protocol.Dialogue`."""
        said = super().heard(address, observation, at)
        moved = isinstance(observation, FieldUpdate) and observation.piece is not None
        return [*said, self._command("ok")] if moved else said


# --- building ---------------------------------------------------------------------------------------------------


def build_state(squares: Iterable[Square], game: GameKind = "chess") -> bytes:
    """What is taken."""
    standing, size = set(squares), ROWS[game]
    cells = "".join("?" if square in standing else "." for square in SQUARES[game])
    rows = "/".join(cells[start : start + size] for start in range(0, size * size, size))
    return f"state {re.sub(r'[.]+', lambda empty: str(len(empty[0])), rows)}\n".encode("ascii")


# --- what the registry needs ------------------------------------------------------------------------------------


def decoder(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Decoder:
    """For one board."""
    return Cpp(games[None])


def dialogue(games: Mapping[Address, GameKind], options: Mapping[str, Any]) -> Dialogue:
    """The variant where it is not chess, then the state, again and again where there is silence."""
    return CppDialogue(games[None], options)
