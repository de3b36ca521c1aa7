"""International draughts (10x10): positions, legal plies, FEN and PDN notation, the counts that draw a game.

Articles are those of FMJD Annex 1 (A1). Squares are numbers 1..50 from Black's side, left to right as White sees it.

The tricky idea is the bitboard. Square `s` is bit ``s - 1 + (s - 1) // 10``: after every second row one bit stays
empty, so that the four neighbours of *any* square lie 5 and 6 bits away, and a step over the edge of the board lands
on an empty bit or off the board. One shift then moves all men at once, and a few shifts tell whether any man can
capture. 54 bits fit an int of two digits; quiet plies are made once, at import, and shared.

Captures are searched over states (square reached, pieces not yet jumped), not over paths: what may follow depends on
nothing else. So the same pieces taken on the way to the same square count once, as in PDN, and a king that can go
round a block of men in a thousand ways costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.events import Piece, Side

Bitboard = int

SQUARES: Final = range(1, 51)
BIT: Final[tuple[Bitboard, ...]] = (0, *(1 << (s - 1 + (s - 1) // 10) for s in SQUARES))
"""The bit of a square number; BIT[0] is no square."""
BIT_NUMBER: Final[tuple[int, ...]] = tuple(bit.bit_length() - 1 for bit in BIT)
"""Which bit that is, counted from 0."""
BOARD: Final[Bitboard] = sum(BIT)
WHITE_HOME: Final[Bitboard] = sum(BIT[46:51])
BLACK_HOME: Final[Bitboard] = sum(BIT[1:6])

_BY_LENGTH: Final = {BIT[s].bit_length(): s for s in SQUARES}
_STEPS: Final = (-6, -5, 5, 6)


class InvalidPlyError(ValueError):
    """The text is no notation of a ply."""


class IllegalPlyError(ValueError):
    """The text names a ply that the position does not allow."""


class AmbiguousPlyError(ValueError):
    """The text fits more than one legal ply."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One half-move."""

    path: tuple[int, ...]
    """Departure, every landing square, arrival. Two squares where nothing is captured."""
    captured: tuple[int, ...] = ()
    """Squares of the captured pieces in order of jumping."""
    promotes: bool = False
    """A man stops on the far row and is a king from then on (A1 3.5); passing it in a capture does not count (4.15)."""

    @property
    def departure(self) -> int:
        return self.path[0]

    @property
    def arrival(self) -> int:
        return self.path[-1]


def squares_of(bits: Bitboard) -> Iterator[int]:
    """The square numbers of a bitboard, ascending."""
    while bits:
        low = bits & -bits
        bits ^= low
        yield _BY_LENGTH[low.bit_length()]


# --- tables, made once ------------------------------------------------------------------------------------------


def _ray(square: int, step: int) -> tuple[int, ...]:
    """The squares from `square` (left out) to the edge."""
    squares = []
    place = BIT[square].bit_length() + step
    while place in _BY_LENGTH:
        squares.append(_BY_LENGTH[place])
        place += step
    return tuple(squares)


_RAYS: Final = ((), *(tuple(_ray(s, step) for step in _STEPS) for s in SQUARES))

_MAN_STEPS: Final = {
    step: {
        BIT[ray[0]].bit_length(): Ply((s, ray[0]), (), bool(BIT[ray[0]] & (BLACK_HOME if step < 0 else WHITE_HOME)))
        for s in SQUARES
        for ray in [_ray(s, step)]
        if ray
    }
    for step in _STEPS
}
"""step -> place of the arrival -> ply of a man."""

_KING_STEPS: Final = (
    (),
    *(tuple(tuple((BIT[t], Ply((s, t))) for t in ray) for ray in _RAYS[s] if ray) for s in SQUARES),
)
"""square -> for each ray, nearest first: bit of the arrival, ply."""

_MAN_JUMPS: Final = (
    (),
    *(tuple((BIT[ray[0]], ray[0], BIT[ray[1]], ray[1]) for ray in _RAYS[s] if len(ray) > 1) for s in SQUARES),
)
"""square -> bit and square jumped over, bit and square of landing."""

_KING_RAYS: Final = ((), *(tuple(tuple((BIT[t], t) for t in ray) for ray in _RAYS[s] if len(ray) > 1) for s in SQUARES))
"""square -> for each ray with room for a jump, nearest first: bit, square."""


# --- the position -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Position:
    """What stands where, and whose turn it is. Any arrangement can be held; `fault` says whether it can be played."""

    white_men: Bitboard
    white_kings: Bitboard
    black_men: Bitboard
    black_kings: Bitboard
    turn: Side = "white"

    @classmethod
    def start(cls) -> Position:
        """Black men on 1-20, White's on 31-50, White to move (A1 2.8)."""
        return cls(sum(BIT[31:]), 0, sum(BIT[1:21]), 0, "white")

    @classmethod
    def from_pieces(cls, pieces: Mapping[str, Piece], turn: Side) -> Position:
        """Make a position of square -> ``w b W B``.

        Raises:
            ValueError: a square or a piece that draughts does not have.
        """
        boards = dict.fromkeys("wWbB", 0)
        for square, piece in pieces.items():
            if piece not in boards:
                raise ValueError(f"{piece!r} on {square} is no piece of draughts (w, W, b or B)")
            boards[piece] |= BIT[_square(square)]
        return cls(boards["w"], boards["W"], boards["b"], boards["B"], turn)

    @classmethod
    def from_fen(cls, fen: str) -> Position:
        """Read a FEN: ``W:W31,32,K46:B1,K5``; either colour first, any order, blanks, ranges, a dot at the end.

        Raises:
            ValueError: what is wrong with it, as a sentence.
        """
        fields = re.sub(r"\s", "", fen).removesuffix(".").upper().split(":")
        if len(fields) != 3 or fields[0] not in ("W", "B") or {f[:1] for f in fields[1:]} != {"W", "B"}:
            raise ValueError(f"{fen!r} is no FEN of draughts such as W:W31,32,K46:B1,K5")
        pieces: dict[str, Piece] = {}
        for field in fields[1:]:
            for square, king in _fen_squares(field[1:]):
                if square in pieces:
                    raise ValueError(f"square {square} is taken twice in {fen!r}")
                pieces[square] = field[0] if king else field[0].lower()
        return cls.from_pieces(pieces, "white" if fields[0] == "W" else "black")

    def fen(self) -> str:
        """The position as ``W:W31,32,K46:B1,K5``, squares ascending, no ranges."""
        return f"{self.turn[0].upper()}:{self.placement()}"

    def placement(self) -> str:
        """The pieces alone: ``W31,32,K46:B1,K5``."""
        return f"W{_fen_list(self.white_men, self.white_kings)}:B{_fen_list(self.black_men, self.black_kings)}"

    def pieces(self) -> dict[str, Piece]:
        """Square -> ``w b`` (men) ``W B`` (kings), squares ascending."""
        found = dict.fromkeys(squares_of(self.white_men), "w")
        found |= dict.fromkeys(squares_of(self.white_kings), "W")
        found |= dict.fromkeys(squares_of(self.black_men), "b")
        found |= dict.fromkeys(squares_of(self.black_kings), "B")
        return {str(s): found[s] for s in sorted(found)}

    def piece_at(self, square: int) -> Piece | None:
        """What stands on `square`."""
        bit = BIT[square]
        if self.white_men & bit:
            return "w"
        if self.black_men & bit:
            return "b"
        if self.white_kings & bit:
            return "W"
        return "B" if self.black_kings & bit else None

    @property
    def occupied(self) -> Bitboard:
        """All squares that are taken."""
        return self.white_men | self.white_kings | self.black_men | self.black_kings

    def with_turn(self, turn: Side) -> Position:
        """The same pieces with `turn` to move."""
        return Position(self.white_men, self.white_kings, self.black_men, self.black_kings, turn)

    def fault(self) -> str | None:
        """Why this position cannot occur in a game, as a sentence; None if it can."""
        for side, men, kings, far in (
            ("White", self.white_men, self.white_kings, BLACK_HOME),
            ("Black", self.black_men, self.black_kings, WHITE_HOME),
        ):
            if (men | kings).bit_count() > 20:
                return f"{side} has more than 20 pieces."
            for square in squares_of(men & far):
                return f"{side}'s man on {square} would be a king (A1 3.5)."
        return None if self.occupied else "The board is empty."

    # --- plies --------------------------------------------------------------------------------------------------

    def legal_plies(self) -> list[Ply]:
        """The plies that A1 articles 3 and 4 allow; a capture, if there is one, that takes the most pieces (4.13).

        Captures that take the same pieces on the way to the same square are one ply; its path is one of those that it
        can have, and lands behind the pieces as near as possible.
        """
        captures = self.captures()
        if not captures:
            return self.quiet_plies()
        most = max(len(ply.captured) for ply in captures)
        return [ply for ply in captures if len(ply.captured) == most]

    def quiet_plies(self) -> list[Ply]:
        """Plies without capture, as if capturing were not compulsory (A1 3.4, 3.9)."""
        empty = BOARD & ~self.occupied
        plies: list[Ply] = []
        if self.turn == "white":
            men, kings = self.white_men, self.white_kings
            steps = ((-6, (men >> 6) & empty), (-5, (men >> 5) & empty))
        else:
            men, kings = self.black_men, self.black_kings
            steps = ((5, (men << 5) & empty), (6, (men << 6) & empty))
        for step, arrivals in steps:
            table = _MAN_STEPS[step]
            while arrivals:
                low = arrivals & -arrivals
                arrivals ^= low
                plies.append(table[low.bit_length()])
        for square in squares_of(kings):
            for ray in _KING_STEPS[square]:
                for bit, ply in ray:
                    if not empty & bit:
                        break
                    plies.append(ply)
        return plies

    def captures(self) -> list[Ply]:
        """Every capture that ends where it cannot go on, also if another takes more pieces (A1 4.5 without 4.13)."""
        return [ply for ply, goes_on in self._capture_states() if not goes_on]

    def unfinished_captures(self) -> list[Ply]:
        """Every capture broken off on a landing square from which it could go on (against A1 4.5).

        `promotes` says that the piece is a man and stands on the far row there.
        """
        return [ply for ply, goes_on in self._capture_states() if goes_on]

    def goes_on(self, ply: Ply) -> bool:
        """Whether a capture, broken off or complete, could take a further piece from where it ends."""
        left = self._opponents() & ~sum(BIT[s] for s in ply.captured)
        king = bool(BIT[ply.departure] & (self.white_kings | self.black_kings))
        return bool(_jumps(ply.arrival, king, left, self.occupied & ~BIT[ply.departure]))

    def capture_paths(self) -> Iterator[Ply]:
        """As `captures`, but by every path, however often the same pieces are taken: thousands in rare positions."""
        opponents, occupied = self._opponents(), self.occupied
        kings = self.white_kings | self.black_kings
        for start in squares_of(self._capturers(opponents, occupied)):
            king = bool(kings & BIT[start])
            around = occupied & ~BIT[start]
            stack: list[tuple[tuple[int, ...], tuple[int, ...], Bitboard]] = [((start,), (), opponents)]
            while stack:
                path, captured, left = stack.pop()
                jumps = _jumps(path[-1], king, left, around)
                if captured and not jumps:
                    yield Ply(path, captured, not king and self._is_far(path[-1]))
                stack += [((*path, land), (*captured, over), left ^ BIT[over]) for over, land in jumps]

    def after(self, ply: Ply) -> Position:
        """The position after `ply`, which is carried out as it says, also if it breaks the rules.

        Whatever stood on the arrival or on a captured square is gone, of either colour.

        Raises:
            ValueError: no piece of the side to move stands on the departure.
        """
        source, target = BIT[ply.path[0]], BIT[ply.path[-1]]
        keep = ~(source | target)
        for square in ply.captured:
            keep &= ~BIT[square]
        white_men, white_kings = self.white_men & keep, self.white_kings & keep
        black_men, black_kings = self.black_men & keep, self.black_kings & keep
        if self.turn == "white":
            if self.white_men & source and not ply.promotes:
                return Position(white_men | target, white_kings, black_men, black_kings, "black")
            if (self.white_men | self.white_kings) & source:
                return Position(white_men, white_kings | target, black_men, black_kings, "black")
        else:
            if self.black_men & source and not ply.promotes:
                return Position(white_men, white_kings, black_men | target, black_kings, "white")
            if (self.black_men | self.black_kings) & source:
                return Position(white_men, white_kings, black_men, black_kings | target, "white")
        raise ValueError(f"no piece of {self.turn} stands on {ply.path[0]} in {self.fen()}")

    def _opponents(self) -> Bitboard:
        return self.black_men | self.black_kings if self.turn == "white" else self.white_men | self.white_kings

    def _is_far(self, square: int) -> bool:
        return bool(BIT[square] & (BLACK_HOME if self.turn == "white" else WHITE_HOME))

    def _capturers(self, opponents: Bitboard, occupied: Bitboard) -> Bitboard:
        """The men that can capture, and all kings, which are cheaper to try than to test."""
        empty = BOARD & ~occupied
        men, kings = (self.white_men, self.white_kings) if self.turn == "white" else (self.black_men, self.black_kings)
        able = (
            (opponents << 5 & empty << 10)
            | (opponents << 6 & empty << 12)
            | (opponents >> 5 & empty >> 10)
            | (opponents >> 6 & empty >> 12)
        )
        return men & able | kings

    def _capture_states(self) -> list[tuple[Ply, bool]]:
        """Every state that capturing can reach, by its first path, and whether the capture goes on from it."""
        opponents, occupied = self._opponents(), self.occupied
        capturers = self._capturers(opponents, occupied)
        if not capturers:
            return []
        kings = self.white_kings | self.black_kings
        states: list[tuple[Ply, bool]] = []
        for start in squares_of(capturers):
            king = bool(kings & BIT[start])
            # The captor has left its square, and may come back to it; jumped pieces stay until the end (A1 4.6).
            around = occupied & ~BIT[start]
            seen: set[tuple[int, Bitboard]] = set()
            stack: list[tuple[tuple[int, ...], tuple[int, ...], Bitboard]] = [((start,), (), opponents)]
            while stack:
                path, captured, left = stack.pop()
                jumps = _jumps(path[-1], king, left, around)
                if captured:
                    states.append((Ply(path, captured, not king and self._is_far(path[-1])), bool(jumps)))
                for over, land in reversed(jumps):
                    still = left ^ BIT[over]
                    if (land, still) not in seen:
                        seen.add((land, still))
                        stack.append(((*path, land), (*captured, over), still))
        return states

    # --- notation -----------------------------------------------------------------------------------------------

    def notation(self, ply: Ply) -> str:
        """PDN of a legal ply: ``32-28``, ``19x30``; ``19x28x30`` only where two legal captures would read alike."""
        if not ply.captured:
            return f"{ply.departure}-{ply.arrival}"
        alike = [p for p in self.legal_plies() if p.departure == ply.departure and p.arrival == ply.arrival]
        return "x".join(map(str, ply.path if len(alike) > 1 else (ply.departure, ply.arrival)))

    def parse(self, text: str) -> Ply:
        """Read PDN: ``32-28``, ``19x30``, ``19x28x30``.

        Where more than two squares are given, those between may be landing squares (all, or as many as are needed)
        or the captured squares; some programs write these after the arrival. A capture may be written with hyphens.
        The ply returned takes the path that the text names.

        Raises:
            InvalidPlyError: the text is no notation of a ply.
            IllegalPlyError: no legal ply reads like this.
            AmbiguousPlyError: several do.
        """
        if not _PLY.fullmatch(text):
            raise InvalidPlyError(f"{text!r} is no ply of draughts such as 32-28 or 19x30")
        squares = tuple(int(number) for number in re.findall(r"\d+", text))
        if not all(square in SQUARES for square in squares):
            raise InvalidPlyError(f"{text!r} names a square that is not between 1 and 50")
        plies = [p for p in self.legal_plies() if p.departure == squares[0] and (p.captured or "-" in text)]
        for readings in (
            [way for p in plies if p.arrival == squares[-1] and (way := self._by_way_of(p, squares[1:-1])) is not None],
            [p for p in plies if p.arrival == squares[-1] and sorted(p.captured) == sorted(squares[1:-1])],
            [p for p in plies if p.arrival == squares[1] and sorted(p.captured) == sorted(squares[2:])],
        ):
            if len(readings) > 1:
                choice = " or ".join("x".join(map(str, p.path)) for p in readings)
                raise AmbiguousPlyError(f"{text} may be {choice} in {self.fen()}")
            if readings:
                return readings[0]
        raise IllegalPlyError(f"{text} is not legal in {self.fen()}")

    def _by_way_of(self, ply: Ply, squares: tuple[int, ...]) -> Ply | None:
        """The capture `ply` made by a path that lands on `squares`, in this order; None if there is no such path."""
        if not squares:
            return ply
        king = bool(BIT[ply.departure] & (self.white_kings | self.black_kings))
        around = self.occupied & ~BIT[ply.departure]
        pieces = sum(BIT[s] for s in ply.captured)
        seen: set[tuple[int, Bitboard, int]] = set()
        stack: list[tuple[tuple[int, ...], tuple[int, ...], Bitboard, int]] = [((ply.departure,), (), pieces, 0)]
        while stack:
            path, captured, left, passed = stack.pop()
            if not left and path[-1] == ply.arrival and passed == len(squares):
                return Ply(path, captured, ply.promotes)
            for over, land in _jumps(path[-1], king, left, around):
                state = (land, left ^ BIT[over], passed + (squares[passed : passed + 1] == (land,)))
                if state not in seen:
                    seen.add(state)
                    stack.append(((*path, land), (*captured, over), *state[1:]))
        return None


def _jumps(square: int, king: bool, left: Bitboard, occupied: Bitboard) -> list[tuple[int, int]]:
    """The single jumps from `square`: piece jumped over, landing. `left` are pieces that may still be jumped."""
    jumps: list[tuple[int, int]] = []
    if not king:
        for over_bit, over, land_bit, land in _MAN_JUMPS[square]:
            if left & over_bit and not occupied & land_bit:
                jumps.append((over, land))
        return jumps
    for ray in _KING_RAYS[square]:
        victim = 0
        for bit, place in ray:
            if not occupied & bit:
                if victim:
                    jumps.append((victim, place))
            elif victim or not left & bit:
                break
            else:
                victim = place
    return jumps


# --- notation ---------------------------------------------------------------------------------------------------

_PLY: Final = re.compile(r"\d{1,2}(-\d{1,2}|([x:*-]\d{1,2})+)", re.IGNORECASE)
_FEN_ITEM: Final = re.compile(r"(K?)(\d{1,2})(?:-(\d{1,2}))?")


def _square(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number not in SQUARES:
        raise ValueError(f"{text} is no square between 1 and 50")
    return number


def _fen_squares(field: str) -> Iterator[tuple[str, bool]]:
    """The squares of one colour's list, and whether a king stands there."""
    for item in filter(None, field.split(",")):
        match = _FEN_ITEM.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r} is no square, king or range such as 31, K46 or 31-50")
        first = _square(match[2])
        last = _square(match[3] or match[2])
        if last < first:
            raise ValueError(f"the range {item} runs backwards")
        for square in range(first, last + 1):
            yield str(square), bool(match[1])


def _fen_list(men: Bitboard, kings: Bitboard) -> str:
    return ",".join(f"K{s}" if kings & BIT[s] else str(s) for s in squares_of(men | kings))


# --- counts that draw a game ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counters:
    """Plies that bring a draw nearer (A1 6.2 to 6.4), up to the position that they belong to.

    Counting of a material starts with the ply after the one that produced it; neither a man's move nor a promotion
    starts it again. When a capture turns three against one into two against one, both counts run on.
    """

    since_man_move_or_capture: int = 0
    """50 is a draw (6.2: 25 moves by each)."""
    since_3_v_1: int | None = None
    """Since three pieces, a king among them, stand against a lone king; 32 is a draw (6.3). None: they do not."""
    since_2_v_1: int | None = None
    """Since two pieces with a king, or one king, stand against a lone king; 10 is a draw (6.4). None: they do not."""

    @classmethod
    def start(cls, position: Position, record: Mapping[str, int] | None = None) -> Counters:
        """The counts at the start of a record; `record` holds what was counted before it.

        Its keys are ``plies_since_man_move_or_capture``, ``plies_since_material_3_v_1`` and
        ``plies_since_material_2_v_1``; what it leaves out is 0, or None where the material is another.
        """
        given = record or {}
        force = _against_lone_king(position)
        return cls(
            given.get("plies_since_man_move_or_capture", 0),
            given.get("plies_since_material_3_v_1", 0 if force == 3 else None),
            given.get("plies_since_material_2_v_1", 0 if force in (1, 2) else None),
        )

    def after(self, before: Position, ply: Ply, after: Position) -> Counters:
        """The counts after `ply`, which led from `before` to `after`."""
        man = (before.white_men | before.black_men) & BIT[ply.departure]
        force = _against_lone_king(after)
        return Counters(
            0 if man or ply.captured else self.since_man_move_or_capture + 1,
            _count(self.since_3_v_1, arisen=force == 3, lasting=force is not None),
            _count(self.since_2_v_1, arisen=force in (1, 2), lasting=force in (1, 2)),
        )


def _count(plies: int | None, *, arisen: bool, lasting: bool) -> int | None:
    if plies is not None and lasting:
        return plies + 1
    return 0 if arisen else None


def _against_lone_king(position: Position) -> int | None:
    """How many pieces, a king among them, stand against a lone king: 1 to 3; None for any other material."""
    white = position.white_men.bit_count(), position.white_kings.bit_count()
    black = position.black_men.bit_count(), position.black_kings.bit_count()
    for lone, (men, kings) in ((white, black), (black, white)):
        if lone == (0, 1) and kings and men + kings <= 3:
            return men + kings
    return None


def perft(position: Position, depth: int) -> int:
    """How many ways `depth` legal plies can be played from `position`: the usual proof of a move generator."""
    plies = position.legal_plies()
    if depth <= 1:
        return len(plies) if depth else 1
    return sum(perft(position.after(ply), depth - 1) for ply in plies)
