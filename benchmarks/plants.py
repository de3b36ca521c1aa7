"""Irregularities planted in real games at random: how many are found, and how soon.

    python -m benchmarks.plants                     200 plants over all kinds that hands and clock can commit
    python -m benchmarks.plants --only touch_move --plants 20 --show

A game is played by simulated hands up to a random ply; then the player to move does what the kind is about, and the
clock runs on for a while. Found is what is raised after the deed, on the right side; the delay counts from the moment
at which it was complete: the press, the touch, or the time from which it can be known.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

import chess

from benchmarks.games import NoGamesError, chess_game, draughts_game
from benchmarks.reconstruction import EPOCH, follow, quantile
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.draughts import Ply, Position
from gateway.events import OTHER, Alert, Piece, Side, Square
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board, drawn_board
from gateway.simulate.habits import STANDARD, Habits
from gateway.simulate.hand import Act, Change, ClockSwitch, Performance, Players, Press
from gateway.simulate.score import Score
from gateway.table import Table

AFTER = 45.0
"""Seconds that the clock runs on after the deed."""
CLEAN = Habits(forgotten_press=0.0)
T = TypeVar("T")


AT_THE_START = ("play_without_clock",)
"""Kinds that are committed before the first ply."""


class NotHereError(Exception):
    """The kind cannot be committed in this position."""


class Deed:
    """What the player to move does, as acts from a moment on."""

    def __init__(self, score: Score, at: float, rng: Random) -> None:
        self.at = at + rng.uniform(3.0, 8.0)
        self.rng = rng
        self.acts: list[Act] = []
        self.fen = score.plies[-1].fen if score.plies else score.start_fen
        self.pieces: dict[Square, Piece] = dict(score.plies[-1].after if score.plies else score.start)
        self.side: Side = OTHER[score.plies[-1].side] if score.plies else "white"
        self.known = 0.0
        """When it was complete."""

    # --- what hands can do --------------------------------------------------------------------------------------

    def wait(self, seconds: float) -> None:
        self.at += seconds

    def lift(self, square: Square) -> Piece:
        self.at += self.rng.uniform(0.35, 0.7)
        self.acts.append(Change(self.at, square, None))
        return self.pieces.pop(square)

    def place(self, piece: Piece, square: Square) -> None:
        self.at += self.rng.uniform(0.4, 1.0)
        self.acts.append(Change(self.at, square, piece))
        self.pieces[square] = piece
        self.known = self.at

    def carry(self, origin: Square, target: Square) -> None:
        piece = self.lift(origin)
        if target in self.pieces:
            self.lift(target)
        self.place(piece, target)

    def press(self, side: Side | None = None) -> None:
        self.at += self.rng.uniform(0.4, 0.9)
        self.acts.append(Press(self.at, side or self.side))
        self.known = self.at

    def stop(self) -> None:
        self.at += 1.0
        self.acts.append(ClockSwitch(self.at, "stop"))
        self.known = self.at

    # --- what the position offers -------------------------------------------------------------------------------

    @property
    def board(self) -> chess.Board:
        return chess.Board(self.fen)

    @property
    def position(self) -> Position:
        return Position.from_fen(self.fen)

    def one(self, choices: Iterator[T]) -> T:
        found = list(choices)
        if not found:
            raise NotHereError
        return self.rng.choice(found)

    def mine(self, kinds: str) -> Iterator[Square]:
        wanted = kinds.upper() if self.side == "white" else kinds.lower()
        return (square for square, piece in self.pieces.items() if piece in wanted)

    def free(self) -> Iterator[Square]:
        names = map(str, range(1, 51)) if ":" in self.fen else chess.SQUARE_NAMES
        return (square for square in names if square not in self.pieces)

    def quiet(self, kinds: str = "nbrqp", board: chess.Board | None = None) -> Iterator[chess.Move]:
        """Legal moves that take nothing, promote nothing and leave both kings alone."""
        board = board or self.board
        for move in board.legal_moves:
            letter = chess.piece_symbol(board.piece_type_at(move.from_square) or chess.PAWN)
            if letter in kinds and not board.is_capture(move) and not move.promotion and not board.gives_check(move):
                yield move

    def move(self, move: chess.Move) -> None:
        self.carry(chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square])

    def barred(self) -> tuple[Square, Square]:
        """A square of a piece and an empty one to which it may never go."""
        board = self.board
        board.legal_moves.count()
        pairs = [(a, b) for a in self.mine("nbr") for b in self.free()]
        attacked = [
            (a, b)
            for a, b in pairs
            if chess.Move.from_uci(a + b) not in board.pseudo_legal_moves and not board.is_check()
        ]
        return self.one(pair for pair in attacked if not self._exposes(pair))

    def _exposes(self, pair: tuple[Square, Square]) -> bool:
        board = self.board
        board.set_piece_at(chess.parse_square(pair[1]), board.remove_piece_at(chess.parse_square(pair[0])))
        return board.is_check()


Planted = Callable[[Deed], Side | None]
CHESS: dict[str, Planted] = {}
DRAUGHTS: dict[str, Planted] = {}


def chess_deed(deed: Planted) -> Planted:
    """List a deed by its name, which is the kind's."""
    CHESS[deed.__name__] = deed
    return deed


def draughts_deed(deed: Planted) -> Planted:
    """The same for draughts."""
    DRAUGHTS[deed.__name__.removesuffix("_")] = deed
    return deed


# --- chess ------------------------------------------------------------------------------------------------------


@chess_deed
def illegal_move(deed: Deed) -> Side:
    deed.carry(*deed.barred())
    deed.press()
    return deed.side


@chess_deed
def king_left_in_check(deed: Deed) -> Side:
    board = deed.board
    exposing = (m for m in board.pseudo_legal_moves if not board.is_legal(m) and not m.promotion)
    deed.move(deed.one(m for m in exposing if not board.is_castling(m) and not board.is_en_passant(m)))
    deed.press()
    return deed.side


@chess_deed
def moved_out_of_turn(deed: Deed) -> Side:
    board = deed.board
    board.turn = not board.turn
    board.ep_square = None
    if not board.is_valid():
        raise NotHereError
    deed.move(deed.one(deed.quiet(board=board)))
    return OTHER[deed.side]


@chess_deed
def two_pieces_moved(deed: Deed) -> Side:
    first = deed.one(deed.quiet("nbr"))
    second = deed.one(m for m in deed.quiet("nbrp") if len({m.from_square, m.to_square, first.from_square,
                                                             first.to_square}) == 4)  # fmt: skip
    deed.move(first)
    deed.move(second)
    deed.press()
    return deed.side


@chess_deed
def piece_removed_without_capture(deed: Deed) -> Side:
    move = deed.one(deed.quiet("nbr"))
    deed.move(move)
    deed.lift(deed.one(s for s in deed.mine("nbrp") if s != chess.SQUARE_NAMES[move.to_square]))
    deed.press()
    return deed.side


@chess_deed
def extra_piece(deed: Deed) -> Side | None:
    move = deed.one(deed.quiet("np"))
    deed.move(move)
    deed.press()
    deed.wait(1.5)
    deed.place("Q" if deed.side == "white" else "q", deed.one(s for s in deed.free() if s[1] in "3456"))
    return OTHER[deed.side]


@chess_deed
def displaced_piece(deed: Deed) -> None:
    """Two pieces of the player who is not to move are found elsewhere; nobody presses."""
    theirs = [s for s, p in deed.pieces.items() if p.isupper() != (deed.side == "white") and p.lower() in "nbr"]
    if len(theirs) < 2:
        raise NotHereError
    for square in deed.rng.sample(theirs, 2):
        deed.carry(square, deed.one(s for s in deed.free() if s[1] in "3456"))


@chess_deed
def castling_incomplete(deed: Deed) -> Side:
    deed.move(deed.one(iter(deed.board.generate_castling_moves())))
    deed.press()
    return deed.side


@chess_deed
def clock_pressed_without_move(deed: Deed) -> Side:
    deed.press()
    return deed.side


@chess_deed
def clock_pressed_before_move_completed(deed: Deed) -> Side:
    move = deed.one(deed.quiet())
    piece = deed.lift(chess.SQUARE_NAMES[move.from_square])
    deed.press()
    deed.wait(0.5)
    deed.place(piece, chess.SQUARE_NAMES[move.to_square])
    return deed.side


@chess_deed
def move_without_clock_press(deed: Deed) -> Side:
    deed.move(deed.one(deed.quiet()))
    return deed.side


@chess_deed
def both_clocks_stopped(deed: Deed) -> None:
    deed.stop()


@chess_deed
def wrong_clock_running(deed: Deed) -> None:
    deed.stop()
    deed.wait(8.0)
    deed.acts.append(ClockSwitch(deed.at, "start", OTHER[deed.side]))
    deed.known = deed.at


@chess_deed
def play_without_clock(deed: Deed) -> None:
    """Nobody starts the clock; after a stop the reader takes what is moved for analysis."""
    board = deed.board
    for _ in range(2):
        move = deed.one(deed.quiet("np", board))
        deed.move(move)
        board.push(move)
        deed.wait(3.0)
    deed.known = deed.at - 3.0


@chess_deed
def touch_move(deed: Deed) -> Side:
    first = deed.one(deed.quiet("nbr"))
    square = chess.SQUARE_NAMES[first.from_square]
    piece = deed.lift(square)
    deed.wait(2.5)
    deed.place(piece, square)
    deed.wait(1.5)
    deed.move(deed.one(m for m in deed.quiet() if m.from_square != first.from_square))
    deed.press()
    return deed.side


@chess_deed
def move_taken_back(deed: Deed) -> Side:
    move = deed.one(deed.quiet("nbr"))
    deed.move(move)
    deed.wait(2.5)
    deed.carry(chess.SQUARE_NAMES[move.to_square], chess.SQUARE_NAMES[move.from_square])
    deed.wait(1.5)
    deed.move(deed.one(m for m in deed.quiet() if m.from_square != move.from_square))
    deed.press()
    return deed.side


@chess_deed
def kings_result_signal(deed: Deed) -> None:
    deed.stop()
    for square, piece in list(deed.pieces.items()):
        if square in ("d4", "e4", "d5", "e5"):
            deed.lift(square)
        del piece
    for letter, target in (("K", "e4"), ("k", "d5")):
        origin = next((s for s, p in deed.pieces.items() if p == letter), None)
        if origin is None:
            raise NotHereError
        deed.carry(origin, target)


# --- draughts ---------------------------------------------------------------------------------------------------


def _take(deed: Deed, ply: Ply, *, leave: int = 0, path: int | None = None) -> None:
    """Carry out a capture, and leave the last few men standing."""
    squares = ply.path if path is None else ply.path[: path + 1]
    piece = deed.lift(str(ply.departure))
    for square in squares[1:-1]:
        deed.place(piece, str(square))
        deed.lift(str(square))
    deed.place(piece, str(squares[-1]))
    captured = ply.captured[: len(ply.captured) - leave] if path is None else ply.captured[:path]
    for square in captured:
        deed.lift(str(square))


def _captures(deed: Deed, least: int = 1) -> Iterator[Ply]:
    position = deed.position
    return (p for p in position.legal_plies() if len(p.captured) >= least and p.departure != p.arrival)


@draughts_deed
def capture_ignored(deed: Deed) -> Side:
    position = deed.position
    if not position.captures():
        raise NotHereError
    quiet = deed.one(iter(position.quiet_plies()))
    deed.carry(str(quiet.departure), str(quiet.arrival))
    deed.press()
    return deed.side


@draughts_deed
def captured_men_not_removed(deed: Deed) -> Side:
    _take(deed, deed.one(_captures(deed)), leave=1)
    deed.press()
    return deed.side


@draughts_deed
def wrong_men_removed(deed: Deed) -> Side:
    ply = deed.one(_captures(deed))
    _take(deed, ply)
    theirs = "b" if deed.side == "white" else "w"
    deed.lift(deed.one(s for s, p in deed.pieces.items() if p == theirs))
    deed.press()
    return deed.side


@draughts_deed
def capture_stopped_early(deed: Deed) -> Side:
    ply = deed.one(p for p in _captures(deed, 2))
    _take(deed, ply, path=1)
    deed.press()
    return deed.side


@draughts_deed
def illegal_move_(deed: Deed) -> Side:
    if deed.position.captures():
        raise NotHereError
    ends = {(p.departure, p.arrival) for p in deed.position.legal_plies()}
    man = deed.one(deed.mine("w" if deed.side == "white" else "b"))
    far = (s for s in deed.free() if 16 <= int(s) <= 35 and (int(man), int(s)) not in ends)
    deed.carry(man, deed.one(far))
    deed.press()
    return deed.side


@draughts_deed
def piece_removed_without_capture_(deed: Deed) -> Side:
    quiet = deed.one(iter([] if deed.position.captures() else deed.position.legal_plies()))
    deed.carry(str(quiet.departure), str(quiet.arrival))
    own = "w" if deed.side == "white" else "b"
    deed.lift(deed.one(s for s, p in deed.pieces.items() if p == own and s != str(quiet.arrival)))
    deed.press()
    return deed.side


@draughts_deed
def clock_pressed_without_move_(deed: Deed) -> Side:
    deed.press()
    return deed.side


@draughts_deed
def two_pieces_moved_(deed: Deed) -> Side:
    if deed.position.captures():
        raise NotHereError
    plies = deed.position.legal_plies()
    first = deed.one(iter(plies))
    ends = {first.departure, first.arrival}
    second = deed.one(p for p in plies if not ends & {p.departure, p.arrival})
    for ply in (first, second):
        deed.carry(str(ply.departure), str(ply.arrival))
    deed.press()
    return deed.side


# --- planting ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What became of one plant."""

    kind: str
    delay: float | None
    said: tuple[str, ...]
    fen: str


def plant(game: str, kind: str, deed: Planted, seed: int) -> Result:
    """Plant one, at the first place from a random one on where it can be committed."""
    rng = Random(f"{game}/{kind}/{seed}")
    for _ in range(400):
        whole = (draughts_game if game == "draughts" else chess_game)(rng.randrange(10_000))
        plies = 0 if kind in AT_THE_START else rng.randrange(8, max(9, min(60, len(whole.plies) - 1)))
        score = replace(whole, plies=whole.plies[:plies])
        players = Players(score, STANDARD, CLEAN, rng)
        at = players.play(rng.uniform(2.0, 6.0)) if plies else 0.0
        done = Deed(score, at, rng)
        try:
            side = deed(done)
        except NotHereError:
            continue
        return _judged(game, kind, side, score, players, done, rng)
    raise RuntimeError(f"no place for {kind}")


def _judged(game: str, kind: str, side: Side | None, score: Score, players: Players, done: Deed, rng: Random) -> Result:
    acts = sorted([*players.acts, *done.acts], key=lambda act: act.at)
    truth = [players.truth]
    performance = Performance(dict(score.start), acts, truth, done.at + AFTER, STANDARD.base, STANDARD.increment)
    trace = Board(drawn_board(CLASSIC, rng), performance, score.game, rng).trace(
        ClockModel(STANDARD.base, STANDARD.increment)
    )
    regulations = "fmjd-standard" if game == "draughts" else "fide-standard"
    control = f"{STANDARD.base:g}+{STANDARD.increment:g}"
    config = TableConfig("1", score.game, BoardConfig("dgt"), ClockConfig(), regulations=regulations,
                         time_control=control)  # fmt: skip
    raised = [
        (at, numbered.event)
        for at, numbered in follow(Table(config, "bench", EPOCH), trace).published
        if isinstance(numbered.event, Alert) and numbered.event.state == "raised" and at > done.acts[0].at - 0.1
    ]
    fitting = [at for at, alert in raised if alert.irregularity == kind and side in (None, alert.side)]
    said = tuple(f"{alert.irregularity} of {alert.side} at {at - done.known:+.1f}" for at, alert in raised)
    return Result(kind, fitting[0] - done.known if fitting else None, said, done.fen)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--only", default="", help="kinds whose name begins with this")
    parser.add_argument("--show", action="store_true", help="say of each one that was missed what was raised instead")
    arguments = parser.parse_args()
    deeds = [(game, kind, deed) for game, kinds in (("chess", CHESS), ("draughts", DRAUGHTS))
             for kind, deed in kinds.items() if kind.startswith(arguments.only)]  # fmt: skip
    delays: dict[tuple[str, str], list[float]] = defaultdict(list)
    tried: dict[tuple[str, str], int] = defaultdict(int)
    try:
        for number in range(arguments.plants):
            game, kind, deed = deeds[number % len(deeds)]
            result = plant(game, kind, deed, arguments.first + number // len(deeds))
            tried[game, kind] += 1
            if result.delay is not None:
                delays[game, kind].append(result.delay)
            elif arguments.show:
                print(f"missed: {game} {kind}, {result.fen}: {', '.join(result.said) or 'nothing'}", flush=True)
    except NoGamesError as error:
        parser.exit(66, f"{error}\n")
    print("| game | kind | found | seconds, median and most |\n|---|---|---|---|")
    for (game, kind), number in tried.items():
        found = delays[game, kind]
        times = f"{quantile(found, 0.5):.1f}, {max(found, default=0):.1f}"
        print(f"| {game} | `{kind}` | {len(found)} of {number} | {times} |")
    total = sum(map(len, delays.values()))
    print(f"\n{total} of {arguments.plants} found: {100 * total / arguments.plants:.1f} %")


if __name__ == "__main__":
    main()
