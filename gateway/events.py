"""The one vocabulary of the gateway: observations, events and commands. Standard library only.

*Observations* are what a device said, in the words of the game: squares, pieces, seconds.
*Events* are what a table concluded; their fields are the contract with the hall.
*Commands* are what an arbiter asks for.

Squares are strings everywhere below the published payloads: ``"a1"``..``"h8"`` in chess, ``"1"``..``"50"`` in
draughts, and the light squares of a 10x10 board by column and row, ``"b1"`` (``"a1"`` would be 46). Pieces are FEN
letters ``PNBRQKpnbrqk``, draughts ``w b W B`` (men, kings), ``?`` where the board cannot tell which piece it is, and
``X Y Z`` for the result pieces of DGT sets (draw, White wins, Black wins).

Times named ``at`` are seconds on the caller's monotonic scale. Every other duration is in seconds too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

Square = str
Piece = str
Side = Literal["white", "black"]
ClockSide = Literal["left", "right"]
Device = Literal["board", "clock"]
Stream = Literal["public", "arbiter"]
GameKind = Literal["chess", "chess960", "draughts"]

OTHER: Mapping[Side, Side] = {"white": "black", "black": "white"}


# --- observations -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BoardDump:
    """All that stands on the board at one moment, in the board's own frame (before orientation)."""

    pieces: Mapping[Square, Piece]


@dataclass(frozen=True, slots=True)
class FieldUpdate:
    """One square's report: it now holds `piece`, or nothing."""

    square: Square
    piece: Piece | None


@dataclass(frozen=True, slots=True)
class ClockTimes:
    """One report of a clock. Sides are those of the clock seen from its front, never colours."""

    left: float
    right: float
    running: ClockSide | Literal["both"] | None
    lever: ClockSide | None = None
    """Whose clock the lever lets run, also while the clock is stopped."""
    flags: frozenset[ClockSide] = frozenset()
    battery_low: bool = False
    counter: int | None = None
    """The clock's own count of moves (of both sides: presses), where it shows one."""
    left_is_white: bool | None = None
    """Known by the protocol itself (the generic text protocol); else the table decides."""


@dataclass(frozen=True, slots=True)
class ClockAbsent:
    """The board says that no clock is connected."""


@dataclass(frozen=True, slots=True)
class Battery:
    """Charge of the board in percent, 0 to 100."""

    percent: int


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device says about itself."""

    kind: Literal["name", "serial", "long_serial", "version", "hardware_version", "trademark", "bus_address"]
    text: str


@dataclass(frozen=True, slots=True)
class Senses:
    """What the board can tell of a square: which piece, or only that it is taken."""

    pieces: bool


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of a board's own log: a square's change, a reading, or a tag such as ``power_up``."""

    square: Square | None = None
    piece: Piece | None = None
    quick: bool = False
    """Less than about 250 ms after the entry before."""
    clock: ClockSide | None = None
    reading: float | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class BoardLog:
    """Changes that the board kept while nobody listened, oldest first."""

    entries: tuple[LogEntry, ...]
    complete: bool
    """True: the whole log (DGT EE_MOVES, bus "from start"); False: what changed since the last request."""


@dataclass(frozen=True, slots=True)
class FrameRejected:
    """Bytes that were no valid frame."""

    reason: str
    size: int
    """Bytes thrown away, 1 or more."""


@dataclass(frozen=True, slots=True)
class LinkState:
    """A device answers, or has stopped answering."""

    device: Device
    up: bool
    detail: str | None = None


Observation = (
    BoardDump
    | FieldUpdate
    | ClockTimes
    | ClockAbsent
    | Battery
    | Identity
    | Senses
    | BoardLog
    | FrameRejected
    | LinkState
)


# --- events -----------------------------------------------------------------------------------------------------

Fen = Annotated[str, "FEN of the game: chess as python-chess writes it, draughts `W:W31,32:B1,2`"]
Seconds = Annotated[float, "seconds, 0 or more"]


@dataclass(frozen=True, slots=True)
class Readings:
    """Both clock readings."""

    white: Annotated[float, "White's reading in seconds"]
    black: Annotated[float, "Black's reading in seconds"]


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A game has begun."""

    kind = "game_started"
    game: Annotated[GameKind, "kind of game"]
    start_fen: Fen
    orientation: Annotated[Literal["normal", "rotated"] | None, "how the board lies; null if unknown"]
    regulations: Annotated[str, "regulations in force, such as `fide-blitz`"]
    time_control: Annotated[str, "PGN time control; `?` unknown, `-` none"]
    white: Annotated[str | None, "White's name, as assigned"]
    black: Annotated[str | None, "Black's name, as assigned"]
    event: Annotated[str | None, "event, as assigned"]
    round: Annotated[str | None, "round, as assigned"]
    reason: Annotated[Literal["start_position", "command", "resumed"], "what started it"]


@dataclass(frozen=True, slots=True)
class Move:
    """One ply, published as soon as it is recognised."""

    kind = "move"
    ply: Annotated[int, "the record's half-move, from 1"]
    side: Side
    notation: Annotated[str, "SAN; PDN in draughts; UCI or `36-31` where the ply is illegal"]
    uci: Annotated[str | None, "chess: UCI; castling takes the rook only in Chess960"]
    squares: Annotated[tuple[int, ...] | None, "draughts: the whole path, departure first"]
    captured: Annotated[tuple[int, ...] | None, "draughts: squares of the captured pieces in order of jumping"]
    fen: Annotated[str, "FEN after the ply"]
    legal: Annotated[bool, "false: the ply breaks the rules and stands all the same"]
    source: Annotated[Literal["board", "command", "inferred"], "inferred: no sensor saw it, the position demands it"]
    clock: Annotated[Readings | None, "last readings, if younger than 3 s or nothing runs"]
    elapsed: Annotated[float | None, "seconds since the ply before (the first: since the clock started)"]


@dataclass(frozen=True, slots=True)
class MoveRetracted:
    """This ply and all later ones no longer stand."""

    kind = "move_retracted"
    from_ply: Annotated[int, "first ply that no longer stands"]
    reason: Literal["slide", "takeback", "correction", "command"]


@dataclass(frozen=True, slots=True)
class MoveConfirmed:
    """The clock was pressed on the ply, or the opponent has replied."""

    kind = "move_confirmed"
    ply: Annotated[int, "the record's half-move, from 1"]
    clock: Annotated[Readings | None, "the reading that showed the press, with the increment; null without a press"]


@dataclass(frozen=True, slots=True)
class PositionSet:
    """The record goes on from a position to which its moves do not lead."""

    kind = "position_set"
    ply: Annotated[int, "later plies count from here"]
    fen: Fen
    reason: Literal["command", "gap"]


@dataclass(frozen=True, slots=True)
class ClockChanged:
    """The clock's state changed."""

    kind = "clock"
    change: Literal["started", "pressed", "stopped", "set", "flag", "connected", "disconnected"]
    side: Annotated[Side | None, "started: whose runs; pressed: who pressed; stopped: whose ran; flag: who fell"]
    white: Annotated[float | None, "White's reading in seconds"]
    black: Annotated[float | None, "Black's reading in seconds"]
    running: Annotated[Literal["white", "black", "none"], "whose clock runs now"]


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The game has a result, or was closed without one."""

    kind = "game_ended"
    result: Annotated[str, "chess 1-0 0-1 1/2-1/2, draughts 2-0 0-2 1-1 0-0, * unknown"]
    reason: Literal["checkmate", "stalemate", "no_moves", "no_pieces", "kings_signal", "command", "set_up_again"]
    detail: Annotated[str | None, "the command's own reason"]


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """A device is there, or no longer."""

    kind = "link"
    device: Device
    state: Literal["up", "down"]
    detail: Annotated[str | None, "why, in words"]


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that a person should know; for the arbiter's topics only."""

    kind = "alert"
    alert_id: Annotated[str | None, "id of the event that raised it; null only until that event is numbered"]
    irregularity: Annotated[str, "id in the catalogue"]
    state: Literal["raised", "updated", "cleared", "acknowledged"]
    severity: Literal["info", "notice", "alert"]
    side: Annotated[Side | None, "who committed it or whose clock it concerns"]
    ply: Annotated[int | None, "the record's ply at that moment"]
    articles: Annotated[tuple[str, ...], "articles in the catalogue's short form"]
    message: Annotated[str, "a sentence for a person"]
    evidence: Annotated[Mapping[str, Any], "squares, readings, times, range of the capture"]


@dataclass(frozen=True, slots=True)
class CommandDone:
    """A command was carried out or refused."""

    kind = "command"
    command: Annotated[str | None, "name of the command"]
    command_id: Annotated[str | None, "id chosen by the sender"]
    by: Annotated[str | None, "who asked"]
    arguments: Annotated[Mapping[str, Any], "the further arguments"]
    ok: bool
    error: Annotated[str | None, "why it was refused"]


PublicEvent = GameStarted | Move | MoveRetracted | MoveConfirmed | PositionSet | ClockChanged | GameEnded | LinkChanged
ArbiterEvent = Alert | CommandDone
Event = PublicEvent | ArbiterEvent


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with its place in its stream; what the journal keeps and the broker is offered."""

    id: Annotated[str, "gateway.table.SEQ (public), gateway.table.aSEQ (arbiter)"]
    seq: Annotated[int, "counts the stream of the table from 1 without gaps"]
    stamp: Annotated[float, "moment of the conclusion, seconds since 1970 UTC; never goes back within a stream"]
    table: str
    game_id: str | None
    stream: Stream
    event: Event


# --- commands ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A command as received: its name, who sent it, and its arguments still unchecked."""

    name: str | None
    id: str | None
    by: str | None
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command."""

    id: str | None
    ok: bool
    error: str | None = None
