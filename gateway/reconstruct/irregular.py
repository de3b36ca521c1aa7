"""Plies against the rules: when one stands, and when what looked like a ply was none.

A player may change an illegal ply until it is completed: by the press, by the opponent's reply, or by 20 s of rest
where no clock can tell (FIDE 6.2.1, contract "Illegal moves"). So such a ply is only suspected until then. Each
method returns when to look again, or None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gateway.reconstruct.node import SCAN_GRACE
from gateway.reconstruct.presses import Presses
from gateway.reconstruct.rivals import EXTEND, Rival, Rivals, mover

SETTLE = 0.4
"""Seconds without a change after which a ply is what it looks like."""
UNANSWERED = 1.0
"""Seconds an irregular ply must have stood before a reply may complete it."""
UNTIMED = 20.0
"""Seconds of rest that complete an irregular ply where no clock can."""
COMPLETED = 0.1
"""Square-seconds that an irregular ply costs once it is completed."""
ANSWERED = 1.0
"""What it costs while only a reply speaks for it."""
AMENDED = 2.0
"""Square-seconds against a capture that took other pieces than its path allows."""


class Suspect(NamedTuple):
    """A ply against the rules that seems to stand."""

    rival: Rival
    ply: Any
    since: float
    half: bool = False
    """A castling of which only the king's half was made."""


class Irregular:
    """What is suspected in one game."""

    def __init__(self, rivals: Rivals, presses: Presses) -> None:
        self.rivals = rivals
        self.presses = presses
        self.suspect: Suspect | None = None

    def complete(self, at: float, *, timed: bool) -> float | None:
        """Let a suspected ply stand if it is completed."""
        best, board = self.rivals.best, self.rivals.board
        ply = best.node.irregular(board) if best.rate >= 1.0 or not board.pieces_known else None
        if ply is None:
            self.suspect = self._half_made(at)
            return None
        if self.suspect is None or self.suspect.ply != ply:
            self.suspect = Suspect(best, ply, board.last_change)
        if self._lawfully_explained():
            return None
        arrived = self.suspect.since
        pressed = self.presses.since(best.node.turn, arrived - SCAN_GRACE)
        if pressed is None and timed:
            return None
        due = board.last_change + UNTIMED if pressed is None else max(board.last_change, pressed) + SETTLE
        if at < due:
            return due
        self.suspect = None
        self.rivals.believe(best, ply, arrived, COMPLETED, legal=False)
        return None

    def _lawfully_explained(self) -> bool:
        """Whether a reading without any ply against the rules has just what stands, and will soon be the best."""
        bar, firm = self.rivals.best.score + EXTEND, self.rivals.firm
        running = (rival for rival in self.rivals.beam if rival.score <= bar and rival.rate == 0)
        return any(all(step.legal for step in rival.line(firm)) for rival in running)

    def _half_made(self, at: float) -> Suspect | None:
        """A castling of which only the king's half stands, and which was pressed on: only a reply can complete it."""
        best, board = self.rivals.best, self.rivals.board
        ply = best.node.half_castled(board) if best.rate >= 1.0 else None
        if ply is None:
            # While the opponent's hand is over the board the suspicion stays.
            return self.suspect if self.suspect is not None and self.suspect.half else None
        if self.presses.since(best.node.turn, board.last_change - SCAN_GRACE) is None:
            return None
        return Suspect(best, ply, board.last_change, half=True)

    def weigh_reply(self, at: float) -> None:
        """The board went on from a suspected ply: the opponent may have replied, which completes it too."""
        if self.suspect is None:
            return
        rival, ply, since, half = self.suspect
        board = self.rivals.board
        if half:
            after = rival.node.after(ply, legal=False)
            if not after.difference(board) & after.own & ~board.occupied:
                # The rook may still be on its way.
                self.suspect = None
                return
        if at - since >= UNANSWERED and rival.node.irregular(board) != ply:
            self.suspect = None
            self.rivals.believe(rival, ply, since, ANSWERED, legal=False)

    def amend(self, tip: Rival, at: float) -> float | None:
        """A capture that was pressed on although other pieces than its own are gone was no legal one."""
        board = self.rivals.board
        if tip is not self.rivals.best or tip.parent is None or not tip.legal:
            return None
        if self.presses.since(mover(tip), max(tip.at, board.last_change) - SCAN_GRACE) is None:
            return None
        ply = tip.parent.node.amended(tip.ply, board)
        if ply is None:
            return None
        due = board.last_change + SETTLE
        if at < due:
            return due
        self.rivals.believe(tip.parent, ply, tip.at, tip.cost - tip.parent.cost, legal=False, instead=tip)
        return None

    def disputed(self, tip: Rival) -> bool:
        """Whether another piece of the mover stands on a new square too when he presses: which was the ply?"""
        board = self.rivals.board
        if tip is not self.rivals.best or tip.parent is None or tip.rate < 1.0:
            return False
        side = mover(tip)
        if self.presses.since(side, board.last_change - SCAN_GRACE) is None:
            return False
        differing = tip.node.difference(board)
        gone, come = differing & tip.node.other & ~board.occupied, differing & board.occupied
        own = (board.white if side == "white" else board.black) | board.unknown
        if gone.bit_count() != 1 or come.bit_count() != 1 or not come & own:
            return False
        # A piece that no ply could have brought there is out of place, and the other one was the ply.
        way = gone.bit_length() - 1, come.bit_length() - 1
        return tip.parent.node.allows(*way) or tip.node.allows_again(*way)

    def carried(self, tip: Rival) -> bool:
        """Whether a king's move that nobody pressed on was the first half of a sign: then the other king followed.

        Boards that know their pieces see the signal itself; this is for those that do not.
        """
        board = self.rivals.board
        if tip.parent is None or board.pieces_known or self.presses.since(mover(tip), tip.at) is not None:
            return False
        return tip.parent.node.carried(tip.ply, board)
