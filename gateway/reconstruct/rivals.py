"""A game is right when the board disagreed with it least.

A small set of rival games is kept, each a position with the plies that led there, and a cost. Between reports each pays
for every moment in which the board contradicts it; at each report each may be extended by legal plies that the board
now shows, and by second and third plies for what one scan hid. Rivals that meet in one position merge, the cheaper
stays. Hovering, hesitation, slides, flicker, adjusting, knocked pieces and quick replies need no special case: they
are disagreement that passes. Taking back is an extension backwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import chess

from gateway.draughts import BIT_NUMBER
from gateway.events import OTHER, Side
from gateway.reconstruct.node import BLIND, SCAN_GRACE, Extension, Node
from gateway.reconstruct.observed import NEVER, Observed, bits

Source = Literal["board", "command", "inferred"]

BEAM = 40
"""Rivals kept."""
MARGIN = 8.0
"""Square-seconds behind the best at which a rival is given up."""
EXTEND = 3.0
"""Square-seconds behind the best up to which a rival is extended."""
CHAIN = 3
"""Plies that one report may complete."""
QUIET = 1.5
"""Seconds after the last change for which disagreement still costs: a long think says nothing new."""
LOOKAHEAD = 0.3
"""Seconds of the present disagreement that count when the best is chosen: what stands now will go on standing."""
LEFT_LATE = 1.0
"""A piece that left its square after it had arrived on another, by more than a scan."""
TAKEBACK = 0.35
"""A ply taken back; the second costs more, for it looks like a repetition."""
FIRM = 2.2
"""More, for a ply that was confirmed, unless the board shows just what stood before it."""
TAKEBACK_AGAIN = 1.4
PRESS = 1.0
"""A press by a player who has not moved since his last, by that rival's reading."""
EARLY_REPLY = 0.15
"""A ply by a player whose clock does not run."""
INVERSION = 1.0
"""For each second by which a ply seems to have arrived before the one it answers."""
PACE = 0.35
"""Seconds between two plies of one side that no hand undercuts, scan and all."""
HASTE = 6.0
"""For each second by which a line undercuts it."""
LANDED = 0.15
"""A piece that was put where it should not be: a hand thinks twice, or this reading knows nothing of a ply."""
PUT_BACK = 0.3
"""A piece that was only put back, on a board that cannot tell it from one that took it."""
BACK = 2
"""Plies that may be taken back at once."""
RECALL = 30
"""Plies for which a reading may be told otherwise; what lies farther back is forgotten."""


@dataclass(slots=True, eq=False)
class Rival:
    """One reading of the game so far: a position, the ply that led to it, and what believing it has cost."""

    node: Node
    parent: Rival | None
    ply: Any
    legal: bool
    source: Source
    at: float
    """When the ply's piece arrived."""
    depth: int
    cost: float
    rate: float = 0.0
    hidden: bool = False
    unseen: bool = False
    """The board did not show its arrival: believed because a press demands a ply."""
    guessed: bool = False
    """One of several plies that would do as well: never confirmed."""
    unproved: bool = False
    """The same, until a later report tells which it was: neither this ply nor what follows is confirmed before."""
    back: bool = False
    """Reached by taking plies back, and nothing has been played since."""

    @property
    def score(self) -> float:
        """What is compared: the cost, and what stands now for a moment longer."""
        return self.cost + LOOKAHEAD * self.rate

    def line(self, down_to: int = 0) -> list[Rival]:
        """The rivals from ply `down_to` + 1 to this one, oldest first."""
        found: list[Rival] = []
        rival: Rival | None = self
        while rival is not None and rival.depth > down_to:
            found.append(rival)
            rival = rival.parent
        return found[::-1]

    def ancestor(self, depth: int) -> Rival:
        """The rival this one was at `depth` plies."""
        rival = self
        while rival.depth > depth and rival.parent is not None:
            rival = rival.parent
        return rival


class Rivals:
    """The beam of rival games over one board."""

    def __init__(self, root: Node, board: Observed, at: float, depth: int = 0) -> None:
        self.board = board
        self.at = at
        self.beam: list[Rival] = []
        self.running: Side | None = None
        """Whose clock runs."""
        self.firm = 0
        """The last ply that is confirmed."""
        self.last_press: dict[Side, float] = {}
        self.restart(root, at, depth)

    def restart(self, root: Node, at: float, depth: int) -> Rival:
        """Begin anew from a position that is beyond doubt."""
        rival = Rival(root, None, None, True, "board", at, depth, 0.0, root.contradiction(self.board))
        self.beam = [rival]
        self.at = at
        return rival

    def adopt(self, other: Rivals, root: Rival) -> None:
        """Go on with another beam over the same board, with those of its rivals that grew from `root`."""
        self.beam = [rival for rival in other.beam if rival.ancestor(root.depth).node.key == root.node.key]
        self.at = other.at
        self._sort()

    def rewind(self, rival: Rival, at: float) -> None:
        """Go back to `rival` alone, as it was at `at`."""
        self.beam = [rival]
        self.at = at
        self.weigh()

    @property
    def best(self) -> Rival:
        return self.beam[0]

    def advance(self, at: float) -> None:
        """Let time pass: each rival pays for what the board contradicts."""
        until = min(at, self.board.last_change + QUIET)
        dt = until - self.at
        if dt > 0:
            for rival in self.beam:
                rival.cost += dt * rival.rate
        self.at = max(self.at, at)
        self._sort()

    def next_change(self) -> float | None:
        """When, if nothing happens, another rival will become the best; None if never."""
        until = self.board.last_change + QUIET
        if self.at >= until or len(self.beam) < 2:
            return None
        best = self.beam[0]
        soonest: float | None = None
        for rival in self.beam[1:]:
            gain = best.rate - rival.rate
            if gain > 1e-9:
                at = self.at + (rival.score - best.score) / gain + 1e-6
                if at <= until and (soonest is None or at < soonest):
                    soonest = at
        return soonest

    def weigh(self) -> None:
        """The board has changed: weigh every rival anew."""
        for rival in self.beam:
            rival.rate = rival.node.contradiction(self.board)
        self._sort()

    def reported(self, at: float, bit: int | None) -> None:
        """The board has changed at `at`; on the square `bit`, if it was one alone."""
        self.advance(at)
        landed = bit is not None and bool(self.board.occupied >> bit & 1)
        if bit is not None and not landed:
            self.lifted(bit, at)
        self.changed()
        if bit is not None and landed:
            self.landed(bit)

    def changed(self) -> None:
        """The board has changed: weigh every rival anew and extend those near the best."""
        for rival in self.beam:
            rival.rate = rival.node.contradiction(self.board)
        self.grow([rival for rival in self.beam if rival.cost <= self.beam[0].cost + EXTEND])

    def pressed(self, side: Side, at: float) -> None:
        """`side` has pressed the clock: rivals in which it has made no ply since its last press pay.

        Not where a ply was just taken back: then it gives the move back to whoever plays another.
        """
        before = self.last_press.get(side, NEVER)
        for rival in self.beam:
            if rival.back and mover(rival) == side:
                continue
            own = rival if mover(rival) == side else rival.parent
            if own is None or own.parent is None or own.at <= before:
                rival.cost += PRESS
        self.last_press[side] = at
        self._sort()
        if mover(self.best) == side:
            self._forgive()

    def _forgive(self) -> None:
        """The best reading's ply is complete: where its piece left unheard says nothing any more."""
        unheard = self.best.node.unheard(self.board)
        if unheard:
            self.board.excused |= unheard
            self.weigh()

    def confirm(self, rival: Rival) -> None:
        """`rival`'s ply is certain: give up all readings without it."""
        self.firm = rival.depth
        self.beam = [other for other in self.beam if other.ancestor(rival.depth).ply == rival.ply] or self.beam
        # Nobody looks farther back, and positions are what a long game costs in memory.
        rival.ancestor(rival.depth - RECALL).parent = None

    def landed(self, bit: int) -> None:
        """A piece was put on a square: rivals in which it does not belong there are the less likely.

        Where the board cannot name it, so are those in which no ply has just ended there: they have it put back.
        """
        for rival in self.beam:
            if rival.node.difference(self.board) >> bit & 1:
                rival.cost += LANDED
            elif not self.board.pieces_known and rival.ply is not None and arrival_bit(rival.ply) != bit:
                rival.cost += PUT_BACK
        self._sort()

    def lifted(self, bit: int, at: float) -> None:
        """A square has become empty: a rival in which its piece had long arrived elsewhere is the less likely.

        Unless something was put there since, such as a captured man on his way off the board.
        """
        for rival in self.beam:
            for step in (rival, rival.parent):
                if step is None or step.ply is None:
                    break
                if departure_bit(step.ply) == bit and self.board.landed_at[bit] < step.at < at - SCAN_GRACE:
                    rival.cost += LEFT_LATE

    def excuse(self, before: Node, since: float) -> None:
        """Squares that contradict the best reading, contradicted it `before`, and have not changed since `since`, say
        nothing of what follows.

        Not where another reading explains them: then they are what tells the two apart.
        """
        differing = self.best.node.difference(self.board) & before.difference(self.board) & ~self.board.excused
        old = sum(1 << bit for bit in bits(differing) if self.board.changed_at[bit] < since)
        if old and not self._explained(old):
            self.board.excused |= old
            self.weigh()

    def _explained(self, squares: int) -> bool:
        """Whether another reading in the running, less contradicted than the best, has what stands on these squares."""
        bar = self.best.score + EXTEND
        return any(
            other.rate < self.best.rate and not other.node.difference(self.board) & squares
            for other in self.beam[1:]
            if other.score <= bar
        )

    def believe(
        self, rival: Rival, ply: Any, at: float, cost: float, *, legal: bool, instead: Rival | None = None
    ) -> Rival:
        """Add a ply that the reader itself would not have believed; `instead` of another, which is given up."""
        if instead is not None:
            self.beam = [other for other in self.beam if other is not instead]
        child = self.extended(rival, Extension(ply, at, cost), "board", legal=legal)
        self.beam = self.beam or [child]
        self.grow([child])
        return child

    def infer(self, rival: Rival, ply: Any, at: float, cost: float, *, guessed: bool) -> Rival:
        """Add a legal ply that nobody saw; the position it leads to demands it."""
        child = self.extended(rival, Extension(ply, at, cost), "inferred")
        child.guessed = guessed
        self.grow([child])
        return child

    # --- growing and pruning ------------------------------------------------------------------------------------

    def grow(self, fresh: list[Rival]) -> None:
        """Add rivals, and what may follow them; keep the best."""
        pool: dict[Any, Rival] = {}
        for rival in self.beam:
            _keep_cheaper(pool, rival)
        known = list(fresh)
        for _ in range(CHAIN):
            bar = min(rival.score for rival in pool.values()) + EXTEND
            found: list[Rival] = []
            for rival in known:
                if rival.score <= bar + rival.hidden:
                    found += [child for child in self._children(rival) if _keep_cheaper(pool, child)]
            for rival in known:
                _keep_cheaper(pool, rival)
            known = sorted(found, key=lambda rival: rival.score)[:BEAM]
            if not known:
                break
        self.beam = list(pool.values())
        self._sort()

    def _children(self, rival: Rival) -> Iterator[Rival]:
        node = rival.node
        for extension in node.extensions(self.board, rival.at):
            if _proves(rival, extension):
                more = self._haste(rival, extension.at) + self._overlooked(rival, extension.at)
                yield self.extended(rival, extension, "board", more)
        if rival.hidden:
            yield from self._retaken_alike(rival)
        for extension in node.hidden(self.board, rival.at):
            if _proves(rival, extension):
                child = self.extended(rival, extension, "inferred")
                child.hidden = True
                yield child
        back = rival
        for _ in range(BACK):
            if back.parent is None or back.rate == 0:
                break
            back = back.parent
            if back.node.contradiction(self.board) < rival.rate:
                yield self.returned(rival, back)

    def _retaken_alike(self, rival: Rival) -> Iterator[Rival]:
        """Recaptures by a piece like the one that was taken there: between two scans nothing has changed but where both
        pieces left."""
        for extension in rival.node.extensions(self.board, NEVER):
            left = self.board.lifted_at[departure_bit(extension.ply)]
            stood = extension.at < rival.at - SCAN_GRACE <= left
            if stood and rival.node.retakes(rival.ply, extension.ply):
                yield self.extended(rival, extension._replace(at=left), "board", self._haste(rival, left))

    def _haste(self, rival: Rival, at: float) -> float:
        """What it costs that a ply comes too soon: before its turn on the clock, or faster than hands are."""
        cost = 0.0
        if self.running is not None and self.running != rival.node.turn:
            cost += EARLY_REPLY
        if rival.parent is not None:
            cost += INVERSION * max(0.0, rival.at - at)
            if rival.parent.parent is not None:
                cost += HASTE * max(0.0, PACE - (at - rival.parent.at))
        return cost

    def _overlooked(self, rival: Rival, at: float) -> float:
        """What it costs that no scan saw a ply although it was pressed on long before its reply of `at`."""
        pressed = self.last_press.get(mover(rival), NEVER)
        return BLIND if rival.hidden and rival.at < pressed < at - 2 * SCAN_GRACE else 0.0

    def extended(
        self, rival: Rival, extension: Extension, source: Source, more: float = 0.0, *, legal: bool = True
    ) -> Rival:
        """A rival with one ply more; it is not added."""
        node = rival.node.after(extension.ply, legal=legal)
        rate = node.contradiction(self.board)
        cost = rival.cost + extension.cost + more
        # Of a piece that stood there before anybody looked nothing is known but that it came after the ply before.
        at = rival.at if extension.at == NEVER else extension.at
        return Rival(node, rival, extension.ply, legal, source, at, rival.depth + 1, cost, rate)

    def returned(self, rival: Rival, back: Rival) -> Rival:
        """The game as it was at `back`, reached by taking back what `rival` had after it."""
        rate = back.node.contradiction(self.board)
        cost = rival.cost + TAKEBACK + TAKEBACK_AGAIN * (rival.depth - back.depth - 1)
        if back.depth < self.firm and rate > 0:
            cost += FIRM
        return replace(back, cost=cost, rate=rate, hidden=False, back=True)

    def _sort(self) -> None:
        self.beam.sort(key=lambda rival: rival.score)
        bar = self.beam[0].cost + MARGIN
        self.beam = [rival for rival in self.beam[:BEAM] if rival.cost <= bar] or self.beam[:1]


def _keep_cheaper(pool: dict[Any, Rival], rival: Rival) -> bool:
    """Merge rivals that stand in one position; True if this one stays."""
    known = pool.get(rival.node.key)
    if known is not None and known.hidden and rival.source == "board" and rival.ply == known.ply and not rival.back:
        # What was taken for unseen has been seen after all.
        rival.cost = min(rival.cost, known.cost)
        pool[rival.node.key] = rival
        return True
    if known is None or rival.cost < known.cost:
        pool[rival.node.key] = rival
        return True
    return known is rival


def _proves(rival: Rival, reply: Extension) -> bool:
    """Whether `reply` may follow: after a ply that no scan saw only its recapture, or a reply within the same scan."""
    return not rival.hidden or rival.node.retakes(rival.ply, reply.ply) or reply.at - rival.at <= SCAN_GRACE


def mover(rival: Rival) -> Side:
    """Who made the rival's last ply."""
    return OTHER[rival.node.turn]


def ends(ply: Any) -> tuple[int, int]:
    """Where a ply begins and where it ends, as numbers of bits."""
    return departure_bit(ply), arrival_bit(ply)


def arrival_bit(ply: Any) -> int:
    """The square where a ply ends, as a bit's number."""
    return ply.to_square if isinstance(ply, chess.Move) else BIT_NUMBER[ply.arrival]


def departure_bit(ply: Any) -> int:
    """The square a ply comes from, as a bit's number."""
    return ply.from_square if isinstance(ply, chess.Move) else BIT_NUMBER[ply.departure]
