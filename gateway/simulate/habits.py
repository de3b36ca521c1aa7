"""How fast people play, and how untidily: rates and ranges, each the cause of something that a board shows.

A range is (least, most) in seconds; values are drawn from a triangle between them with its top a third of the way up,
as most movements are quick and a few are slow. A rate is a share from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Pace:
    """The speed of a game."""

    name: str
    base: float
    """Seconds on each clock at the start, unless the game's own are kept."""
    increment: float
    think: float
    """Median seconds from the opponent's press to the first touch, where no clock of the source tells it."""
    spread: float
    """Sigma of the logarithm of the thinking time."""
    scale: float
    """What thinking times of the source are multiplied with; 0: not used."""
    longest: float
    """No thought is longer: on a long one nothing happens, and it would only make traces long."""
    carry: Range
    """From lift to place."""
    press: Range
    """From the last placement to the press."""
    instant: float
    """Share of replies that answer the placement, not the press."""
    instant_recapture: float
    """The same where the reply takes back on the square just moved to."""
    reaction: Range
    """From the opponent's placement to the lift of such a reply."""
    early: float
    """Share of plies whose piece is lifted before the opponent has pressed, and held until its time has come."""
    every: float | None = None
    """Seconds from placement to placement, where time has run out and nobody thinks any more."""


STANDARD: Final = Pace(
    "standard", 5400, 30, 12.0, 1.1, 0.1, 25.0, (0.4, 1.7), (0.4, 2.0), 0.002, 0.005, (0.3, 0.9), 0.01
)
RAPID: Final = Pace("rapid", 900, 10, 7.0, 1.0, 0.06, 18.0, (0.4, 1.5), (0.4, 1.6), 0.004, 0.01, (0.3, 0.8), 0.02)
BLITZ: Final = Pace("blitz", 180, 2, 2.0, 0.95, 0.0, 12.0, (0.2, 0.8), (0.5, 1.6), 0.15, 0.35, (0.1, 0.45), 0.08)
DRAUGHTS_BLITZ: Final = replace(BLITZ, name="draughts blitz", base=300.0, think=3.0)
SCRAMBLE: Final = Pace(
    "scramble", 180, 0, 0.2, 0.4, 0.0, 2.0, (0.1, 0.26), (0.15, 0.3), 0.0, 0.0, (0.05, 0.2), 0.0, every=0.4
)
PACES: Final = {pace.name: pace for pace in (STANDARD, RAPID, BLITZ, DRAUGHTS_BLITZ, SCRAMBLE)}


@dataclass(frozen=True, slots=True)
class Habits:
    """What hands do besides moving straight from a to b. The defaults are tidy people on an ordinary evening."""

    # the way to the square
    slide: float = 0.05
    """A line piece, or a king that castles, is dragged over its path."""
    hover: float = 0.02
    """The piece is held low over a square on the way or beside its goal."""
    hesitate: float = 0.004
    """The piece is set down on a wrong square, then goes on."""
    dwell: Range = (0.08, 1.2)
    """How long it stands there, at rapid pace; shorter where the carry is."""

    # captures
    victim_first: float = 0.05
    victim_pushed: float = 0.33
    """The captor pushes the victim off its square; the rest of captures swap the two in one gesture."""
    victim_shown: float = 0.2
    """The hand holds the victim over another square for a moment."""
    en_passant_late: float = 0.5

    # castling; the rest go with the king first
    rook_first: float = 0.04
    both_hands: float = 0.2

    # promotion; the rest put the queen straight on the last rank
    pawn_shown: float = 0.5
    promoted_late: float = 0.12
    """The piece comes seconds after the pawn, maybe after the press."""
    never_promoted: float = 0.2
    """Where the reply takes the pawn, nobody looks for a queen."""

    # draughts
    tapped: float = 0.6
    """Of the landing squares of a capture."""
    removed_early: float = 0.12
    """Captured men go while the captor is still on its way."""
    crowned_late: float = 0.3
    crowned_by_opponent: float = 0.15
    overshoot: float = 0.04
    """A king is set down beyond its square, then pulled back."""

    # the clock
    forgotten_press: float = 0.003

    lift_early: float = 1.0
    """Of what the pace says."""

    # the pieces that nobody moves
    adjust: float = 0.01
    adjust_out_of_turn: float = 0.003
    flicker: float = 0.01
    """A piece just set down stands badly and is not seen for moments."""
    knock: float = 0.0008
    """One to four pieces beside the path fall, and are put back within ten seconds."""
    knocked_wrong: float = 0.15
    """A fallen piece is first put back on a neighbouring square."""

    def noisy(self, factor: float) -> Habits:
        """The same people, `factor` times as clumsy: hesitation, adjusting, flicker, pieces knocked over."""
        return replace(
            self,
            hesitate=self.hesitate * factor,
            adjust=self.adjust * factor,
            adjust_out_of_turn=self.adjust_out_of_turn * factor,
            flicker=self.flicker * factor,
            knock=self.knock * factor,
        )


TIDY: Final = Habits(
    slide=0, hover=0, hesitate=0, victim_first=1, victim_pushed=0, victim_shown=0, en_passant_late=0, rook_first=0,
    both_hands=0, pawn_shown=0, promoted_late=0, never_promoted=0, tapped=0, removed_early=0, crowned_late=0,
    crowned_by_opponent=0, overshoot=0, forgotten_press=0, adjust=0, adjust_out_of_turn=0,
    flicker=0, knock=0, lift_early=0,
)  # fmt: skip
"""Lift, take away, set down, press: for proofs of calm."""
