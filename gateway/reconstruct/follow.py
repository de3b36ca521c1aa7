"""From rival games to the record: what is published, what is taken back, what is certain.

Everything is shown as soon as it is the best reading, with few exceptions: a piece that may still be sliding, a
two-piece move that is half made, a ply that only a guess tells from another. A ply is confirmed when the clock was
pressed on it or the opponent replied, and no rival that is still in the running says otherwise. What is certain goes
only if play goes on without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gateway.events import Piece, Readings, Side
from gateway.reconstruct.gap import Gap
from gateway.reconstruct.irregular import SETTLE, Irregular
from gateway.reconstruct.lost import Lost
from gateway.reconstruct.node import EXTRA, SCAN_GRACE, Node
from gateway.reconstruct.observed import Observed, bits
from gateway.reconstruct.phase import standing
from gateway.reconstruct.presses import Press, Presses
from gateway.reconstruct.rivals import QUIET, Rival, Rivals, arrival_bit, departure_bit, mover

SLIDE_HOLD = 0.3
"""Seconds a piece that could go farther may wait for publication."""
TIE_HOLD = 1.2
"""Seconds a ply waits while another reading is as good."""
TIE = 0.05
"""Square-seconds within which another reading is as good."""
GUESS = 0.3
"""The same beside a ply that was inferred."""
GUESS_HOLD = 12.0
"""Seconds a ply that nothing has shown waits while another is as likely: by then the next dump has come."""
UNHEARD_HOLD = 12.0
"""Seconds a ply waits whose departure was not reported: the piece may be another."""
ROOK_HOLD = 1.5
"""Seconds a rook's ply waits that the king may follow, to castle."""
LOG_HOLD = 12.0
"""Seconds after a gap before anything is confirmed again: by then the board's own log has come, if it keeps one."""
COMPANION_HOLD = 15.0
"""Seconds a ply waits while another piece of its player, lifted with it, is out of its place."""
RETRACT_HOLD = 2.5
"""Seconds a published ply stays while its piece is merely in the air."""
CONFIRM_MARGIN = 1.5
"""Square-seconds by which every contradicting rival must be behind."""
REPLY_REST = 0.8
"""Seconds after the reply before it confirms a ply that nobody pressed on."""
LOOK_AGAIN = 0.2
"""Seconds after which a doubt is looked at again while the board's disagreement still tells."""
SLIDE_TIME = 3.0
"""Seconds within which the same piece on another square is one slide or hesitation."""
UPHEAVAL = 3.0
"""Squares of contradiction above which nothing new is published: the board is being knocked about or cleared."""
EXCUSE_AFTER = 1.0
"""Seconds before the ply that was answered from which a square must have stood as it does to be excused."""
DOUBT_AFTER = 0.6
"""Seconds of contradiction after which lost and misread reports are thought of."""
HURRIED = 2.0
"""Squares of contradiction from which that is done at once while a clock runs: in a scramble nothing ever rests."""
FORGOTTEN = 3
"""Plies that may follow one another without a press: one was forgotten, and the reply could not be pressed on."""
OVERDUE = 6.0
"""Seconds without a press, and plies all the same, that are no mere scramble between two polls of the clock."""

FOREVER = float("inf")
"""Until something else happens."""

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


class Follow:
    """One game's record as it grows out of the rivals."""

    def __init__(self, root: Node, board: Observed, at: float, ply: int = 0) -> None:
        self.board = board
        self.rivals = Rivals(root, board, at, ply)
        self.presses = Presses()
        self.irregular = Irregular(self.rivals, self.presses)
        self.lost_reports = Lost(self.rivals)
        self.tip = self.rivals.best
        """The last published ply."""
        self.confirmed = ply
        self.withhold_after: float | None = None
        """Plies that arrived later than this are not published: the clocks are stopped."""
        self.resumed: float | None = None
        """When a clock that stood was last started."""
        self.turned: Rival | None = None
        """The reading on whose last ply somebody turned the lever of a clock that stands."""
        self.deadline: float | None = None
        self.timed = False
        """A clock tells when a ply is completed."""
        self.shorter_since: float | None = None
        """Since when the best reading has fewer plies than are published."""
        self.doubted: float | None = None
        """The change of the board that has been thought over already."""
        self.rewound: int | None = None
        """The ply to which the reader went back to read again, and publish in the right order, what came after."""
        self.gap: Gap | None = None
        """The board was away; kept for whoever asks how well that is explained."""
        self.disputed = False
        """Two pieces of one side have moved before its press: neither is the ply until one is put back."""

    # --- what comes in ------------------------------------------------------------------------------------------

    def changed(self, at: float, reported: int | None = None) -> None:
        """The board has changed at `at`; `reported` is the square that changed, if it was one alone."""
        self.rivals.reported(at, reported)
        if reported is not None and HURRIED <= self.rivals.best.rate <= UPHEAVAL and self.rivals.running is not None:
            self.lost_reports.doubt()
        if self.gap is not None:
            self.gap.reported(at, reported)
        self.irregular.weigh_reply(at)

    def echo(self, bit: int, piece: Piece | None, at: float) -> None:
        """A square reported what it was thought to hold already."""
        self.rivals.advance(at)
        self.lost_reports.echo(bit, piece)
        self.rivals.changed()

    def pressed(self, side: Side, at: float, readings: Readings | None) -> None:
        """`side` has pressed the clock."""
        self.rivals.advance(at)
        if self.rivals.best.rate > 0:
            self.lost_reports.doubt()
        self.rivals.pressed(side, at)
        if self.gap is not None:
            self.gap.pressed(side, at)
        self.presses.add(Press(side, at, readings))

    def started(self, at: float) -> None:
        """A clock that stood runs again."""
        self.rivals.advance(at)
        self.resumed = at

    def turned_lever(self, side: Side, at: float, readings: Readings) -> None:
        """`side` has turned the lever of a clock that stands, as a clock does on which a flag has fallen.

        Once is nothing; but where each turns it after his ply they play on, and have not noticed.
        """
        self.rivals.advance(at)
        best, before = self.rivals.best, self.turned
        complete = best.rate == 0 and best.depth > self.confirmed and mover(best) == side
        self.turned = best if complete else None
        answered = best.parent is not None and before is not None and before.node.key == best.parent.node.key
        if complete and answered and self.withhold_after is not None:
            self.withhold_after = at
            self.presses.add(Press(side, at, readings))

    def lost(self, at: float) -> None:
        """The board was away and is back: what stands now may be several plies further on."""
        self.gap = Gap(at)
        self.presses.deaf_until = at
        self.rivals.advance(at)
        self.rivals.weigh()

    def rewind(self, rival: Rival, at: float) -> None:
        """Go back to the reading of `at`: what came since is about to be told again, in order."""
        self.rivals.rewind(rival, at)
        self.gap = None
        self.rewound = rival.depth
        self._firm(min(self.confirmed, rival.depth))

    def restart(self, root: Node, at: float, ply: int) -> None:
        """The record goes on from a position that is beyond doubt."""
        self._begin(self.rivals.restart(root, at, ply))

    def give_up_gap(self, turn: Side, at: float) -> Node | None:
        """Nothing explains what stands since the board is back: the record goes on from the position returned.

        Where play went on, that is what stood first, and what came since is its first plies; else what stands now,
        with `turn` to move. None: no position can stand so, or the board cannot name its pieces.
        """
        gap, self.gap = self.gap, None
        anew = None if gap is None else gap.anew
        if anew is not None:
            anew.advance(at)
            root = anew.best.ancestor(self.tip.depth)
            if root.depth == self.tip.depth < anew.best.depth and anew.best.rate < EXTRA:
                self.rivals.adopt(anew, root)
                self._begin(root)
                return root.node
        node = standing(self.tip.node, self.board, turn)
        if node is not None:
            self.restart(node, at, self.tip.depth)
        return node

    def _begin(self, root: Rival) -> None:
        """`root` is what is published, and all before it is beyond doubt."""
        self.tip = root
        self._firm(root.depth)
        self.presses.forget(root.at)
        self.shorter_since = self.irregular.suspect = self.gap = None
        self.disputed = False

    def _firm(self, ply: int) -> None:
        """`ply` is the last that is confirmed."""
        self.confirmed = self.rivals.firm = ply

    # --- what comes out -----------------------------------------------------------------------------------------

    def conclude(self, at: float) -> list[Conclusion]:
        """Compare the best rival with what is published; set `deadline` for what must wait."""
        self.rivals.advance(at)
        self.deadline = self.rivals.next_change()
        found = self._no_ply(at)
        self._wake(self.irregular.amend(self.tip, at))
        if self.gap is not None:
            self._wake(self.gap.bridge(self.rivals, self.tip, at))
        self._doubt(at)
        self._wake(self.irregular.complete(at, timed=self.timed))
        if not self.rivals.best.node.ceremony(self.board):
            found += self._compare(at)
        found += self._confirm(at)
        return found

    @property
    def unexplained_gap(self) -> float | None:
        """When to give up looking for what was played while the board was away; None if that is explained."""
        return None if self.gap is None else self.gap.give_up_at(self.board)

    def _wake(self, at: float | None) -> None:
        if at is not None and at != FOREVER:
            self.deadline = at if self.deadline is None else min(self.deadline, at)

    def _no_ply(self, at: float) -> list[Conclusion]:
        """Take back a published ply that turns out to be none, once the board has settled."""
        tip = self.tip
        if tip.parent is None or tip.depth <= self.confirmed:
            return []
        disputed = self.irregular.disputed(tip)
        carried = self.withhold_after is not None and self.irregular.carried(tip)
        if not disputed and not carried:
            return []
        if at < self.board.last_change + SETTLE:
            self._wake(self.board.last_change + SETTLE)
            return []
        if carried:
            self.tip = self.rivals.restart(tip.parent.node, at, tip.depth - 1)
        else:
            self.tip, self.disputed = tip.parent, True
        return [Retracted(tip.depth, "correction")]

    def _doubt(self, at: float) -> None:
        """What stands is not explained: perhaps a report was lost, or a piece misread."""
        if self.rivals.best.rate < 1.0 or self.doubted == self.board.last_change or self.unexplained_gap is not None:
            return
        due = self.board.last_change + DOUBT_AFTER
        if at < due:
            self._wake(due)
            return
        self.doubted = self.board.last_change
        self.lost_reports.doubt()

    def _compare(self, at: float) -> list[Conclusion]:
        """Bring what is published in line with the best rival."""
        found: list[Conclusion] = []
        best = self.rivals.best
        common = self._common(best)
        new = best.line(common.depth)
        if common.depth < self.tip.depth and self._may_retract(common, new, at):
            found.append(Retracted(common.depth + 1, self._reason(common, new)))
            self.tip = common
            self._firm(min(self.confirmed, common.depth))
        if common.depth == self.tip.depth:
            self.shorter_since = None
            self.tip = best.ancestor(common.depth)
            for rival in new:
                if not self._ready(rival, at):
                    break
                found.append(Played(rival))
                if self.gap is None or rival is best:
                    # In the middle of a gap's plies what differs is what the rest of them will explain.
                    self.rivals.excuse(self.tip.node, min(self.tip.at, rival.at) - EXCUSE_AFTER)
                self.tip = rival
        return found

    def _common(self, best: Rival) -> Rival:
        """The last ply that the best rival and the published line share.

        Lines that differ only in the order of earlier plies share the position, and stay as they are published; after
        a rewind the order is known, and counts too.
        """
        if self.rewound is not None:
            depth, self.rewound = self.rewound, None
            common = self.tip.ancestor(depth)
            # The reading to which it went back need not be the one that was published.
            if common.node.key == best.ancestor(depth).node.key:
                for old, new in zip(self.tip.line(depth), best.line(depth), strict=False):
                    if old.ply != new.ply:
                        break
                    common = old
                return common
        a, b = best, self.tip
        a, b = a.ancestor(b.depth), b.ancestor(a.depth)
        while a is not b and not (a.ply == b.ply and a.node.key == b.node.key):
            if a.parent is None or b.parent is None:
                break
            a, b = a.parent, b.parent
        return b

    # --- what is taken back -------------------------------------------------------------------------------------

    def _may_retract(self, common: Rival, new: list[Rival], at: float) -> bool:
        """A published ply goes when another takes its place, when the board shows it undone, or after a while.

        Not with the clocks stopped: then an illegal ply may be put back, and all else is analysis.
        """
        if self.unexplained_gap is not None:
            return False
        if self.withhold_after is not None and at > self.withhold_after and self.tip.legal:
            return False
        if self.timed and self._complete(common) and not (self._played_on() or self._given_back(new)):
            return False
        if new or self.rivals.best.rate == 0:
            return True
        if self.shorter_since is None:
            self.shorter_since = at
        due = self.shorter_since + RETRACT_HOLD
        if at < due:
            self._wake(due)
        return at >= due

    def _complete(self, common: Rival) -> bool:
        """Whether a ply after this is certain, or has been pressed on at a board that cannot name its pieces: there
        whatever is carried about looks like that ply's piece going on."""
        if common.depth < self.confirmed:
            return True
        return not self.board.pieces_known and any(self.presses.on(ply) for ply in self.tip.line(common.depth))

    def _played_on(self) -> bool:
        """Whether somebody pressed since the board changed: a certain ply goes only if play goes on without it.

        What is moved about with nobody pressing is a look back at the game.
        """
        return self.presses.last is not None and self.presses.last >= self.board.last_change - SCAN_GRACE

    def _given_back(self, new: list[Rival]) -> bool:
        """Whether plies were taken back while the clocks stood, as is polite, and that of who is to move again runs."""
        best = self.rivals.best
        resumed = self.resumed is not None and self.resumed >= self.board.last_change - SCAN_GRACE
        return resumed and not new and best.rate == 0 and best.node.turn == self.rivals.running

    def _reason(self, common: Rival, new: list[Rival]) -> RetractReason:
        if not new:
            return "takeback"
        old = self.tip.line(common.depth)[0]
        if new[0].at - old.at <= SLIDE_TIME and departure_bit(new[0].ply) == departure_bit(old.ply):
            return "slide"
        return "correction"

    # --- what is published --------------------------------------------------------------------------------------

    def _ready(self, rival: Rival, at: float) -> bool:
        """Whether a ply of the best line may be published now."""
        due = max(self._holds(rival), default=at)
        if due > at:
            self._wake(due)
            return False
        self.disputed = False
        return True

    def _holds(self, rival: Rival) -> Iterator[float]:
        """Until when a ply must wait, for each reason there is."""
        best, parent = self.rivals.best, rival.parent
        assert parent is not None
        if self.unexplained_gap is not None:
            yield FOREVER
        if best.rate > UPHEAVAL or (self.disputed and best.rate >= 1.0):
            yield FOREVER
        if self.withhold_after is not None and rival.at > self.withhold_after:
            yield FOREVER
        if not parent.node.finished(rival.ply, self.board) or self._unpressed(rival):
            yield FOREVER
        if self.presses.since(mover(rival), rival.at) is None:
            if rival.unseen and self.timed:
                yield FOREVER
            if rival.source == "board" and self._companion(rival):
                yield rival.at + COMPANION_HOLD
            if rival is best and rival.node.unheard(self.board):
                # A captured man may be held over a square, or laid there.
                yield rival.at + UNHEARD_HOLD
            if rival is best and parent.node.begins_castling(rival.ply):
                yield rival.at + ROOK_HOLD
            if rival is best and rival.legal and parent.node.farther(rival.ply):
                yield rival.at + SLIDE_HOLD
        if (rival.unseen or rival.hidden or rival.guessed) and self._tied(rival, GUESS):
            yield rival.at + GUESS_HOLD
        if rival is best and rival.hidden:
            yield FOREVER
        if rival is best and self._tied(rival, TIE):
            yield self.board.last_change + TIE_HOLD

    def _unpressed(self, rival: Rival) -> bool:
        """Whether this would be the fourth ply since somebody pressed a clock that runs: no longer play."""
        last = self.presses.last
        if not self.timed or self.rivals.running is None or last is None or rival.at - last <= OVERDUE:
            return False
        return rival.ancestor(rival.depth - FORGOTTEN).at > max(last, self.presses.deaf_until)

    def _companion(self, rival: Rival) -> bool:
        """Whether another piece of the mover was in the air with this one and is still out of its place.

        A hand that carries two pieces is sweeping or setting up, not moving; unless play goes on: then the other hand
        had begun the next ply.
        """
        if self.rivals.best.depth > rival.depth + FORGOTTEN:
            return False
        board, parent = self.board, rival.parent
        assert parent is not None
        differing = rival.node.difference(board) & parent.node.own & ~board.occupied
        if not differing:
            return False
        left = board.lifted_at[departure_bit(rival.ply)]
        return any(left - 1.0 <= board.lifted_at[bit] <= rival.at for bit in bits(differing))

    def _tied(self, rival: Rival, within: float) -> bool:
        """Whether another reading is as good, and has another ply in this one's place."""
        bar = self.rivals.best.score + within
        for other in self.rivals.beam[1:]:
            if other.score > bar:
                break
            if other.depth >= rival.depth and other.ancestor(rival.depth).ply != rival.ply:
                return True
        return False

    # --- what is certain ----------------------------------------------------------------------------------------

    def _confirm(self, at: float) -> list[Conclusion]:
        """Confirm what was pressed on or replied to, in order, as far as no rival speaks against it."""
        found: list[Conclusion] = []
        if self.gap is not None and at < self.gap.since + LOG_HOLD:
            self._wake(self.gap.since + LOG_HOLD)
            return found
        self.lost_reports.prove()
        line = self.tip.line(self.confirmed)
        for index, rival in enumerate(line):
            if rival.unproved or self.unexplained_gap is not None:
                break
            if rival.guessed:
                continue
            press, replies = self.presses.on(rival), line[index + 1 :]
            if press is None and not replies:
                break
            if press is None and len(replies) == 1 and at < replies[0].at + REPLY_REST:
                self._wake(replies[0].at + REPLY_REST)
                break
            if not self._beyond_doubt(rival, replied=bool(replies)):
                if at < self.board.last_change + QUIET:
                    self._wake(at + LOOK_AGAIN)
                break
            found.append(Confirmed(rival.depth, press.readings if press else None))
            self.confirmed = rival.depth
            self.rivals.confirm(rival)
            if press:
                self.presses.done(press)
        return found

    def _beyond_doubt(self, rival: Rival, *, replied: bool) -> bool:
        """No rival in the running says otherwise, and the board shows the ply (or went on from it)."""
        best = self.rivals.best
        if not replied and (best.rate > 0 or best.depth < rival.depth):
            return False
        if best.node.difference(self.board) & ~self.board.occupied & 1 << arrival_bit(rival.ply):
            # Its piece is in the air again, and may come down elsewhere.
            return False
        bar = best.score + CONFIRM_MARGIN
        running = (other for other in self.rivals.beam if other.score <= bar)
        return all(other.depth >= rival.depth and other.ancestor(rival.depth).ply == rival.ply for other in running)
