"""Reports that were lost: plies of which the board told only a part, and what they may really have been.

A press with nothing to show for it, or a contradiction that does not pass, makes the reader believe in plies of which
nobody saw the arrival. Which of several it was, a later report may tell: then the game since is read again with the
other ply in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gateway.events import Piece
from gateway.reconstruct.node import Extension
from gateway.reconstruct.observed import NEVER
from gateway.reconstruct.rivals import RECALL, Rival, Rivals, arrival_bit, departure_bit, ends

STALE = 0.3
"""A ply whose arrival stood there before, as far as was reported."""
ECHO = 0.5
"""A report that says nothing new: the one before was lost, and rivals that knew better gain on the others."""
FRESH = 4
"""Plies for which one that nobody saw arrive may be read as another although it was confirmed."""
REVISED = 0.1
"""The same game with a ply that nobody saw arrive read as another."""


class Lost:
    """What one game's reader makes of reports that never came."""

    def __init__(self, rivals: Rivals) -> None:
        self.rivals = rivals

    def echo(self, bit: int, piece: Piece | None) -> None:
        """A square reported what it was thought to hold: rivals that thought otherwise are the likelier.

        One that has become empty twice was taken in between: perhaps a ply that nobody saw arrive had ended there.
        """
        if piece is not None:
            return
        if not self.rivals.best.node.occupied >> bit & 1:
            self.rivals.grow([rival for rival in self._revised() if rival.node.occupied >> bit & 1])
        for rival in self.rivals.beam:
            if not rival.node.occupied >> bit & 1:
                rival.cost += ECHO

    def doubt(self) -> None:
        """The ordinary plies explain too little: also believe plies of which a report was lost or misread."""
        found = []
        for rival in (*self.rivals.beam[:2], *self._before(self.rivals.best)):
            if rival.rate > 0:
                found += [
                    self.rivals.extended(rival, extension, "board", STALE)
                    for extension in rival.node.extensions(self.rivals.board, NEVER)
                ]
                unseen = [
                    self.rivals.extended(rival, extension, "inferred")
                    for extension in rival.node.doubtful(self.rivals.board, rival.at)
                ]
                for child in unseen:
                    child.unseen, child.unproved = True, len(unseen) > 1
                found += unseen
        if self.rivals.best.rate > 0:
            found += self._revised()
        if found:
            self.rivals.grow(found)

    def _revised(self) -> Iterator[Rival]:
        """The best reading with a ply that nobody saw arrive, or whose piece has gone on since, or one against the
        rules of which another piece stands now, read as another one, as far as all later ones allow."""
        best, board, firm = self.rivals.best, self.rivals.board, self.rivals.firm
        differing = best.node.difference(board)
        # A piece that stands where none should says more than one that is in a hand.
        wrong = differing & board.occupied
        missing = differing & ~board.occupied if wrong else 0
        certain = min(firm, best.depth - FRESH) if wrong else firm
        for step in best.line(best.depth - RECALL):
            if step.parent is None:
                continue
            arrival = 1 << arrival_bit(step.ply)
            # A pawn left on the last rank may become a queen when play has long gone on.
            crowned = not step.legal and arrival & differing
            unseen = step.depth > certain and (step.unseen or step.hidden)
            gone = step.depth > firm and arrival & missing
            if not (crowned or unseen or gone):
                continue
            for ply in step.parent.node.plies(self.rivals.board, 1 << departure_bit(step.ply)):
                if ply != step.ply and (revised := self._retold(step, ply)) is not None:
                    revised.cost = self.rivals.best.cost + REVISED
                    yield revised

    def _retold(self, step: Rival, ply: Any) -> Rival | None:
        """The best reading with `ply` in the place of `step`; None if a later ply is then against the rules,
        or its piece is not there."""
        assert step.parent is not None
        rival = step.parent
        for told in self.rivals.best.line(step.depth - 1):
            instead = ply if told is step else told.ply
            if told.legal and not rival.node.permits(instead):
                return None
            if not rival.node.own >> departure_bit(instead) & 1:
                return None
            rival = self.rivals.extended(rival, Extension(instead, told.at, 0.0), told.source, legal=told.legal)
            rival.unseen, rival.unproved, rival.guessed = told.unseen, told.unproved, told.guessed
        return rival

    def prove(self) -> None:
        """A piece that nobody saw arrive stands there after all, or has left from there: then it was that ply.

        So it is, too, for want of proof after `RECALL` plies, as when it was captured where it stood.
        """
        line = self.rivals.best.line(self.rivals.firm)
        for index, step in enumerate(line):
            if not step.unseen:
                continue
            bit = arrival_bit(step.ply)
            after = next((later for later in line[index + 1 :] if bit in ends(later.ply)), None)
            left = after is not None and departure_bit(after.ply) == bit and not after.unseen
            standing = not step.node.difference(self.rivals.board) >> bit & 1
            old = self.rivals.best.depth - step.depth >= RECALL
            if standing or old or (left and self.rivals.board.lifted_at[bit] >= step.at):
                step.unseen = step.unproved = False

    def _before(self, best: Rival) -> list[Rival]:
        """The best reading without its last ply, which may have been another unless it is certain."""
        if best.parent is None or best.depth <= self.rivals.firm:
            return []
        back = self.rivals.returned(best, best.parent)
        back.cost = best.cost
        return [back]
