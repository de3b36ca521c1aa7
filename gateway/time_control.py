"""Time controls: periods, increments, delays, written as in PGN (``40/5400+30:1800+30``, ``5400d5``).

``-`` is play without a time control, ``?`` an unknown one; both have no periods. An increment stands in every period
in which it is given. The last period is repeated when it has a number of moves, else it runs to the end of the game.
`n` is everywhere the number of moves that a player has completed, 0 or more. Times are seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_PERIOD: Final = re.compile(r"(?:(\d+)/)?(\d+)(?:\+(\d+)|d(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Period:
    """One stretch of the game with its own allowance."""

    seconds: int
    """What the period adds to the clock: the base."""
    moves: int | None = None
    """Moves of this period, not of the game; None: to the end of the game."""
    increment: int = 0
    """Credited with every move of the period."""
    delay: int = 0
    """Not charged at the beginning of every move of the period (FIDE 6.3.2)."""

    def __str__(self) -> str:
        moves = "" if self.moves is None else f"{self.moves}/"
        bonus = f"+{self.increment}" if self.increment else f"d{self.delay}" if self.delay else ""
        return f"{moves}{self.seconds}{bonus}"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time control of a game, the same for both players."""

    periods: tuple[Period, ...]
    known: bool = True
    """False: ``?``. Known without periods: ``-``."""

    @classmethod
    @lru_cache(maxsize=64)
    def parse(cls, text: str) -> TimeControl:
        """Read PGN's notation.

        Raises:
            ValueError: a sentence that names the part that is wrong.
        """
        if text in ("?", "-"):
            return cls((), known=text == "-")
        parts = text.split(":")
        periods = tuple(_period(part, text) for part in parts)
        for part, period in zip(parts[:-1], periods, strict=False):
            if period.moves is None:
                raise ValueError(
                    f"{part!r} in time control {text!r} has no number of moves, and is not the last period"
                )
        return cls(periods)

    def __str__(self) -> str:
        return ":".join(map(str, self.periods)) or ("-" if self.known else "?")

    @property
    def base(self) -> int | None:
        """What the first period gives; None without periods."""
        return self.periods[0].seconds if self.periods else None

    @property
    def delay(self) -> int:
        """The delay per move in the first period."""
        return self.periods[0].delay if self.periods else 0

    @property
    def has_bonus(self) -> bool:
        """Whether any period has an increment or a delay ("Fischer" in FMJD part VI)."""
        return any(period.increment or period.delay for period in self.periods)

    def period_at(self, n: int) -> Period | None:
        """The period in which move `n` + 1 is played; None without periods."""
        return self.periods[min(self.controls_passed(n), len(self.periods) - 1)] if self.periods else None

    def increment_at(self, n: int) -> int:
        """What the press that completes move `n` + 1 credits."""
        period = self.period_at(n)
        return period.increment if period else 0

    def controls_passed(self, n: int) -> int:
        """How many periods are completed by `n` moves; repetitions of the last one count each."""
        passed = 0
        for period in self.periods[:-1]:
            if period.moves is None or n < period.moves:
                return passed
            n -= period.moves
            passed += 1
        last = self.periods[-1].moves if self.periods else None
        return passed + n // last if last else passed

    def demanded(self, n: int) -> int:
        """The moves demanded by all periods that `n` moves complete: the control last passed, 0 before the first."""
        return sum(self._moves(k) for k in range(self.controls_passed(n)))

    def next_control(self, n: int) -> int | None:
        """The number of moves at which the present period ends; None in a period to the end of the game."""
        period = self.period_at(n)
        return self.demanded(n) + period.moves if period and period.moves else None

    def last_period(self, n: int) -> bool:
        """Whether no control lies ahead: an empty clock is then always a fallen flag. False if nothing is known."""
        return bool(self.periods) and self.next_control(n) is None

    def total60(self) -> float | None:
        """Minutes for 60 moves: bases of all periods that start within them, and increments. None without periods.

        This is what the regulations class a control by (FIDE A.1, B.1; FMJD VI 1). A delay is not counted in.
        """
        if not self.periods:
            return None
        bases = sum(self._at(k).seconds for k in range(self.controls_passed(59) + 1))
        return (bases + sum(map(self.increment_at, range(60)))) / 60

    def fits(self, regulations: str) -> bool | None:
        """Whether the control is one that `regulations` (``fide-blitz``) are for; None without periods.

        Raises:
            KeyError: unknown regulations.
        """
        low, low_fits, high, high_fits = _CLASSES[regulations]
        total = self.total60()
        if total is None:
            return None
        return (low < total or (low_fits and low == total)) and (total < high or (high_fits and total == high))

    def _at(self, k: int) -> Period:
        return self.periods[min(k, len(self.periods) - 1)]

    def _moves(self, k: int) -> int:
        return self._at(k).moves or 0


_CLASSES: Final[Mapping[str, tuple[float, bool, float, bool]]] = {
    "fide-blitz": (0, True, 10, True),
    "fide-rapid": (10, False, 60, False),
    "fide-standard": (60, True, float("inf"), True),
    "fmjd-blitz": (5, True, 15, True),
    "fmjd-rapid": (15, True, 30, True),
    "fmjd-standard": (30, False, float("inf"), True),
}
"""regulations -> least minutes for 60 moves, whether they fit themselves; most, likewise."""


def _period(part: str, control: str) -> Period:
    if part.startswith("*"):
        raise ValueError(f"{part!r} in time control {control!r} is an hourglass, which no regulations here allow")
    match = _PERIOD.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} in time control {control!r} is no period such as 5400, 40/5400+30 or 5400d5")
    moves, seconds, increment, delay = match.groups()
    if moves and not int(moves):
        raise ValueError(f"{part!r} in time control {control!r} demands 0 moves")
    return Period(int(seconds), int(moves) if moves else None, int(increment or 0), int(delay or 0))
