"""After the board was away: which few legal plies lead from a position to what stands now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateway.events import OTHER, Side
from gateway.reconstruct.node import EXTRA, Node
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import standing
from gateway.reconstruct.rivals import Rival, Rivals, departure_bit

LONGEST = 4
"""Plies that a gap may hide (catalogue, `record_gap`)."""
WORK = 4000
"""Positions looked at before giving up: about a quarter of a second on a desktop."""
SPARE = 2
"""Squares by which one of the plies may change more than two: castling four, en passant three."""
SETTLED = 0.4
"""Seconds at rest before plies are looked for: a ply may just be in the making."""
GIVE_UP = 5.0
"""Seconds at rest after which a position that nothing explains is taken as it stands (`record_gap`)."""
UNBEGUN = 0.1
"""Square-seconds against a line whose first piece was not in the air already when the board went away."""


@dataclass(slots=True)
class Gap:
    """A time in which the board was away, until what stands afterwards is explained."""

    since: float
    """When it came back."""
    lines: int | None = None
    """How many lines of a few plies lead to what stands now; None: not known yet."""
    tried: float | None = None
    """The change of the board after which they were last looked for."""
    before: Rival | None = None
    """The reading from which they lead there."""
    anew: Rivals | None = None
    """The game read anew from what stood at rest since, in case nothing explains that."""

    def reported(self, at: float, bit: int | None) -> None:
        """The board has changed at `at`; on the square `bit`, if it was one alone."""
        if self.anew is not None:
            self.anew.reported(at, bit)

    def pressed(self, side: Side, at: float) -> None:
        """`side` has pressed the clock."""
        if self.anew is not None:
            self.anew.advance(at)
            self.anew.pressed(side, at)

    def give_up_at(self, board: Observed) -> float | None:
        """When to take what stood as it was; None if it is explained.

        Play that goes on from there does not put it off, or it would never come in a time scramble.
        """
        if self.lines is not None:
            return None
        return (self.since if self._played_on() else max(self.since, board.last_change)) + GIVE_UP

    def _played_on(self) -> bool:
        """Whether what was moved since is play, as far as it can be told."""
        if self.anew is None or self.anew.best.rate >= EXTRA:
            return False
        best = self.anew.best
        return best.parent is not None and (best.parent.parent is not None or self.anew.running is not None)

    def bridge(self, rivals: Rivals, tip: Rival, at: float) -> float | None:
        """Add the plies that were made in it to what was known before; return when to try again, None if not by time.

        What stood when the board came back is explained at once, before anything else is moved; but that is believed
        only if it still explains what stands at rest, for a piece may have been in the air.
        """
        board, best = rivals.board, rivals.best
        if self.lines is not None and not self._refuted(best):
            return None
        if best.rate == 0 and best.source != "inferred":
            self.lines = 1
            return None
        if self.tried is None:
            self._look(rivals, tip)
        due = max(self.since, board.last_change) + SETTLED
        if at < due:
            return due
        found = self._look(rivals, tip) if rivals.best.rate > 0 and self.tried != board.last_change else 0
        if found or rivals.best.rate == 0:
            self.lines = found or 1
        elif self.lines is None:
            self._begin_anew(rivals, tip, at)
        return None

    def _look(self, rivals: Rivals, tip: Rival) -> int:
        """Look for the lines that lead to what stands, and let the rivals have them; return how many there are.

        They begin at `tip`, the last published ply, or else at what the best rival has read since. Of several that
        reach the same position the rivals keep the first. They are inferred, nothing saw them; and where there is more
        than one they are guessed, and never confirmed.
        """
        board, best = rivals.board, rivals.best
        self.tried = board.last_change
        before = self.before or tip
        found = paths(before.node, board)
        if not found and best is not tip and self.before is None:
            before, found = best, paths(best.node, board)
        for line in found:
            begun = board.changed_at[departure_bit(line[0])] > before.at
            # What was held against the reading before it is explained by the line.
            rival, cost = before, best.cost - before.cost + (0.0 if begun else UNBEGUN)
            for ply in line:
                rival, cost = rivals.infer(rival, ply, self.since, cost, guessed=len(found) > 1), 0.0
        if found:
            self.before = before
        return len(found)

    def _refuted(self, best: Rival) -> bool:
        """Whether what was inferred left out a piece that was in the air, and that has been put down since."""
        return self.before is not None and best.source == "inferred" and best.rate >= EXTRA

    def _begin_anew(self, rivals: Rivals, tip: Rival, at: float) -> None:
        """Read the game from what stands, unless what stood before explains that: by the side whose clock runs, or by
        either."""
        if self.anew is not None and self.anew.best.rate < EXTRA:
            return
        board, first = rivals.board, tip.node.turn
        turns = (rivals.running,) if rivals.running else (first, OTHER[first])
        nodes = [node for turn in turns if (node := standing(tip.node, board, turn)) is not None]
        begun = [Rivals(node, board, at, tip.depth) for node in nodes]
        self.anew = begun[0] if begun else None
        if self.anew is not None:
            self.anew.running = rivals.running
            self.anew.beam += [rival for other in begun[1:] for rival in other.beam]


def paths(node: Node, board: Observed) -> list[list[Any]]:
    """All shortest lines of 1 to `LONGEST` plies that end in exactly what the board shows; [] if there are none.

    Only pieces that are out of place move: one that went and came back leaves nothing to find.
    """
    budget = [WORK]
    for length in range(1, LONGEST + 1):
        found = _search(node, board, length, budget)
        if found or budget[0] <= 0:
            return found
    return []


def _search(node: Node, board: Observed, left: int, budget: list[int]) -> list[list[Any]]:
    misplaced = node.difference(board)
    differing = misplaced.bit_count()
    if left == 0:
        return [] if differing else [[]]
    if differing > 2 * left + SPARE:
        return []
    found: list[list[Any]] = []
    for ply in node.plies(board, misplaced):
        budget[0] -= 1
        if budget[0] < 0:
            return found
        after = node.after(ply)
        found += [[ply, *rest] for rest in _search(after, board, left - 1, budget)]
    return found
