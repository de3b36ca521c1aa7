"""A position as the board would show it, and how much a board contradicts it.

The weights say what a difference is worth while it lasts, in squares: a piece that is missing may be in a hand, so it
says little; a piece that stands where none should, or the wrong one, says much.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from gateway.events import Side
from gateway.reconstruct.observed import Observed, bits

MISSING_OWN = 0.25
"""A piece of the side to move is gone: probably in his hand."""
MISSING_OTHER = 0.4
"""A piece of the other side is gone: being captured, or lifted early."""
EXTRA = 1.0
"""A piece stands where none should, or another than expected."""
LINGERING = 0.45
"""A captured man is still to be taken off."""
UNREPORTED = 0.3
"""A piece that has arrived elsewhere still stands where it left: hands lift first, so the report of that was lost."""
UNCROWNED = 0.3
"""A man stands where a king should: still to be crowned."""
MOST = 6.0
"""A knocked-over board contradicts every game alike."""

SCAN_GRACE = 0.3
"""Seconds by which the order of two reports may mislead: a scan takes 0.2 to 0.25 s."""


class Extension(NamedTuple):
    """A ply that may have been played since."""

    ply: Any
    at: float
    """When its piece arrived."""
    cost: float
    """What believing it costs, in square-seconds."""
    hidden: bool = False
    """No scan saw it: only a reply on the same square can prove it."""


PLY = 0.12
"""No ply is invented: each costs a little."""
HIDDEN = 0.2
"""A ply that no scan saw costs somewhat more."""
BLIND = 1.0
"""A ply of which only the departure was reported."""
LEFT_AGAIN = 0.3
"""The same if something has been lifted since from where it ended."""


def since_mask(times: Sequence[float], mask: int, after: float) -> int:
    """The squares of `mask` whose time is `after` or later."""
    return sum(1 << bit for bit in bits(mask) if times[bit] >= after)


def blind(board: Observed, departure: int, arrival: int) -> float:
    """What it costs to believe in a ply between these squares (numbers of bits) whose arrival was not reported."""
    return LEFT_AGAIN if board.lifted_at[arrival] > board.changed_at[departure] else BLIND


class Node:
    """A position in a rival game."""

    __slots__ = ("black", "key", "lingering", "masks", "occupied", "trail", "turn", "white")

    def __init__(
        self, masks: Sequence[int], turn: Side, key: Hashable, lingering: int = 0, trail: tuple[int, int] | None = None
    ) -> None:
        half = len(masks) // 2
        self.masks = masks
        self.turn = turn
        self.key = key
        self.white = self.black = 0
        for mask in masks[:half]:
            self.white |= mask
        for mask in masks[half:]:
            self.black |= mask
        self.occupied = self.white | self.black
        self.lingering = lingering
        """Squares of men that the last ply captured and that are taken off by hand."""
        self.trail = trail
        """Where the last ply began and ended, as numbers of bits; None at the start."""

    @property
    def own(self) -> int:
        """Squares of the side to move."""
        return self.white if self.turn == "white" else self.black

    @property
    def other(self) -> int:
        return self.black if self.turn == "white" else self.white

    def difference(self, board: Observed) -> int:
        """The squares on which the board contradicts this position."""
        if not board.pieces_known:
            return self.occupied ^ board.occupied
        differing = 0
        for expected, seen in zip(self.masks, board.masks, strict=True):
            differing |= expected ^ seen
        if board.unknown:
            differing = (differing & ~board.unknown) | (board.unknown & ~self.occupied)
        return differing

    def contradiction(self, board: Observed) -> float:
        """How much the board contradicts this position, in squares, 0 to `MOST`."""
        differing = self.difference(board) & ~board.excused
        if not differing:
            return 0.0
        own = self.own
        missing = differing & ~board.occupied
        standing = differing & board.occupied
        lingering = standing & self.lingering
        uncrowned = self.uncrowned(board) & standing
        wrong = standing & ~lingering & ~uncrowned
        # Where another piece of the mover is gone, that one made the ply.
        unreported = self.unreported(wrong, board) if wrong and not missing & ~own else 0
        wrong &= ~unreported
        cost = (
            MISSING_OWN * (missing & own).bit_count()
            + MISSING_OTHER * (missing & ~own).bit_count()
            + EXTRA * wrong.bit_count()
            + LINGERING * lingering.bit_count()
            + UNCROWNED * uncrowned.bit_count()
            + UNREPORTED * unreported.bit_count()
        )
        return min(cost, MOST)

    def unreported(self, wrong: int, board: Observed) -> int:
        """Of these squares those from which the piece of the last ply left unheard.

        It stood there before it arrived where it is now: at the beginning, or where it stopped on its way. A pawn that
        still stands beside the queen it becomes is another matter: the queen comes from beside the board.
        """
        if self.trail is None:
            return 0
        begin, end = self.trail
        arrived, left = board.changed_at[end] - SCAN_GRACE, board.lifted_at[begin]
        found = 0
        for bit in bits(wrong):
            at = board.changed_at[bit]
            if at < arrived and (bit == begin or left <= at) and board.piece(bit) == board.piece(end):
                found |= 1 << bit
        return found

    def unheard(self, board: Observed) -> int:
        """The squares of `unreported` among all that contradict this position and are not excused."""
        return self.unreported(self.difference(board) & board.occupied & ~board.excused, board)

    def uncrowned(self, board: Observed) -> int:
        """Squares where a man stands for a king; chess has none."""
        return 0

    def after(self, ply: Any, *, legal: bool = True) -> Node:
        """The position after `ply`."""
        raise NotImplementedError

    def ceremony(self, board: Observed) -> bool:
        """Whether what is done on the board is a sign, not play: in chess both kings are being carried."""
        return False

    def permits(self, ply: Any) -> bool:
        """Whether `ply` is legal."""
        raise NotImplementedError

    def allows(self, departure: int, arrival: int) -> bool:
        """Whether a legal ply goes from one square to the other, both as numbers of bits."""
        raise NotImplementedError

    def allows_again(self, departure: int, arrival: int) -> bool:
        """Whether the side that has just moved could go from one square to the other if it were to move again."""
        raise NotImplementedError

    def carried(self, ply: Any, board: Observed) -> bool:
        """Whether `ply`, played from here, was no ply but the first half of a sign: then the other king followed."""
        return False

    def plies(self, board: Observed, departures: int) -> Iterator[Any]:
        """Legal plies from these squares; promotions only to what the board shows."""
        raise NotImplementedError

    def extensions(self, board: Observed, since: float) -> Iterator[Extension]:
        """Legal plies whose arrival the board shows, changed no earlier than `since` (with the scan's grace)."""
        raise NotImplementedError

    def hidden(self, board: Observed, since: float) -> Iterator[Extension]:
        """Legal plies whose piece has left and was taken again on its arrival square before any scan saw it."""
        raise NotImplementedError

    def retakes(self, ply: Any, reply: Any) -> bool:
        """Whether `reply` takes the piece that `ply` brought."""
        raise NotImplementedError

    def doubtful(self, board: Observed, since: float) -> Iterator[Extension]:
        """Legal plies of which the board reported only the departure, or misread the piece."""
        raise NotImplementedError

    def amended(self, ply: Any, board: Observed) -> Any | None:
        """What `ply`, played from here and pressed on, really was, if the board shows that it broke the rules."""
        return None

    def irregular(self, board: Observed) -> Any | None:
        """The one ply against the rules that would lead to what stands: a piece of the side to move, from a to b."""
        raise NotImplementedError

    def ply_state(self, ply: Any) -> Any:
        """A ply from here as a plain JSON value."""
        raise NotImplementedError

    def ply_from(self, state: Any) -> Any:
        """Undo `ply_state`."""
        raise NotImplementedError

    def farther(self, ply: Any) -> bool:
        """Whether the piece could still go on in the same direction, or in the same capture."""
        raise NotImplementedError

    def half_castled(self, board: Observed) -> Any | None:
        """The king's half of a castling, if that is all that differs; draughts has none."""
        return None

    def begins_castling(self, ply: Any) -> bool:
        """Whether `ply` is a rook's move that may become a castling; draughts has none."""
        return False

    def finished(self, ply: Any, board: Observed) -> bool:
        """Whether the board shows all of `ply`, played from here: both pieces of a castling, no victim left."""
        raise NotImplementedError
