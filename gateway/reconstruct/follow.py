"""From rival games to the record: what is published, what is taken back, what is certain.

Everything is shown as soon as it is the best reading, with few exceptions: a piece that may still be sliding, a
two-piece move that is half made, a ply that only a guess tells from another. A ply is confirmed when the clock was
pressed on it or the opponent replied, and no rival that is still in the running says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gateway.events import Piece, Readings, Side
from gateway.reconstruct.gap import paths
from gateway.reconstruct.node import SCAN_GRACE, Node
from gateway.reconstruct.observed import Observed, bits
from gateway.reconstruct.rivals import QUIET, Rival, Rivals, departure_bit, mover

SLIDE_HOLD = 0.3
"""Seconds a piece that could go farther may wait for publication."""
TIE_HOLD = 1.2
"""Seconds a ply waits while another reading is as good."""
TIE = 0.05
GUESS = 0.3
"""Square-seconds within which another reading is as good as one that was inferred."""
GUESS_HOLD = 12.0
"""Seconds a ply that no sensor saw waits while another is as likely: by then the next dump has come."""
COMPANION_HOLD = 15.0
"""Seconds a ply waits while another piece of its player, lifted with it, is out of its place."""
EXCUSE_AFTER = 1.0
"""Seconds before the ply that was answered from which a square must have stood as it does to be excused."""
GIVE_UP = 5.0
"""Seconds at rest after which a position that nothing explains after a gap is taken as it stands (`record_gap`)."""
FORGOTTEN = 3
"""Plies that may follow one another without a press: one was forgotten, and the reply could not be pressed on."""
OVERDUE = 6.0
"""Seconds without a press, and plies all the same, that are no mere scramble between two polls of the clock."""
DOUBT_AFTER = 0.6
"""Seconds of contradiction after which lost and misread reports are thought of."""
RETRACT_HOLD = 2.5
"""Seconds a published ply stays while its piece is merely in the air."""
CONFIRM_MARGIN = 1.5
"""Square-seconds by which every contradicting rival must be behind."""
REPLY_REST = 0.8
"""Seconds after the reply before it confirms a ply that nobody pressed on."""
SLIDE_TIME = 3.0
"""Seconds within which the same piece on another square is one slide or hesitation."""
SETTLE = 0.4
"""Seconds without a change after which an irregular ply is what it looks like."""
UNANSWERED = 1.0
"""Seconds an irregular ply must have stood before a reply may complete it."""
UNTIMED = 20.0
"""Seconds of rest that complete an irregular ply where no clock can (contract, "Illegal moves")."""
UPHEAVAL = 3.0
"""Squares of contradiction above which nothing new is published: the board is being knocked about or cleared."""

UNBEGUN = 0.1
"""Square-seconds against an inferred line whose first piece was not in the air already when the board went away."""
AMENDED = 2.0
"""Square-seconds against a capture that took other pieces than its path allows."""

RetractReason = Literal["slide", "takeback", "correction", "command"]


@dataclass(frozen=True, slots=True)
class Retracted:
    """This ply and all later ones no longer stand."""

    from_ply: int
    reason: RetractReason


@dataclass(frozen=True, slots=True)
class Played:
    """A ply to publish."""

    rival: Rival


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A ply that is certain."""

    ply: int
    readings: Readings | None


Conclusion = Retracted | Played | Confirmed


@dataclass(slots=True)
class Gap:
    """A time in which the board was away."""

    since: float
    """When it came back."""
    lines: int | None = None
    """How many lines of a few plies lead to what stands now; None: not known yet."""
    tried: float | None = None
    """The change of the board after which that was last looked for."""


@dataclass(slots=True)
class Press:
    """A press whose ply is not confirmed yet."""

    side: Side
    at: float
    readings: Readings | None


class Follow:
    """One game's record as it grows out of the rivals."""

    def __init__(self, root: Node, board: Observed, at: float, ply: int = 0) -> None:
        self.board = board
        self.rivals = Rivals(root, board, at)
        self.tip = self.rivals.restart(root, at, ply)
        """The last published ply."""
        self.confirmed = ply
        self.withhold_after: float | None = None
        """Plies that arrived later than this are not published: the clocks are stopped."""
        self.deadline: float | None = None
        self.last_press: float | None = None
        self.timed = False
        """A clock tells when a ply is completed."""
        self.presses: list[Press] = []
        self.shorter_since: float | None = None
        self._suspect: tuple[Rival, Any, float] | None = None
        """A ply against the rules that seems to stand, and since when."""
        self.doubted: float | None = None
        """The change of the board that has been thought over already."""
        self.rewound: int | None = None
        """The ply to which the reader went back to read again, and publish in the right order, what came after."""
        self.gap: Gap | None = None
        """The board was away, and what stands now is not explained yet; kept until the next ply is confirmed."""
        self.disputed = False
        """Two pieces of one side have moved before its press: neither is the ply until one is put back."""

    # --- what comes in ------------------------------------------------------------------------------------------

    def changed(self, at: float, lifted: int | None = None) -> None:
        """The board has changed at `at`; `lifted` is the square that was reported empty, if that is what changed."""
        self.rivals.advance(at)
        if lifted is not None:
            self.rivals.lifted(lifted, at)
        self.rivals.changed()
        self._weigh_reply(at)

    def rewind(self, rival: Rival, at: float) -> None:
        """Go back to the reading of `at`: what came since is about to be told again, in order."""
        self.rivals.beam = [rival]
        self.rivals.at = at
        self.gap = None
        self.rewound = rival.depth
        self.confirmed = self.rivals.firm = min(self.confirmed, rival.depth)
        self.rivals.weigh()

    def echo(self, bit: int, piece: Piece | None, at: float) -> None:
        """A square reported what it was thought to hold already."""
        self.rivals.advance(at)
        self.rivals.echo(bit, piece)
        self.rivals.changed()

    def pressed(self, side: Side, at: float, readings: Readings | None) -> None:
        """`side` has pressed the clock."""
        self.rivals.advance(at)
        self.rivals.pressed(side, at)
        if self.rivals.best.rate > 0:
            self.rivals.doubt()
        self.presses.append(Press(side, at, readings))
        self.last_press = at

    def restart(self, root: Node, at: float, ply: int) -> None:
        """The record goes on from a position that is beyond doubt."""
        self.tip = self.rivals.restart(root, at, ply)
        self.confirmed = self.rivals.firm = ply
        self.presses.clear()
        self.shorter_since = None
        self._suspect = None
        self.disputed = False

    def lost(self, at: float) -> None:
        """The board was away and is back: what stands now may be several plies further on."""
        self.gap = Gap(at)
        self.rivals.advance(at)
        self.rivals.weigh()

    # --- what comes out -----------------------------------------------------------------------------------------

    def conclude(self, at: float) -> list[Conclusion]:
        """Compare the best rival with what is published; set `deadline` for what must wait."""
        self.rivals.advance(at)
        self.deadline = self.rivals.next_change()
        found: list[Conclusion] = self._dispute(at) or self._carried(at)
        self._amend(at)
        self._bridge(at)
        self._doubt(at)
        self._complete_irregular(at)
        if not self.rivals.best.node.ceremony(self.board):
            found += self._compare(at)
        found += self._confirm(at)
        return found

    def _compare(self, at: float) -> list[Conclusion]:
        """Bring what is published in line with the best rival."""
        found: list[Conclusion] = []
        best = self.rivals.best
        common = self._common(best)
        new = best.line(common.depth)
        if common.depth < self.tip.depth and self._may_retract(best, new, at):
            found.append(Retracted(common.depth + 1, self._reason(common, new)))
            self.tip = common
            self.confirmed = self.rivals.firm = min(self.confirmed, common.depth)
        if common.depth == self.tip.depth:
            self.shorter_since = None
            self.tip = best.ancestor(common.depth)
            for rival in new:
                if not self._ready(rival, best, at):
                    break
                found.append(Played(rival))
                self.rivals.excuse(self.tip.node, min(self.tip.at, rival.at) - EXCUSE_AFTER)
                self.tip = rival
        return found

    def _common(self, best: Rival) -> Rival:
        """The last ply that the best rival and the published line share."""
        if self.rewound is not None:
            return self._common_from(self.rewound, best)
        a, b = best, self.tip
        a, b = a.ancestor(b.depth), b.ancestor(a.depth)
        while a is not b and not (a.ply == b.ply and a.node.key == b.node.key):
            if a.parent is None or b.parent is None:
                break
            a, b = a.parent, b.parent
        return b

    def _common_from(self, depth: int, best: Rival) -> Rival:
        """The same after a rewind: the order of the plies is known now, so that it counts too."""
        self.rewound = None
        common = self.tip.ancestor(depth)
        for old, new in zip(self.tip.line(depth), best.line(depth), strict=False):
            if old.ply != new.ply:
                break
            common = old
        return common

    def _may_retract(self, best: Rival, new: list[Rival], at: float) -> bool:
        """A published ply goes when another takes its place, when the board shows it undone, or after a while.

        Not with the clocks stopped: then an illegal ply may be put back, and all else is analysis.
        """
        if self.withhold_after is not None and at > self.withhold_after and self.tip.legal:
            return False
        if self.timed and self._common(best).depth < self.confirmed and not self._played_on():
            return False
        if new or best.rate == 0:
            return True
        if self.shorter_since is None:
            self.shorter_since = at
        due = self.shorter_since + RETRACT_HOLD
        if at >= due:
            return True
        self._wake(due)
        return False

    def _played_on(self) -> bool:
        """Whether somebody pressed since the board changed: a certain ply goes only if play goes on without it.

        What is moved about with nobody pressing is a look back at the game.
        """
        return self.last_press is not None and self.last_press >= self.board.last_change - SCAN_GRACE

    def _reason(self, common: Rival, new: list[Rival]) -> RetractReason:
        if not new:
            return "takeback"
        old = self.tip.line(common.depth)[0]
        if new[0].at - old.at <= SLIDE_TIME and departure_bit(new[0].ply) == departure_bit(old.ply):
            return "slide"
        return "correction"

    def _ready(self, rival: Rival, best: Rival, at: float) -> bool:
        if best.rate > UPHEAVAL or (self.disputed and best.rate >= 1.0):
            return False
        self.disputed = False
        if self.withhold_after is not None and rival.at > self.withhold_after:
            return False
        if self._unpressed(rival) or (rival.unseen and self.timed and not self._pressed_since(mover(rival), rival.at)):
            return False
        parent = rival.parent
        assert parent is not None
        if not parent.node.finished(rival.ply, self.board):
            return False
        if self._companion(rival) and not self._pressed_since(mover(rival), rival.at):
            due = rival.at + COMPANION_HOLD
            if at < due:
                self._wake(due)
                return False
        if rival.source == "inferred" and self._tied(rival, GUESS):
            due = self.board.last_change + GUESS_HOLD
            if at < due:
                self._wake(due)
                return False
        if rival is not best:
            return True
        if rival.hidden:
            return False
        if rival.legal and parent.node.farther(rival.ply) and not self._pressed_since(mover(rival), rival.at):
            due = rival.at + SLIDE_HOLD
            if at < due:
                self._wake(due)
                return False
        if self._tied(rival, TIE):
            due = self.board.last_change + TIE_HOLD
            if at < due:
                self._wake(due)
                return False
        return True

    def _unpressed(self, rival: Rival) -> bool:
        """Whether this would be the fourth ply since somebody pressed a clock that runs: no longer play."""
        if not self.timed or self.rivals.running is None or self.last_press is None:
            return False
        overdue = rival.at - self.last_press > OVERDUE
        return overdue and rival.ancestor(rival.depth - FORGOTTEN).at > self.last_press

    def _companion(self, rival: Rival) -> bool:
        """Whether another piece of the mover was in the air with this one and is still out of its place.

        A hand that carries two pieces is sweeping or setting up, not moving.
        """
        board, parent = self.board, rival.parent
        assert parent is not None
        differing = rival.node.difference(board) & parent.node.own & ~board.occupied
        if not differing:
            return False
        left = board.lifted_at[departure_bit(rival.ply)]
        return any(left - 1.0 <= board.lifted_at[bit] <= rival.at for bit in bits(differing))

    def _pressed_since(self, side: Side, at: float) -> bool:
        return any(press.side == side and press.at >= at for press in self.presses)

    def _tied(self, rival: Rival, within: float) -> bool:
        """Whether another reading is as good, and has another ply in this one's place."""
        bar = self.rivals.best.score + within
        for other in self.rivals.beam[1:]:
            if other.score > bar:
                break
            if other.depth >= rival.depth:
                same = other.ancestor(rival.depth)
                if same.ply != rival.ply:
                    return True
        return False

    def _wake(self, at: float) -> None:
        self.deadline = at if self.deadline is None else min(self.deadline, at)

    # --- against the rules --------------------------------------------------------------------------------------

    def _complete_irregular(self, at: float) -> None:
        """A ply against the rules stands once it is completed: by the press, or after 20 s of rest without a clock."""
        best = self.rivals.best
        ply = best.node.irregular(self.board) if best.rate >= 1.0 or not self.board.pieces_known else None
        if ply is None:
            self._suspect = None
            return
        if self._suspect is None or self._suspect[1] != ply:
            self._suspect = (best, ply, self.board.last_change)
        arrived = self._suspect[2]
        pressed = [press.at for press in self.presses if press.side == best.node.turn and press.at >= arrived - 0.3]
        if pressed:
            due = max(self.board.last_change, pressed[-1]) + SETTLE
        elif not self.timed:
            due = self.board.last_change + UNTIMED
        else:
            return
        if at < due:
            self._wake(due)
            return
        self._suspect = None
        self.rivals.believe(best, ply, arrived, 0.1, legal=False)

    def _weigh_reply(self, at: float) -> None:
        """The board went on from a ply against the rules: the opponent may have replied, which completes it too."""
        if self._suspect is None:
            return
        rival, ply, since = self._suspect
        if at - since >= UNANSWERED and rival.node.irregular(self.board) != ply:
            self._suspect = None
            self.rivals.believe(rival, ply, since, 1.0, legal=False)

    def _doubt(self, at: float) -> None:
        """What stands is not explained: perhaps a report was lost, or a piece misread."""
        if self.rivals.best.rate < 1.0 or self.doubted == self.board.last_change or self.unexplained_gap is not None:
            return
        due = self.board.last_change + DOUBT_AFTER
        if at < due:
            self._wake(due)
            return
        self.doubted = self.board.last_change
        self.rivals.doubt()

    def _bridge(self, at: float) -> None:
        """Look for the plies that were made while the board was away.

        Of several lines that reach the same position the rivals keep the first; they are inferred: nothing saw them.
        """
        gap = self.gap
        if gap is None or gap.lines is not None:
            return
        best, last = self.rivals.best, self.board.last_change
        if best.rate == 0:
            gap.lines = 1
            return
        if gap.tried == last:
            return
        due = max(gap.since, last) + SETTLE
        if at < due:
            self._wake(due)
            return
        gap.tried = last
        found = paths(best.node, self.board)
        for line in found:
            rival = best
            first = self.board.changed_at[departure_bit(line[0])] > best.at
            for ply in line:
                rival = self.rivals.infer(
                    rival, ply, at, 0.0 if first or rival is not best else UNBEGUN, guessed=len(found) > 1
                )
        if found:
            gap.lines = len(found)

    @property
    def unexplained_gap(self) -> float | None:
        """When to give up looking for what was played while the board was away; None if that is explained."""
        if self.gap is None or self.gap.lines is not None:
            return None
        return max(self.gap.since, self.board.last_change) + GIVE_UP

    def _amend(self, at: float) -> None:
        """A capture that was pressed on although other pieces than its own are gone was no legal one."""
        tip = self.tip
        if tip is not self.rivals.best or tip.parent is None or not tip.legal:
            return
        if not self._pressed_since(mover(tip), max(tip.at, self.board.last_change) - 0.3):
            return
        ply = tip.parent.node.amended(tip.ply, self.board)
        if ply is None:
            return
        due = self.board.last_change + SETTLE
        if at < due:
            self._wake(due)
            return
        tip.cost += AMENDED
        self.rivals.believe(tip.parent, ply, tip.at, tip.cost - tip.parent.cost - AMENDED, legal=False)

    def _carried(self, at: float) -> list[Conclusion]:
        """A king's move that nobody pressed on, the other king taken off after it, and the clocks stopped: no ply.

        Boards that know their pieces see the signal itself; this is for those that do not.
        """
        tip = self.tip
        if self.withhold_after is None or tip.parent is None or tip.depth <= self.confirmed:
            return []
        if self.board.pieces_known or self._pressed_since(mover(tip), tip.at):
            return []
        if not tip.parent.node.carried(tip.ply, self.board):
            return []
        if at < self.board.last_change + SETTLE:
            self._wake(self.board.last_change + SETTLE)
            return []
        self.tip = self.rivals.restart(tip.parent.node, at, tip.depth - 1)
        return [Retracted(tip.depth, "correction")]

    def _dispute(self, at: float) -> list[Conclusion]:
        """Two pieces of one side on new squares when it presses: which of them was the ply nobody can tell."""
        tip = self.tip
        if tip is not self.rivals.best or tip.parent is None or tip.depth <= self.confirmed or tip.rate < 1.0:
            return []
        side = mover(tip)
        if not any(press.side == side and press.at >= self.board.last_change - 0.3 for press in self.presses):
            return []
        if at < self.board.last_change + SETTLE:
            self._wake(self.board.last_change + SETTLE)
            return []
        differing = tip.node.difference(self.board)
        gone = differing & tip.node.other & ~self.board.occupied
        come = differing & self.board.occupied
        own = self.board.white if side == "white" else self.board.black
        if gone.bit_count() != 1 or come.bit_count() != 1 or not come & own:
            return []
        self.tip = tip.parent
        self.disputed = True
        return [Retracted(tip.depth, "correction")]

    # --- certainty ----------------------------------------------------------------------------------------------

    def _confirm(self, at: float) -> list[Conclusion]:
        found: list[Conclusion] = []
        line = self.tip.line(self.confirmed)
        for index, rival in enumerate(line):
            if rival.guessed:
                continue
            press = self._press_on(rival, line[index + 1] if index + 1 < len(line) else None)
            replied = index + 1 < len(line)
            if press is None and not replied:
                break
            if press is None and index + 2 >= len(line):
                due = line[index + 1].at + REPLY_REST
                if at < due:
                    self._wake(due)
                    break
            if not self._beyond_doubt(rival, replied):
                if at < self.board.last_change + QUIET:
                    self._wake(at + 0.2)
                break
            found.append(Confirmed(rival.depth, press.readings if press else None))
            self.confirmed = rival.depth
            self.rivals.confirm(rival)
            if press:
                self.presses = [other for other in self.presses if other.at > press.at]
        return found

    def _press_on(self, rival: Rival, reply: Rival | None) -> Press | None:
        """The press that completed `rival`, if one was seen."""
        side = mover(rival)
        for press in self.presses:
            if press.side == side and press.at >= rival.at - 0.3:
                return press
        return None

    def _beyond_doubt(self, rival: Rival, replied: bool) -> bool:
        """No rival in the running says otherwise, and the board shows the ply (or went on from it)."""
        best = self.rivals.best
        if not replied and (best.rate > 0 or best.depth < rival.depth):
            return False
        bar = best.score + CONFIRM_MARGIN
        for other in self.rivals.beam:
            if other.score > bar:
                break
            if other.depth < rival.depth:
                return False
            if other.ancestor(rival.depth).ply != rival.ply:
                return False
        return True
