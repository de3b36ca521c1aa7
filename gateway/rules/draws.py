"""Draws that the record proves, by repetition and by counting; facts for the arbiter, never for a screen.

What counts is the position after the last completed move. Where the record goes on from a position that was set, counts
are lower bounds and the evidence says so. Articles: FIDE 5.2.2, 9.2, 9.3, 9.6; FMJD A1 6.1 to 6.4; FMJD VI 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.draughts import Position
from gateway.events import MoveConfirmed
from gateway.record import ChessPosition, Entry
from gateway.rules import Finding, Situation, Wake
from gateway.rules.recorded import Recorded
from gateway.winnable import Answer, Proof, dying

WALK = 500
"""Positions that a proof may look at after a move where the pawns are blocked. Walls are proved without them, and with
a piece that mates on both colours of squares nothing else is likely to be proved."""
SLICE = 3
"""Steps of a proof at one look, so that a sensor never waits for one."""
PAUSE = 0.003
"""Seconds between two looks at an unfinished proof."""


class Draws:
    """What the position after the last completed move is worth by the rules of draws."""

    kinds: ClassVar[tuple[str, ...]] = (
        "threefold",
        "fivefold",
        "fifty_moves",
        "seventy_five_moves",
        "dead_position",
        "twenty_five_moves",
        "sixteen_moves",
        "five_moves",
        "forced_draw_1_vs_3",
    )

    def __init__(self) -> None:
        self._completed: tuple[int, float] | None = None
        """The ply last completed, and when."""
        self._dead: tuple[ChessPosition, Proof | None] | None = None
        """The position that was asked for last, and the proof if one is worth while."""

    def look(self, seen: Situation) -> Iterator[Finding | Wake]:
        if not seen.playing:
            if seen.game is None or seen.game.phase != "suspended":
                self._completed = None
            return
        assert seen.game is not None
        record = seen.record
        entry = record.confirmed
        if entry is None or (record.placed and record.placed[-1].ply >= entry.ply):
            return
        confirmed = any(isinstance(event, MoveConfirmed) and event.ply == entry.ply for event in seen.happened)
        if self._completed is None or self._completed[0] != entry.ply or confirmed:
            self._completed = entry.ply, seen.at
        if not entry.move.legal or record.confirmed_over:
            return
        yield from self._repeated(record, entry)
        if isinstance(entry.position, ChessPosition):
            yield from self._chess(record, entry, seen)
        else:
            yield from self._draughts(record, entry, seen)

    @property
    def _since(self) -> float:
        assert self._completed is not None
        return self._completed[1]

    def _repeated(self, record: Recorded, entry: Entry) -> Iterator[Finding | Wake]:
        """FIDE 9.2, 9.6.1; FMJD A1 6.1."""
        plies = record.occurrences
        facts = {"plies": [str(ply) for ply in plies]}
        evidence = {"plies": plies, **_complete(record)}
        if len(plies) >= 3:
            yield Finding("threefold", self._since, key=entry.key, facts=facts, evidence=evidence)
        if len(plies) >= 5 and isinstance(entry.position, ChessPosition):
            yield Finding("fivefold", self._since, key=entry.key, facts=facts, evidence=evidence)

    def _chess(self, record: Recorded, entry: Entry, seen: Situation) -> Iterator[Finding | Wake]:
        assert isinstance(entry.position, ChessPosition)
        plies = entry.position.board.halfmove_clock
        evidence = {"plies": plies, "last_pawn_move_or_capture": entry.ply - plies, **_complete(record)}
        if plies >= 100:
            yield Finding("fifty_moves", self._since, evidence=evidence)
        if plies >= 150:
            yield Finding("seventy_five_moves", self._since, evidence=evidence)
        proof = self._proof(entry.position)
        if proof is None:
            return
        verdict = proof.advance(SLICE)
        if verdict is None:
            yield Wake(seen.at + PAUSE)
        elif verdict.answer is Answer.CANNOT:
            played = next((played for played in reversed(seen.history.played) if played.ply == entry.ply), None)
            since = played.arrived if played else self._since
            yield Finding("dead_position", since, evidence={"test": verdict.reason, "fen": entry.position.fen()})

    def _proof(self, position: ChessPosition) -> Proof | None:
        """The proof is sought where it is cheap or likely: little material, or pawns that are blocked."""
        if self._dead is None or self._dead[0] is not position:
            board = position.board
            sought = board.is_insufficient_material() or _blocked(position)
            nodes = 0 if board.queens | board.rooks | board.knights else WALK
            self._dead = position, Proof(dying(board.copy(stack=False), nodes)) if sought else None
        return self._dead[1]

    def _draughts(self, record: Recorded, entry: Entry, seen: Situation) -> Iterator[Finding | Wake]:
        """FMJD A1 6.2 to 6.4; VI 8."""
        counters, position = entry.counters, entry.position
        assert counters is not None and isinstance(position, Position)
        evidence = _complete(record)
        if counters.since_man_move_or_capture >= 50:
            yield Finding("twenty_five_moves", self._since, evidence=evidence)
        if (counters.since_3_v_1 or 0) >= 32:
            yield Finding("sixteen_moves", self._since, evidence=evidence)
        if (counters.since_2_v_1 or 0) >= 10:
            yield Finding("five_moves", self._since, evidence=evidence)
        kings = _against_one(position)
        if kings and not seen.time_control.has_bonus and seen.time_control.known and not position.captures():
            yield Finding("forced_draw_1_vs_3", self._since, facts={"count": kings})

    def state(self) -> Any:
        return self._completed and list(self._completed)

    def restore(self, state: Any) -> None:
        self._completed = state and (state[0], state[1])


def _complete(record: Recorded) -> dict[str, bool]:
    return {"complete": not record.placed}


def _blocked(position: ChessPosition) -> bool:
    """Whether every pawn has something before it and nothing to take, or is no pawn of consequence at all."""
    board = position.board
    if not board.pawns:
        return False
    white, black = board.pawns & board.occupied_co[True], board.pawns & board.occupied_co[False]
    free = (white << 8 & ~board.occupied) | (black >> 8 & ~board.occupied)
    return not free and not any(
        board.is_capture(move) and board.pawns >> move.from_square & 1 for move in board.generate_legal_moves()
    )


def _against_one(position: Position) -> int:
    """How many kings, three at most, stand against one lone king; 0 for anything else."""
    if position.white_men or position.black_men:
        return 0
    counts = sorted((position.white_kings.bit_count(), position.black_kings.bit_count()))
    return counts[1] if counts[0] == 1 and counts[1] <= 3 else 0


RULES = (Draws,)
