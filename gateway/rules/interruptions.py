"""Adjournment, resumption, and stretches of the game that nobody saw.

Articles: FIDE 6.11.3, 7.6, 8.5.3, guidelines I; FMJD III 7.1 to 7.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

from gateway.events import GameStarted, LinkChanged, PositionSet
from gateway.game import Game
from gateway.reconstruct.phase import node_of
from gateway.record import Entry, GamePosition, notate, parse
from gateway.rules import Finding, Situation
from gateway.rules.readings import TOLERANCE
from gateway.rules.start import nearly_start

SEALED_AFTER = 75
"""Moves of both after which a game may be adjourned (FMJD III 7.5)."""


class AdjournmentNotAllowed:
    """FMJD III 7.5: after move 75, with Black to move and to seal."""

    kinds: ClassVar[tuple[str, ...]] = ("adjournment_not_allowed",)

    def __init__(self) -> None:
        self._since: float | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase != "suspended" or game.suspension != "adjournment":
            self._since = None
            return
        if self._since is None:
            self._since = seen.at
        fewest = seen.record.fewest
        if seen.in_force == "fmjd-standard" and (fewest < SEALED_AFTER or game.record.turn != "black"):
            facts = {"count": fewest, "turn": game.record.turn}
            yield Finding("adjournment_not_allowed", self._since, facts=facts)

    def state(self) -> float | None:
        return self._since

    def restore(self, state: float | None) -> None:
        self._since = state


class SealedMove:
    """The first move after the resumption is to be the sealed one."""

    kinds: ClassVar[tuple[str, ...]] = ("sealed_move_mismatch",)

    def __init__(self) -> None:
        self._resumed: float | None = None
        self._ply = 0
        """The record's last ply at the resumption."""
        self._since: tuple[int, str, float] | None = None
        """The first move after it, and since when it stands."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.resumed_at is None or game.phase != "play" or game.assigned.sealed_move is None:
            return
        if game.resumed_at != self._resumed:
            self._resumed, self._ply, self._since = game.resumed_at, game.record.ply, None
        if game.record.ply < self._ply:
            return
        before, sealed = seen.record.position_at(self._ply), game.assigned.sealed_move
        entry = next((entry for entry in game.record.entries if entry.ply == self._ply + 1), None)
        possible = _same_move(before, sealed, None)
        if entry is None:
            self._since = None
            if not possible:
                facts = {"move": "not made yet", "expected": f"{sealed}, which is impossible"}
                yield Finding("sealed_move_mismatch", game.resumed_at, game.record.turn, facts=facts)
            return
        if self._since is None or self._since[1] != entry.move.notation:
            self._since = entry.ply, entry.move.notation, max(seen.board.last_change, game.resumed_at)
        if not entry.move.legal or not _same_move(before, sealed, entry):
            facts = {"move": entry.move.notation, "expected": sealed}
            yield Finding("sealed_move_mismatch", self._since[2], entry.move.side, facts=facts)

    def state(self) -> list[Any]:
        return [self._resumed, self._ply, self._since and list(self._since)]

    def restore(self, state: list[Any]) -> None:
        self._resumed, self._ply, since = state
        self._since = since and (since[0], since[1], since[2])


def _same_move(before: GamePosition, sealed: str, entry: Entry | None) -> bool:
    """Whether the sealed move can be made from `before`, and leads where the entry led, if one is given."""
    try:
        after = notate(before, parse(before, sealed)).after
    except ValueError:
        return False
    return entry is None or after.fen() == entry.position.fen()


class ResumptionWrong:
    """A clock is started after an interruption over another position, or with other times."""

    kinds: ClassVar[tuple[str, ...]] = ("resumption_wrong",)

    def __init__(self) -> None:
        self._game: str | None = None
        self._ply: int | None = None
        """The record's last ply when the game was interrupted; None: it is not."""
        self._readings: tuple[float, float] | None = None
        self._started: float | None = None
        self._wrong: str | None = None

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        if game is None or game.phase not in ("play", "suspended"):
            self.restore([None, None, None, None, None])
            return
        report = seen.clock.report if seen.clock.connected else None
        if game.phase == "suspended":
            if self._game != game.id or self._ply is None:
                self.restore([game.id, game.record.ply, None, None, None])
            if self._readings is None and report is not None:
                self._readings = report.white, report.black
        if self._ply is None or self._game != game.id or report is None:
            return
        if report.running == "none":
            self._started = self._wrong = None
            return
        if self._started is None:
            self._started = seen.at
            self._wrong = self._other_times(seen)
        moved = game.phase == "play" and game.record.ply > self._ply + (game.assigned.sealed_move is not None)
        if moved:
            self._ply = None
            return
        position = None if _stands(game, seen) else "the pieces stand otherwise"
        detail = ", ".join(part for part in (position, self._wrong) if part)
        if detail:
            since = max(self._started, seen.board.last_change) if position else self._started
            squares = seen.board.geometry.names(seen.differing)
            yield Finding("resumption_wrong", since, facts={"detail": detail}, evidence={"squares": squares})

    def _other_times(self, seen: Situation) -> str | None:
        """What the readings are instead of those at the stop; a ruling recorded since explains them."""
        report = seen.clock.report
        if self._readings is None or report is None:
            return None
        if any(told.kind == "arbiter_time_adjusted" for told in seen.told):
            return None
        white, black = self._readings
        waited = 1.0 + TOLERANCE
        if abs(report.white - white) <= waited and abs(report.black - black) <= waited:
            return None
        return "the clock shows other times"

    def state(self) -> list[Any]:
        return [self._game, self._ply, self._readings and list(self._readings), self._started, self._wrong]

    def restore(self, state: list[Any]) -> None:
        self._game, self._ply, readings, self._started, self._wrong = state
        self._readings = readings and (readings[0], readings[1])


def _stands(game: Game, seen: Situation) -> bool:
    """Whether the record's position stands, or the one after the sealed move; a piece may be in the hand."""
    if not seen.differing:
        return True
    with suppress(ValueError):
        if game.assigned.sealed_move is not None:
            sealed = notate(game.position, parse(game.position, game.assigned.sealed_move)).after
            return not node_of(sealed).difference(seen.board)
    return False


class RecordGap:
    """The board was away, and what stands afterwards cannot be told from the record."""

    kinds: ClassVar[tuple[str, ...]] = ("record_gap",)

    def __init__(self) -> None:
        self._away = False
        self._wrong = 0
        """The squares that differed already when the board went away, as a mask."""
        self._gaps: list[tuple[str, float, int]] = []
        """What is missing (`resumed`, `set`, `link`), since when, and after which ply."""
        self._game: str | None = None
        self._start_seen = False
        """A clock was started here with no game in play."""

    def look(self, seen: Situation) -> Iterator[Finding]:
        game = seen.game
        for event in seen.happened:
            if isinstance(event, LinkChanged) and event.device == "board" and event.state == "down":
                self._away, self._wrong = seen.board.known, seen.differing
        self._start_seen |= any(change.change == "started" for change in seen.clock_changes)
        self._start_seen &= seen.clock.connected and seen.clock.running != "none"
        if game is None or game.phase not in ("play", "suspended"):
            self._gaps = []
            return
        if game.id != self._game:
            self._game, self._gaps, self._away = game.id, [], False
        for event in seen.happened:
            if isinstance(event, GameStarted) and event.reason == "resumed" and not self._begun(game, seen):
                self._gaps.append(("resumed", seen.at, 0))
            elif isinstance(event, PositionSet):
                self._gaps = [gap for gap in self._gaps if gap[0] != "link"]
                if event.reason == "gap":
                    self._gaps.append((f"set {event.ply}", seen.at, event.ply))
        self._after_the_link(seen)
        for key, since, ply in self._gaps:
            evidence = {"after_ply": ply, "placement": seen.board.placement()}
            # A position that was set has been waited for already.
            wait = 0.0 if key.startswith("set") else None
            yield Finding("record_gap", since, key=key, facts={"ply": ply}, evidence=evidence, wait=wait)

    def _begun(self, game: Game, seen: Situation) -> bool:
        """The clock was seen to start over a start put up wrong: no gap, all that was played was seen."""
        return self._start_seen and nearly_start(game, seen.assigned.start_fen)

    def _after_the_link(self, seen: Situation) -> None:
        """The link is back: does the board agree with the record, or with what was inferred?"""
        assert seen.game is not None
        differing = seen.differing
        known = any(key == "link" for key, _, _ in self._gaps)
        if known and not differing:
            self._gaps = [gap for gap in self._gaps if gap[0] != "link"]
        if not self._away or not seen.link_up or not seen.board.known:
            return
        link_up = seen.history.link_up_at
        if link_up is None or (not seen.touched and seen.board.last_change < link_up and differing == 0):
            return
        self._away = False
        # Only missing pieces are in somebody's hand; a piece that stands elsewhere was played there.
        if differing & ~self._wrong & seen.board.occupied and not known:
            self._gaps.append(("link", seen.at, seen.game.record.ply))

    def state(self) -> list[Any]:
        return [self._away, [list(gap) for gap in self._gaps], self._game, self._start_seen, self._wrong]

    def restore(self, state: list[Any]) -> None:
        self._away, gaps, self._game, self._start_seen, *wrong = state
        self._wrong = wrong[0] if wrong else 0
        self._gaps = [(key, since, ply) for key, since, ply in gaps]


RULES = (AdjournmentNotAllowed, SealedMove, ResumptionWrong, RecordGap)
