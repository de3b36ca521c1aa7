"""How the clock is used: stopped, both halves running, turned round, its move counter, play with no clock running.

Who stopped a clock cannot be seen; resigning, agreeing a draw and calling the arbiter all begin so. A display that
falls although the other side runs may be a scramble of presses too short to be reported, so any touch of the board
begins the comparison anew. Articles: FIDE 6.1, 6.2, 6.5, 6.10, 6.11; FMJD III 3.7, 3.8, 4.4, 6.4, 6.16; FMJD VI 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from gateway.events import OTHER, CommandDone, Move, MoveRetracted, Side
from gateway.reconstruct.phase import CENTRE
from gateway.rules import Finding, Situation
from gateway.rules.readings import SIDES, Step, period_added, step

AGREEING = 4
"""Presses that agree with the moves before it is known which half is White's, and that say that it is no longer."""
THOUGHT = 1.0
"""Seconds after a press from which a ply is no reply made before it."""
HASTE = 1.0
"""Seconds between two plies below which nobody plays: moves are being shown."""
FALLS = 3
"""Steps in which both displays fall."""
STANDS = 2.0
"""Seconds without a change after which a display stands."""


class BothClocksStopped:
    """Both clocks were stopped in play, and nothing on the board says why."""

    kinds: ClassVar[tuple[str, ...]] = ("both_clocks_stopped",)

    def __init__(self) -> None:
        self._ran: Side | None = None
        """Whose clock ran when they were stopped; None: they are not."""
        self._since: float | None = None
        self._went_on = False
        """FMJD III 4.4: play went on although the stop lost the game."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        if not seen.playing or not seen.clock.connected:
            self._ran = self._since = None
            self._went_on = False
            return
        for change in seen.clock_changes:
            if change.change == "stopped" and change.side is not None:
                self._ran, self._since, self._went_on = change.side, None, False
        if self._ran is None:
            return
        if seen.clock.running != "none" or any(isinstance(event, Move) for event in seen.happened):
            self._went_on |= self._may_not_go_on(seen)
        if seen.clock.running != "none" and not self._went_on:
            self._ran = self._since = None
            return
        if self._went_on:
            if not _open(seen, "both_clocks_stopped"):
                self._ran, self._went_on = None, False
                return
        elif seen.record.over or _kings_gather(seen) or _flag_down(seen):
            self._since = None
            return
        if self._since is None:
            self._since = seen.at
        yield Finding(
            "both_clocks_stopped",
            self._since,
            facts={"running": self._ran},
            evidence={"ran": self._ran, "open": [told.kind for told in seen.told if told.open]},
            severity="alert" if self._went_on else None,
        )

    @staticmethod
    def _may_not_go_on(seen: Situation) -> bool:
        """A stop that nobody has ruled on loses the game in FMJD standard, so going on is a matter of its own."""
        return seen.in_force == "fmjd-standard" and _open(seen, "both_clocks_stopped")

    def state(self) -> list[Any]:
        return [self._ran, self._since, self._went_on]

    def restore(self, state: list[Any]) -> None:
        self._ran, self._since, self._went_on = state


def _open(seen: Situation, kind: str) -> bool:
    return any(told.kind == kind and told.open for told in seen.told)


def _flag_down(seen: Situation) -> bool:
    report = seen.clock.report
    return report is not None and (bool(report.flags) or min(report.white, report.black) <= 0)


def _kings_gather(seen: Situation) -> bool:
    """Both kings are in the air or in the centre: a result is being shown, or is."""
    if seen.game_kind == "draughts" or not seen.board.pieces_known:
        return False
    return not any(piece in "Kk" and square not in CENTRE for square, piece in seen.pieces.items())


class BothClocksRunning:
    """Both displays count at once."""

    kinds: ClassVar[tuple[str, ...]] = ("both_clocks_running",)

    def __init__(self) -> None:
        self._falls = 0
        """Steps in which the display of the side that should stand fell by about a second."""
        self._fell_at = 0.0
        self._since: float | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        taken = step(seen)
        if not seen.playing or not seen.clock.connected:
            self._falls, self._since = 0, None
            return
        if taken is not None or seen.touched:
            self._count(taken, seen)
        if seen.clock.running == "both" or self._falls >= FALLS:
            if self._since is None:
                self._since = seen.at
            yield Finding("both_clocks_running", self._since)
        else:
            self._since = None

    def _count(self, taken: Step | None, seen: Situation) -> None:
        runs = taken.runs if taken else None
        if seen.touched or taken is None or runs is None:
            # A reply and two presses may fall between two reports; so play proves nothing, and clears nothing either.
            if self._since is None or (taken is not None and runs is None and taken.pressed is None):
                self._falls = 0
            return
        if -taken.seconds - 1.5 <= taken.change(OTHER[runs]) <= -1:
            self._falls, self._fell_at = self._falls + 1, seen.at
        elif seen.at - self._fell_at > STANDS:
            self._falls = 0

    def state(self) -> list[Any]:
        return [self._falls, self._fell_at, self._since]

    def restore(self, state: list[Any]) -> None:
        self._falls, self._fell_at, self._since = state


class PlayWithoutClock:
    """A move of each side was made while no clock ran."""

    kinds: ClassVar[tuple[str, ...]] = ("play_without_clock",)

    def __init__(self) -> None:
        self._plies: list[tuple[int, float]] = []
        """Plies made while no clock ran, and when."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        clock = seen.clock
        if not seen.playing or not clock.connected or clock.running != "none" or _flag_down(seen):
            self._plies = []
            return
        for event in seen.happened:
            if isinstance(event, MoveRetracted):
                self._plies = [(ply, at) for ply, at in self._plies if ply < event.from_ply]
            elif isinstance(event, Move):
                self._add(event, seen.board.last_change)
        if len(self._plies) >= 2:
            yield Finding("play_without_clock", self._plies[1][1], evidence={"plies": [ply for ply, _ in self._plies]})

    def _add(self, move: Move, at: float) -> None:
        if not move.legal or move.source != "board" or (self._plies and at - self._plies[-1][1] < HASTE):
            self._plies = []
        else:
            self._plies.append((move.ply, at))

    def state(self) -> list[Any]:
        return [list(ply) for ply in self._plies]

    def restore(self, state: list[Any]) -> None:
        self._plies = [(ply, at) for ply, at in state]


class ClockPositionChanged:
    """The presses agree with the moves only if White's half is now Black's."""

    kinds: ClassVar[tuple[str, ...]] = ("clock_position_changed",)

    def __init__(self) -> None:
        self._known = 0
        """Presses in favour of the mapping, up to `AGREEING`."""
        self._against = 0
        self._ply = -1
        """The record's ply at the last press."""
        self._since: float | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        if not seen.playing or _mapped_anew(seen):
            self.restore([0, 0, -1, None])
            return
        for change in seen.clock_changes:
            if change.change == "pressed" and change.side is not None:
                self._weigh(change.side, seen)
        if self._against >= AGREEING and self._known >= AGREEING:
            if self._since is None:
                self._since = seen.at
            now = "right" if seen.clock.white_side == "left" else "left"
            yield Finding("clock_position_changed", self._since, facts={"clock_side": now})

    def _weigh(self, side: Side, seen: Situation) -> None:
        """A press after a new ply speaks for the mapping, or against it."""
        record = seen.record
        moved, self._ply = record.ply > self._ply, record.ply
        if not moved or not record.ply:
            return
        if record.turn == OTHER[side]:
            self._known, self._against, self._since = min(self._known + 1, AGREEING), 0, None
        elif _thought(seen):
            self._against += 1
        else:
            # A reply before the press looks the same.
            self._against = 0

    def state(self) -> list[Any]:
        return [self._known, self._against, self._ply, self._since]

    def restore(self, state: list[Any]) -> None:
        self._known, self._against, self._ply, self._since = state


def _thought(seen: Situation) -> bool:
    """Whether the only ply since the press before this one came well after it: its maker thought while the other clock
    ran. Of two plies the second was a reply made before the press."""
    history = seen.history
    if len(history.presses) < 2:
        return False
    before = history.presses[-2].at
    since = {played.ply: played.arrived for played in history.played if played.arrived >= before}
    return len(since) == 1 and min(since.values()) >= before + THOUGHT


def _mapped_anew(seen: Situation) -> bool:
    """The arbiter said which half is White's, or another clock was put there."""
    return any(change.change in ("connected", "disconnected") for change in seen.clock_changes) or any(
        isinstance(event, CommandDone) and event.ok and event.command == "set_white_side" for event in seen.happened
    )


class MoveCounterMismatch:
    """The clock counts other moves than the record, or adds its period at another press."""

    kinds: ClassVar[tuple[str, ...]] = ("move_counter_mismatch",)

    def __init__(self) -> None:
        self._wrong = 0
        """Presses in a row at which the counter was wrong."""
        self._presses_fit = 0
        """Presses in a row at which it counted the presses of both sides instead."""
        self._extra = {"white": 0, "black": 0}
        """Presses without a move, which the counter may have counted."""
        self._periods_wrong = 0
        self._found: tuple[float, int, int] | None = None
        """Since when, the clock's count and the record's."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        if not seen.playing:
            self.restore([0, 0, {"white": 0, "black": 0}, 0, None])
            return
        for change in seen.clock_changes:
            if change.change == "pressed" and change.side is not None and change.report is not None:
                self._press(change.side, change.report.counter, seen)
        if self._found is not None:
            since, counter, count = self._found
            evidence = {"complete": not seen.record.placed}
            yield Finding("move_counter_mismatch", since, facts={"counter": counter, "count": count}, evidence=evidence)

    def _press(self, side: Side, counter: int | None, seen: Situation) -> None:
        record = seen.record
        if record.turn == side:
            self._extra[side] += 1
            return
        count = record.moves_completed(side)
        taken = step(seen)
        if counter is not None:
            self._compare(counter, count, sum(map(record.moves_completed, SIDES)), self._extra[side], seen.at)
        elif taken is not None and period_added(taken, side, seen.time_control, count - 1) is not None:
            self._period(side, count, seen)

    def _compare(self, counter: int, count: int, presses: int, extra: int, at: float) -> None:
        self._presses_fit = self._presses_fit + 1 if counter == presses else 0
        right = count <= counter <= count + extra or self._presses_fit >= 2
        self._wrong = 0 if right else self._wrong + 1
        if right:
            self._found = None
        elif self._wrong >= 2:
            self._found = (at if self._found is None else self._found[0], counter, count)

    def _period(self, side: Side, count: int, seen: Situation) -> None:
        """The clock has added a period at the press of move `count`: was that a control?"""
        control = seen.time_control
        due = control.next_control(count - 1)
        right = due is not None and due <= count <= due + self._extra[side]
        self._periods_wrong = 0 if right else self._periods_wrong + 1
        if self._periods_wrong >= 2 and self._found is None:
            self._found = (seen.at, due or control.demanded(count), count)

    def state(self) -> list[Any]:
        return [self._wrong, self._presses_fit, self._extra, self._periods_wrong, self._found and list(self._found)]

    def restore(self, state: list[Any]) -> None:
        self._wrong, self._presses_fit, extra, self._periods_wrong, found = state
        self._extra = dict(extra)
        self._found = found and (found[0], found[1], found[2])


RULES = (BothClocksStopped, BothClocksRunning, PlayWithoutClock, ClockPositionChanged, MoveCounterMismatch)
