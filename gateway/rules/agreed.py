"""Draws by agreement where the regulations do not allow one yet. An offer is spoken; only its result can be seen.

Articles: FIDE 5.2.3, 9.1.1; FMJD III 5.3; FMJD VI 2, 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.draughts import Position
from gateway.events import GameEnded
from gateway.rules import Finding, Situation
from gateway.rules.readings import SIDES

DRAWS = ("1/2-1/2", "1-1")
BY_RULE = frozenset(
    {
        "threefold",
        "fivefold",
        "fifty_moves",
        "seventy_five_moves",
        "dead_position",
        "twenty_five_moves",
        "sixteen_moves",
        "five_moves",
        "forced_draw_1_vs_3",
        "draw_claim_last_minute",
        "flag_fall_opponent_cannot_win",
        "both_flags_down",
    }
)
"""With one of these told, the draw needs no agreement."""
MOVES = 40
"""FMJD III 5.3, where the event has no number of its own (`minimum_moves`)."""
PIECES = 10
"""FMJD VI 5."""


class DrawAgreed:
    """A draw was agreed too early, or with too many pieces."""

    kinds: ClassVar[tuple[str, ...]] = (
        "draw_offer_before_move_40",
        "draw_with_too_many_pieces",
        "draw_before_minimum_moves",
    )

    def __init__(self) -> None:
        self._agreed: float | None = None
        """Since when a draw has been agreed."""
        self._by_rule = False

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase != "ended":
            self._agreed = None
            # What was told ends with the game; what it was is asked for after that.
            self._by_rule = any(told.kind in BY_RULE and _still(told.ply, seen) for told in seen.told)
            return
        for event in seen.happened:
            if isinstance(event, GameEnded):
                self._agreed = seen.at if _is_agreed(event) and not self._by_rule else None
        if self._agreed is None or seen.record.over is not None:
            return
        moves = {side: seen.record.moves_completed(side) for side in SIDES}
        fewest, evidence = min(moves.values()), {"moves": dict(moves), "complete": not seen.record.placed}
        if isinstance(game.position, Position):
            yield from self._draughts(game.position, fewest, evidence, seen)
        elif self._too_early(max(moves.values()), fewest, seen):
            demanded = max(1, seen.config.rules.minimum_moves)
            facts = {"count": fewest, "demanded": demanded}
            yield Finding("draw_before_minimum_moves", self._agreed, facts=facts, evidence=evidence)

    def _draughts(self, position: Position, fewest: int, evidence: Any, seen: Situation) -> Iterator[Finding]:
        assert self._agreed is not None
        said = seen.config.rules.scores_kept
        scores_kept = seen.in_force == "fmjd-standard" if said is None else said
        if scores_kept:
            demanded = seen.config.rules.minimum_moves or MOVES
            if fewest < demanded:
                facts = {"count": fewest, "demanded": demanded}
                yield Finding("draw_offer_before_move_40", self._agreed, facts=facts, evidence=evidence)
        elif seen.in_force in ("fmjd-rapid", "fmjd-blitz"):
            white = (position.white_men | position.white_kings).bit_count()
            black = (position.black_men | position.black_kings).bit_count()
            if max(white, black) > PIECES:
                pieces = {"pieces": {"white": white, "black": black}}
                facts = {"count": max(white, black)}
                yield Finding("draw_with_too_many_pieces", self._agreed, facts=facts, evidence=pieces)

    @staticmethod
    def _too_early(most: int, fewest: int, seen: Situation) -> bool:
        assert seen.game is not None
        if not most and seen.game.clock_started is None:
            # The result of a game that was not played.
            return False
        return fewest < max(1, seen.config.rules.minimum_moves)

    def state(self) -> list[Any]:
        return [self._agreed, self._by_rule]

    def restore(self, state: list[Any]) -> None:
        self._agreed, self._by_rule = state


def _is_agreed(ended: GameEnded) -> bool:
    """A command says so in its reason; the kings only say "draw"."""
    if ended.result not in DRAWS:
        return False
    return ended.reason == "kings_signal" or (ended.reason == "command" and "agree" in (ended.detail or "").lower())


def _still(ply: int | None, seen: Situation) -> bool:
    """Whether a draw that was told at `ply` can still be claimed: no more than the reply has been made since."""
    return ply is not None and seen.game is not None and seen.game.record.ply <= ply + 1


RULES = (DrawAgreed,)
