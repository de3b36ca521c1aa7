"""What follows from alerts that were raised: the second illegal move, and a fault that the reply has accepted.

Serves FIDE 7.5.5, A.5 and FMJD A1 5.4, 5.7. The first fault counts only once the arbiter has dealt with it; faults are
counted by player, not by board.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import chess

from gateway.events import OTHER
from gateway.record import ChessPosition
from gateway.rules import Finding, Situation, Told
from gateway.rules.history import Played

ILLEGAL = frozenset(
    {
        "illegal_move",
        "king_left_in_check",
        "unpromoted_pawn",
        "castling_incomplete",
        "captured_piece_not_removed",
        "clock_pressed_without_move",
        "promotion_piece_wrong",
    }
)
"""Completed acts that count as illegal moves (FIDE 7.5.5)."""
ILLEGAL_IF_UPHELD = frozenset({"two_pieces_moved", "moved_out_of_turn", "king_captured", "two_hands"})
"""Those that count only where the arbiter upheld them."""
CORRECTABLE = frozenset(
    {
        "illegal_move",
        "moved_out_of_turn",
        "two_pieces_moved",
        "opponent_piece_moved",
        "piece_removed_without_capture",
        "capture_ignored",
        "majority_capture_violation",
        "capture_stopped_early",
        "captured_men_not_removed",
        "wrong_men_removed",
        "uncrowned_king_played",
    }
)
"""Irregularities of draughts that the opponent's move accepts (A1 5.4, 5.7)."""
TOLD_FOR = 5.0
"""Seconds after the reply for which it is news."""


class SecondIllegalMove:
    """A completed illegal act by a player for whom an earlier one stands counted (FIDE 7.5.5)."""

    kinds: ClassVar[tuple[str, ...]] = ("second_illegal_move",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Which act is a second one."""
        if not seen.playing:
            return
        for index, told in enumerate(seen.told):
            if told.ruling == "dismissed" or (told.noted and told.ruling is None):
                continue
            if not (told.kind in ILLEGAL or (told.counts and told.kind in ILLEGAL_IF_UPHELD)):
                continue
            earlier = next((t for t in seen.told[:index] if _counts_before(t, told)), None)
            if earlier is None:
                continue
            yield Finding(
                "second_illegal_move",
                told.at,
                told.side,
                told.key,
                facts={
                    "move": str(told.facts.get("move", told.kind.replace("_", " "))),
                    "number": str(_number(earlier)),
                },
                evidence={
                    "first": {"ply": earlier.ply, "at": round(earlier.at, 3), "message": earlier.message},
                    "second": {"ply": told.ply, "at": round(told.at, 3), "message": told.message},
                },
            )


def _counts_before(earlier: Told, told: Told) -> bool:
    return (
        earlier.counts
        and earlier.side == told.side
        and earlier.key != told.key
        and earlier.kind in ILLEGAL | ILLEGAL_IF_UPHELD
    )


def _number(told: Told) -> int:
    """The move number of an act."""
    return ((told.ply or 0) + 1) // 2


class Accepted:
    """The opponent has moved on after an irregularity, and the game goes on from what stands (A.5.2; A1 5.7).

    Innocent: pieces put back, which is no reply; the king taken; both clocks stopped.
    """

    kinds: ClassVar[tuple[str, ...]] = ("illegal_move_accepted",)

    def look(self, seen: Situation) -> Iterator[Finding]:
        """Whether the last move accepts what was open before it."""
        game = seen.game
        if not seen.told or game is None or not seen.playing or (seen.clock.running == "none" and seen.clock.connected):
            return
        draughts = game.kind == "draughts"
        if seen.supervised and not draughts:
            return
        plies = seen.standing
        if not plies or seen.at > plies[-1].arrived + TOLD_FOR:
            return
        reply = plies[-1]
        for told in seen.told:
            if told.kind not in (CORRECTABLE if draughts else ILLEGAL) or told.side != OTHER[reply.side]:
                continue
            if not _open_at(told, reply) or _takes_king(seen, reply):
                continue
            yield Finding(
                "illegal_move_accepted",
                reply.arrived,
                told.side,
                told.key,
                facts={"kind": told.kind.replace("_", " ")},
                evidence={"accepted": told.message, "reply": reply.notation, "replied_at": round(reply.arrived, 3)},
            )


def _open_at(told: Told, reply: Played) -> bool:
    """Whether the alert was raised before the reply and closed, if it is, by nothing but the reply."""
    if told.ruling is not None or told.acknowledged or told.at > reply.at:
        return False
    return told.open or (told.closed_at is not None and told.closed_at >= reply.arrived)


def _takes_king(seen: Situation, reply: Played) -> bool:
    after = seen.record.position_at(reply.ply)
    return (
        isinstance(after, ChessPosition)
        and after.board.king(chess.WHITE if reply.side == "black" else chess.BLACK) is None
    )


SEQUELS = (SecondIllegalMove, Accepted)
