"""The game so far: what was played, what stands, what counts; and its PGN and PDN.

A record is its start, then plies and, now and then, a position that the moves do not lead to. Positions are frozen
values; both games offer the same few words about them (`GamePosition`).

Neither PGN nor PDN can say an illegal ply or a position that was set, and readers stop at one. So the text of a record
that holds any is written in parts: each is a complete game with the same tags and result; a part ends before such a
break, with a comment that names it, and the next starts from the position after it (`FEN`, `SetUp`). Every legal ply
can be replayed, and nothing is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Protocol, cast

import chess

from gateway import draughts, pdn
from gateway.draughts import AmbiguousPlyError, Counters, IllegalPlyError, InvalidPlyError, Ply
from gateway.events import GameKind, Move, Piece, Readings, Side

_UCI: Final = re.compile(r"([a-h][1-8])(?!\1)[a-h][1-8][qrbnk]?")


class GamePosition(Protocol):
    """What both games say about a position; `draughts.Position` is one as it is."""

    @property
    def turn(self) -> Side: ...

    def fen(self) -> str:
        """FEN of the game, with the turn."""
        ...

    def placement(self) -> str:
        """What stands where, as White sees it; without the turn."""
        ...

    def pieces(self) -> dict[str, Piece]:
        """Square -> piece letter."""
        ...

    def fault(self) -> str | None:
        """Why this position cannot occur in a game, as a sentence; None if it can."""
        ...


@dataclass(frozen=True, slots=True)
class ChessPosition:
    """A position of chess or Chess960."""

    board: chess.Board
    """Not to be changed; `copy` it to play on."""
    _fen: list[str] = field(default_factory=list, compare=False, repr=False)
    """Its FEN once somebody has asked: it is published with every step of the table."""

    @classmethod
    def from_fen(cls, fen: str, chess960: bool = False) -> ChessPosition:
        """Read a FEN.

        Raises:
            ValueError: what is wrong with it.
        """
        return cls(chess.Board(fen, chess960=chess960))

    @property
    def turn(self) -> Side:
        return "white" if self.board.turn else "black"

    def fen(self) -> str:
        """As python-chess writes it: en passant only where a capture is legal."""
        if not self._fen:
            self._fen.append(self.board.fen())
        return self._fen[0]

    def placement(self) -> str:
        """The first field of the FEN."""
        return self.board.board_fen()

    def pieces(self) -> dict[str, Piece]:
        """``a1`` to ``h8`` -> ``PNBRQKpnbrqk``."""
        found = {}
        for color, symbols in ((chess.WHITE, "PNBRQK"), (chess.BLACK, "pnbrqk")):
            for kind, symbol in zip(chess.PIECE_TYPES, symbols, strict=True):
                for square in chess.scan_forward(self.board.pieces_mask(kind, color)):
                    found[chess.SQUARE_NAMES[square]] = symbol
        return found

    def fault(self) -> str | None:
        """Why this position cannot occur in a game, as a sentence; None if it can."""
        status = self.board.status()
        for flag, sentence in _FAULTS.items():
            if status & flag:
                return sentence
        return None


_FAULTS: Final = {
    chess.STATUS_EMPTY: "The board is empty.",
    chess.STATUS_NO_WHITE_KING: "White has no king.",
    chess.STATUS_NO_BLACK_KING: "Black has no king.",
    chess.STATUS_TOO_MANY_KINGS: "There are more than two kings.",
    chess.STATUS_TOO_MANY_WHITE_PAWNS: "White has more than eight pawns.",
    chess.STATUS_TOO_MANY_BLACK_PAWNS: "Black has more than eight pawns.",
    chess.STATUS_PAWNS_ON_BACKRANK: "A pawn stands on the first or last rank.",
    chess.STATUS_TOO_MANY_WHITE_PIECES: "White has more than 16 pieces.",
    chess.STATUS_TOO_MANY_BLACK_PIECES: "Black has more than 16 pieces.",
    chess.STATUS_OPPOSITE_CHECK: "The side that is not to move is in check.",
    chess.STATUS_BAD_CASTLING_RIGHTS: "A king or rook does not stand where the castling rights demand.",
    chess.STATUS_TOO_MANY_CHECKERS: "More pieces give check than one move can bring about.",
    chess.STATUS_IMPOSSIBLE_CHECK: "No move can bring about the checks that are given.",
}
"""What `chess.Board.status` finds, most telling first; a wrong en passant square is left out, for it is ignored."""

START_FEN: Final[Mapping[GameKind, str]] = {
    "chess": chess.STARTING_FEN,
    "chess960": chess.STARTING_FEN,
    "draughts": draughts.Position.start().fen(),
}


def position_from_fen(game: GameKind, fen: str) -> GamePosition:
    """Read a FEN of `game`.

    Raises:
        ValueError: what is wrong with it.
    """
    if game == "draughts":
        return draughts.Position.from_fen(fen)
    return ChessPosition.from_fen(fen, chess960=game == "chess960")


# --- one ply ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notated:
    """A ply in the words of the contract, and where it leads."""

    notation: str
    uci: str | None
    squares: tuple[int, ...] | None
    captured: tuple[int, ...] | None
    legal: bool
    after: GamePosition


def notate(before: GamePosition, ply: str | Ply, legal: bool = True) -> Notated:
    """Describe a ply played in `before`.

    Args:
        ply: UCI in chess, castling spelled either way; a `Ply` in draughts.
        legal: False for a ply that breaks the rules: one piece goes from a to b as it stands, whatever stood on b (and
            in draughts on the captured squares) is gone, and the other side is to move.

    Raises:
        IllegalPlyError: `legal`, but it is not; or no piece of the side to move stands on the departure.
        InvalidPlyError: no UCI.
    """
    if isinstance(ply, Ply):
        return _notate_draughts(cast(draughts.Position, before), ply, legal)
    board = cast(ChessPosition, before).board
    if not _UCI.fullmatch(ply):
        raise InvalidPlyError(f"{ply!r} is no ply in UCI such as e2e4")
    if not legal:
        return Notated(ply, ply, None, None, False, ChessPosition(carried(board, chess.Move.from_uci(ply))))
    try:
        move = board.parse_uci(ply)
    except ValueError as error:
        raise IllegalPlyError(f"{ply} is not legal in {board.fen()}") from error
    after = board.copy(stack=False)
    san = after.san_and_push(move)
    after.clear_stack()
    return Notated(san, board.uci(move), None, None, True, ChessPosition(after))


def parse(before: GamePosition, text: str) -> str | Ply:
    """Read a ply given by a person or a file: SAN or UCI (castling either way), PDN in draughts.

    Returns:
        What `notate` takes.

    Raises:
        InvalidPlyError, IllegalPlyError, AmbiguousPlyError: as a sentence.
    """
    text = text.strip()
    if isinstance(before, draughts.Position):
        return before.parse(text)
    board = cast(ChessPosition, before).board
    try:
        move = board.parse_uci(text) if _UCI.fullmatch(text) else board.parse_san(text)
    except chess.AmbiguousMoveError as error:
        raise AmbiguousPlyError(f"{text} may be more than one move in {board.fen()}") from error
    except chess.IllegalMoveError as error:
        raise IllegalPlyError(f"{text} is not legal in {board.fen()}") from error
    except chess.InvalidMoveError as error:
        raise InvalidPlyError(f"{text!r} is no move of chess in SAN or UCI") from error
    if not move:
        raise InvalidPlyError(f"{text!r} is no move of chess in SAN or UCI")
    return board.uci(move)


def _notate_draughts(before: draughts.Position, ply: Ply, legal: bool) -> Notated:
    try:
        after = before.after(ply)
    except ValueError as error:
        raise IllegalPlyError(str(error)) from error
    if legal:
        key = ply.departure, ply.arrival, frozenset(ply.captured)
        if key not in {(p.departure, p.arrival, frozenset(p.captured)) for p in before.legal_plies()}:
            raise IllegalPlyError(f"{'x'.join(map(str, ply.path))} is not legal in {before.fen()}")
        notation = before.notation(ply)
    else:
        notation = f"{ply.departure}-{ply.arrival}"
    return Notated(notation, None, ply.path, ply.captured, legal, after)


def carried(board: chess.Board, move: chess.Move) -> chess.Board:
    """The position after a piece was carried against the rules; counters as for a legal move of that piece."""
    piece = board.piece_at(move.from_square)
    if piece is None or piece.color != board.turn:
        side = "white" if board.turn else "black"
        raise IllegalPlyError(f"no piece of {side} stands on {chess.square_name(move.from_square)} in {board.fen()}")
    after = board.copy(stack=False)
    captures = after.piece_at(move.to_square) is not None
    after.remove_piece_at(move.from_square)
    after.set_piece_at(move.to_square, chess.Piece(move.promotion or piece.piece_type, piece.color))
    after.ep_square = None
    after.castling_rights = after.clean_castling_rights()
    after.halfmove_clock = 0 if captures or piece.piece_type == chess.PAWN else board.halfmove_clock + 1
    after.fullmove_number += not board.turn
    after.turn = not board.turn
    return after


# --- the record -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """One ply of the record."""

    move: Move
    position: GamePosition
    """After the ply."""
    key: str
    """What makes the position the same as another: see `repetition_key`."""
    counters: Counters | None
    """After the ply; None in chess."""
    confirmed: bool = False
    press: Readings | None = None
    """The reading that showed the press."""

    @property
    def ply(self) -> int:
        return self.move.ply

    @property
    def clock(self) -> Readings | None:
        """The best reading at this ply: the one of the press, else the last before it."""
        return self.press or self.move.clock


@dataclass(frozen=True, slots=True)
class Placed:
    """A position that the moves do not lead to: the record goes on from it."""

    ply: int
    """The last ply before it."""
    position: GamePosition
    key: str
    counters: Counters | None


@dataclass(frozen=True, slots=True)
class _Part:
    """What one game of PGN or PDN can say of a record: legal plies from a position."""

    start: GamePosition
    number: int
    """Number of the first move."""
    entries: list[Entry]
    closing: str = ""
    """Why it ends; empty for the last part."""


class Record:
    """The game so far, of chess, Chess960 or draughts. Plies count from 1, whoever moves first.

    Args:
        game: the kind of game.
        start_fen: the first position; None is the usual one.
        tags: tags of PGN and PDN (``White``, ``TimeControl``, ...), which may be changed later.
        moves_completed: moves that each side had made before the start; None: as the move number of `start_fen` says.
        counted: draughts, what was counted before the start (see `draughts.Counters.start`).

    Raises:
        ValueError: `start_fen` cannot be read.
    """

    def __init__(
        self,
        game: GameKind,
        start_fen: str | None = None,
        tags: Mapping[str, str] | None = None,
        moves_completed: Mapping[Side, int] | None = None,
        counted: Mapping[str, int] | None = None,
    ) -> None:
        self.game: GameKind = game
        self.tags = dict(tags or {})
        position = position_from_fen(game, START_FEN[game] if start_fen is None else start_fen)
        self._moves_completed = None if moves_completed is None else dict(moves_completed)
        self._counted = dict(counted or {})
        self._start = Placed(0, position, repetition_key(position.fen()), _counters(position, self._counted))
        self._steps: list[Entry | Placed] = []
        self._entries: tuple[Entry, ...] | None = ()
        """`entries`, until the record changes."""

    # --- what stands --------------------------------------------------------------------------------------------

    @property
    def start(self) -> GamePosition:
        """The first position."""
        return self._start.position

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The plies that stand, in order: ply `n` is entry `n` - 1."""
        if self._entries is None:
            self._entries = tuple(step for step in self._steps if isinstance(step, Entry))
        return self._entries

    @property
    def placed(self) -> tuple[Placed, ...]:
        """The positions that were set. From the first on, counts and repetitions are lower bounds."""
        return tuple(step for step in self._steps if isinstance(step, Placed))

    @property
    def ply(self) -> int:
        """The last ply, 0 before the first."""
        return self._last.ply

    @property
    def position(self) -> GamePosition:
        """The position that the record has reached."""
        return self._last.position

    @property
    def turn(self) -> Side:
        """Who is to move."""
        return self._last.position.turn

    @property
    def counters(self) -> Counters | None:
        """Draughts: the counts that draw; None in chess."""
        return self._last.counters

    @property
    def halfmove_clock(self) -> int | None:
        """Chess: plies since a capture or a pawn's move (FIDE 9.3, 9.6.2); None in draughts."""
        position = self.position
        return position.board.halfmove_clock if isinstance(position, ChessPosition) else None

    def position_at(self, ply: int) -> GamePosition:
        """The position from which ply `ply` + 1 is played; 0 is the start.

        Raises:
            ValueError: there is no such ply.
        """
        if not 0 <= ply <= self.ply:
            raise ValueError(f"there is no ply {ply} in a record of {self.ply}")
        return self._standing()[ply].position

    def moves_completed(self, side: Side) -> int:
        """Moves that `side` has made in the whole game, those before the record included."""
        if self._moves_completed is not None:
            before = self._moves_completed.get(side, 0)
        elif isinstance(self.start, ChessPosition):
            before = self.start.board.fullmove_number - (0 if side == "white" and self.start.turn == "black" else 1)
        else:
            before = 0
        return before + sum(entry.move.side == side for entry in self.entries)

    def occurrences(self) -> tuple[int, ...]:
        """The plies after which the present position stood, ascending, 0 for the start (FIDE 9.2.2, A1 6.1)."""
        key = self._last.key
        return tuple(ply for ply, step in self._standing().items() if step.key == key)

    def find(self, position: GamePosition) -> int | None:
        """The last ply after which `position` stood, 0 for the start; None if it never did."""
        key = repetition_key(position.fen())
        return max((ply for ply, step in self._standing().items() if step.key == key), default=None)

    @property
    def _last(self) -> Entry | Placed:
        return self._steps[-1] if self._steps else self._start

    def _standing(self) -> dict[int, Entry | Placed]:
        """What was reached after each ply; a position that was set takes the place of the one before."""
        return {step.ply: step for step in (self._start, *self._steps)}

    # --- what happens -------------------------------------------------------------------------------------------

    def parse(self, text: str) -> str | Ply:
        """Read a ply in the present position; see the function `parse`."""
        return parse(self.position, text)

    def play(
        self,
        ply: str | Ply,
        *,
        legal: bool = True,
        source: Literal["board", "command", "inferred"] = "board",
        clock: Readings | None = None,
        elapsed: float | None = None,
        confirmed: bool = False,
    ) -> Move:
        """Add a ply, given as `notate` takes it, and return its event.

        Raises:
            InvalidPlyError, IllegalPlyError: as `notate`; nothing changes.
        """
        before = self.position
        told = notate(before, ply, legal)
        move = Move(
            ply=self.ply + 1,
            side=before.turn,
            notation=told.notation,
            uci=told.uci,
            squares=told.squares,
            captured=told.captured,
            fen=told.after.fen(),
            legal=legal,
            source=source,
            clock=clock,
            elapsed=elapsed,
        )
        self._add(move, told.after, confirmed, None)
        return move

    def confirm(self, ply: int, press: Readings | None = None) -> None:
        """Note that the clock was pressed on `ply`, or that the opponent has replied.

        Raises:
            ValueError: there is no such ply.
        """
        for index, step in enumerate(self._steps):
            if isinstance(step, Entry) and step.ply == ply:
                self._steps[index] = replace(step, confirmed=True, press=press or step.press)
                self._entries = None
                return
        raise ValueError(f"there is no ply {ply} in a record of {self.ply}")

    def retract(self, from_ply: int) -> None:
        """Drop ply `from_ply` and all that came later, positions that were set included.

        Raises:
            ValueError: there is no such ply.
        """
        if not 1 <= from_ply <= self.ply:
            raise ValueError(f"there is no ply {from_ply} in a record of {self.ply}")
        self._steps = [step for step in self._steps if step.ply < from_ply]
        self._entries = None

    def set_position(self, ply: int, fen: str) -> None:
        """Go on from a position that the moves do not lead to; the next ply is `ply` + 1.

        Raises:
            ValueError: the FEN cannot be read, or `ply` is not the last.
        """
        if ply != self.ply:
            raise ValueError(f"a position can be set after ply {self.ply}, the last, not after {ply}")
        position = position_from_fen(self.game, fen)
        self._steps.append(Placed(ply, position, repetition_key(position.fen()), _counters(position, {})))

    def _add(self, move: Move, after: GamePosition, confirmed: bool, press: Readings | None) -> None:
        counters = self._last.counters
        if counters is not None and move.squares is not None:
            ply = Ply(move.squares, move.captured or ())
            counters = counters.after(cast(draughts.Position, self.position), ply, cast(draughts.Position, after))
        self._entries = None
        self._steps.append(Entry(move, after, repetition_key(move.fen), counters, confirmed, press))

    # --- what is published --------------------------------------------------------------------------------------

    def pgn(self, result: str = "*") -> str:
        """The game of chess as PGN, with the mover's clock after each ply where it is known."""
        extra = {"Variant": "Chess960"} if self.game == "chess960" else {}
        return self._text(result, extra)

    def pdn(self, result: str = "*") -> str:
        """The game of draughts as PDN, likewise."""
        return self._text(result, {"GameType": "20"})

    def _text(self, result: str, extra: Mapping[str, str]) -> str:
        roster = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
        tags = {**{name: self.tags.get(name) or unknown for name, unknown in roster.items()}, "Result": result}
        tags |= {name: value for name, value in self.tags.items() if name not in tags}
        tags |= extra
        games = []
        for part in self._parts():
            fen = part.start.fen()
            usual = fen == START_FEN[self.game] and self.game != "chess960"
            setup = {} if usual else {"SetUp": "1", "FEN": fen}
            plies = [
                (e.move.notation, None if e.clock is None else getattr(e.clock, e.move.side), "") for e in part.entries
            ]
            text = pdn.movetext(plies, part.start.turn == "black", part.number, result, part.closing)
            games.append(f"{pdn.tag_pairs(tags | setup)}\n\n{text}\n")
        return "\n".join(games)

    def _parts(self) -> Iterator[_Part]:
        blacks = 0
        part = self._part(self.start, blacks)
        for step in self._steps:
            if isinstance(step, Entry):
                blacks += step.move.side == "black"
                if step.move.legal:
                    part.entries.append(step)
                    continue
                break_ = f"Ply {step.ply}, {step.move.notation} by {step.move.side}, is illegal and stands."
            else:
                break_ = f"After ply {step.ply} another position was set."
            yield replace(part, closing=f"{break_} The game goes on in the next part from {step.position.fen()}")
            part = self._part(step.position, blacks)
        yield part

    def _part(self, start: GamePosition, blacks: int) -> _Part:
        number = start.board.fullmove_number if isinstance(start, ChessPosition) else blacks + 1
        return _Part(start, number, [])

    # --- on disk ------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of the record as plain JSON values."""
        return {
            "game": self.game,
            "start_fen": self.start.fen(),
            "tags": dict(self.tags),
            "moves_completed": self._moves_completed,
            "counted": self._counted,
            "steps": [_step_state(step) for step in self._steps],
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Record:
        """Make the record again that gave `state`."""
        record = cls(state["game"], state["start_fen"], state["tags"], state["moves_completed"], state["counted"])
        for step in state["steps"]:
            if "set" in step:
                record.set_position(step["ply"], step["set"])
                continue
            move = Move(
                **{
                    **step["move"],
                    "squares": _tuple(step["move"]["squares"]),
                    "captured": _tuple(step["move"]["captured"]),
                    "clock": _readings(step["move"]["clock"]),
                }
            )
            after = position_from_fen(record.game, move.fen)
            record._add(move, after, step["confirmed"], _readings(step["press"]))
        return record


def repetition_key(fen: str) -> str:
    """Equal for positions that count as the same (FIDE 9.2.3, A1 6.1).

    Pieces and turn; in chess also castling rights, and the en passant square where such a capture is legal.

    Args:
        fen: the position as `GamePosition.fen` writes it.
    """
    return " ".join(fen.split()[:4])


def _counters(position: GamePosition, counted: Mapping[str, int]) -> Counters | None:
    return Counters.start(position, counted) if isinstance(position, draughts.Position) else None


def move_payload(entry: Entry) -> dict[str, Any]:
    """One ply as the `game` topic holds it."""
    move = entry.move
    what: dict[str, Any] = (
        {"uci": move.uci}
        if move.squares is None
        else {"squares": list(move.squares), "captured": list(move.captured or ())}
    )
    return {
        "ply": move.ply,
        "side": move.side,
        "notation": move.notation,
        **what,
        "legal": move.legal,
        "confirmed": entry.confirmed,
        "clock": _plain(entry.clock),
        "elapsed": move.elapsed,
    }


def _step_state(step: Entry | Placed) -> dict[str, Any]:
    if isinstance(step, Placed):
        return {"ply": step.ply, "set": step.position.fen()}
    move = {f.name: getattr(step.move, f.name) for f in fields(step.move)}
    for name in ("squares", "captured"):
        move[name] = None if move[name] is None else list(move[name])
    move["clock"] = _plain(step.move.clock)
    return {"move": move, "confirmed": step.confirmed, "press": _plain(step.press)}


def _plain(readings: Readings | None) -> dict[str, float] | None:
    return None if readings is None else {"white": readings.white, "black": readings.black}


def _readings(plain: Mapping[str, float] | None) -> Readings | None:
    return None if plain is None else Readings(plain["white"], plain["black"])


def _tuple(squares: list[int] | None) -> tuple[int, ...] | None:
    return None if squares is None else tuple(squares)
