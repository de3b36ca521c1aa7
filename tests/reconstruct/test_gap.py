"""The board was away: plies that lead to what stands now, its own log, and what nothing explains."""

from __future__ import annotations

from typing import Any

import chess
import pytest
from sitting import Sitting

from gateway.draughts import Position
from gateway.events import LogEntry
from gateway.protocol import dgt
from gateway.reconstruct.gap import LONGEST, paths
from gateway.reconstruct.missed import missed_changes
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import geometry, node_of
from gateway.record import position_from_fen

START = chess.STARTING_FEN


def lines(before: str, moves: str, game: Any = "chess") -> list[list[str]]:
    """The shortest lines from a position to that after these moves."""
    position = position_from_fen(game, before)
    board = Observed(geometry(game))
    if game == "chess":
        after = chess.Board(before)
        for san in moves.split():
            after.push_san(san)
        pieces = position_from_fen("chess", after.fen()).pieces()
    else:
        there = Position.from_fen(before)
        for text in moves.split():
            there = there.after(there.parse(text))
        pieces = there.pieces()
    board.load(pieces, 0.0)
    found = paths(node_of(position), board)
    return [[ply.uci() if game == "chess" else f"{ply.departure}-{ply.arrival}" for ply in line] for line in found]


@pytest.mark.parametrize(
    ("expected", "moves"),
    [
        ([[]], ""),
        ([["e2e4"]], "e4"),
        ([["e2e4", "e7e5"]], "e4 e5"),
        ([["e2e4", "d7d5", "e4d5", "d8d5"]], "e4 d5 exd5 Qxd5"),
    ],
)
def test_paths(expected: list[list[str]], moves: str) -> None:
    """All shortest ones; nothing to explain is one line of no ply."""
    found = lines(START, moves) if moves else [[]]

    assert expected == found


def test_several_orders() -> None:
    """Two plies of each side may have been made in two orders each."""
    found = lines(START, "e4 e5 Nf3 Nc6")

    assert 4 == len(found)
    assert {frozenset(line) for line in found} == {frozenset(["e2e4", "e7e5", "g1f3", "b8c6"])}


def test_too_many_plies() -> None:
    """More than a few are not guessed at."""
    assert [] == lines(START, "e4 e5 Nf3 Nc6 Bc4 Bc5")
    assert 4 == LONGEST


def test_paths_of_draughts() -> None:
    """Captures among them."""
    start = Position.start().fen()

    assert [["32-28", "19-23", "28-19", "14-23"]] == lines(start, "32-28 19-23 28x19 14x23", "draughts")


def away(moves: str, gone: str, end: float = 12.0, clock: float | None = 180) -> Sitting:
    """A game whose board is away while these moves are made."""
    sitting = Sitting(clock=clock)
    board = sitting.chess(moves)
    sitting.down(sitting.t + 0.5)
    for san in gone.split():
        board.push_san(san)
    sitting.up(sitting.t + end)
    sitting.position(sitting.t + 0.2, board.board_fen())
    if clock:
        sitting.clock(sitting.t + 0.3, "white" if board.turn else "black")
    return sitting


@pytest.mark.parametrize("gone", ["", "Nc6", "Nc6 Bb5"])
def test_a_gap_is_bridged(gone: str) -> None:
    """By the plies that were made meanwhile; they are called inferred, and nobody is troubled."""
    sitting = away("e4 e5 Nf3", gone)
    moves = sitting.events("move", end=10.0)[3:]

    assert gone.split() == [move["notation"] for move in moves]
    assert {"inferred"} >= {move["source"] for move in moves}
    assert [] == sitting.alerts(end=10.0)


def test_a_gap_whose_order_nobody_knows() -> None:
    """What stands is certain, so one order is shown at once; no press was seen, so it is not confirmed."""
    sitting = away("e4 e5 Nf3", "Nc6 Bb5 a6")

    assert ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"] == sitting.moves(end=1.0)
    assert [1, 2, 3] == [event["ply"] for event in sitting.events("move_confirmed", end=20.0)]


@pytest.mark.parametrize(
    ("gone", "touches", "side", "reply"),
    [
        ("Nc6 Bb5", "-a7 +p@a6", "black", "a6"),
        ("Nc6 Bb5 a6", "-c6 -b5 +B@c6", "white", "Bxc6"),
        ("Nc6 Bb5 a6 Bxc6", "-c6 -d7 +p@c6", "black", "dxc6"),
    ],
)
def test_the_game_goes_on_after_a_gap(gone: str, touches: str, side: str, reply: str) -> None:
    """With the next ply all are there."""
    sitting = away("e4 e5 Nf3", gone)
    sitting.t += 3.0
    sitting.touch(touches)
    sitting.press(side)
    expected = f"e4 e5 Nf3 {gone} {reply}".split()
    found = sitting.moves(end=20.0)

    assert (len(expected), expected[-1]) == (len(found), found[-1])
    assert sorted(expected) == sorted(found)


def test_a_gap_that_nothing_bridges() -> None:
    """After 5 s at rest the record goes on from what stands, and the arbiter is told."""
    sitting = away("e4 e5 Nf3", "Nc6 Bb5 a6 Bxc6 dxc6 O-O Nf6")
    events = sitting.events("position_set", "alert", end=20.0)

    assert [("position_set", 3, "gap"), ("alert", 3, None)] == [
        (event["kind"], event["ply"], event.get("reason")) for event in events
    ]
    assert "record_gap" == events[1]["irregularity"]


def test_plies_after_a_gap_count_on() -> None:
    """From the position that was set."""
    sitting = away("e4 e5 Nf3", "Nc6 Bb5 a6 Bxc6 dxc6 O-O Nf6")
    sitting.t += 10.0
    sitting.touch("-d2 +P@d3")
    sitting.press("white")

    assert (4, "d3") == [(move["ply"], move["notation"]) for move in sitting.events("move")][-1]


LONG = "Nc6 Bb5 a6 Bxc6 dxc6 O-O Nf6"


@pytest.mark.parametrize("clock", [180, None])
def test_play_after_a_gap_is_not_lost(clock: float | None) -> None:
    """Play goes on, a ply each two seconds: after five seconds the record has what stood first, and all plies since."""
    sitting = away("e4 e5 Nf3", LONG, clock=clock)
    board = chess.Board()
    for san in f"e4 e5 Nf3 {LONG}".split():
        board.push_san(san)
    before = board.fen()
    played = "d3 Bd6 Nc3 O-O Bg5 h6 Bh4"
    back = sitting.t
    sitting.chess(played, board, pause=0.5)
    events = sitting.events("position_set", "move")

    assert back + 5.5 < sitting.t
    assert [before.split()[:3]] == [event["fen"].split()[:3] for event in events if event["kind"] == "position_set"]
    assert played.split() == sitting.moves()[3:]
    assert [("record_gap", "raised")] == sitting.alerts()


def test_a_piece_in_the_air_when_the_board_is_back() -> None:
    """It belongs to the position from which the record goes on, or that would have one piece too few."""
    sitting = away("e4 e5 Nf3", f"{LONG} d3")
    sitting.lines = [line for line in sitting.lines if line["t"] < sitting.t - 0.2]
    board = chess.Board()
    for san in f"e4 e5 Nf3 {LONG}".split():
        board.push_san(san)
    dump = board.copy()
    dump.remove_piece_at(chess.D2)
    back = sitting.t - 0.1
    sitting.position(back, dump.board_fen())
    sitting.clock(back + 0.1, "white")
    sitting.place(back + 1.5, "P", "d3")
    sitting.press("white", 0.3)
    board.push_san("d3")
    sitting.t += 0.5
    sitting.chess("Bd6 Nc3 O-O Bg5", board, pause=0.5)

    assert ["Bd6", "Nc3", "O-O", "Bg5"] == sitting.moves()[-4:]
    assert all(move["legal"] for move in sitting.events("move"))


# --- the board's own log ----------------------------------------------------------------------------------------


def changes(*moves: str) -> list[tuple[str, str | None]]:
    """What a log holds of these moves: departure, arrival."""
    board, found = chess.Board(), []
    for san in moves:
        move = board.parse_san(san)
        piece = board.piece_at(move.from_square)
        assert piece is not None
        found += [(chess.square_name(move.from_square), None), (chess.square_name(move.to_square), piece.symbol())]
        board.push(move)
    return found


def test_what_the_log_says_of_the_gap() -> None:
    """Everything after the last time that the board stood as it did when it went away."""
    filled = [(square, piece) for square, piece in position_from_fen("chess", START).pieces().items()]
    log = [*filled, *changes("e4", "e5", "Nf3")]
    before = position_from_fen("chess", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").pieces()

    assert log[-4:] == missed_changes(before, log)
    assert missed_changes({"a1": "q"}, log) is None


def logged(*order: str, **options: bool) -> Sitting:
    """A DGT board that is away for these plies, and then tells its log."""
    sitting = Sitting()
    sitting.header["table"]["board"] = {"driver": "dgt", "options": options}
    sitting.header["table"]["clock"] = {"driver": "board", "white_side": "left"}
    sitting.lines.clear()
    sitting.up(0.0)
    start = position_from_fen("chess", START).pieces()
    filled = [LogEntry(square, piece) for square, piece in start.items()]
    log = [*filled, *(LogEntry(square, piece) for square, piece in changes("e4", "e5", *order))]
    board = chess.Board()

    def hear(t: float, data: bytes) -> None:
        sitting.add(t, link="board", dir="rx", hex=data.hex())

    hear(0.1, dgt.build_board_dump(start))
    for t, (square, piece) in enumerate(changes("e4", "e5"), 1):
        hear(float(t), dgt.build_field_update(square, piece))
    sitting.down(6.0)
    for san in ("e4", "e5", *order):
        board.push_san(san)
    sitting.up(30.0)
    hear(30.1, dgt.build_board_dump(position_from_fen("chess", board.fen()).pieces()))
    hear(38.0, dgt.build_log(log))
    return sitting


def test_the_log_puts_an_inferred_line_right() -> None:
    """A dump cannot tell the order of two knights' moves; the log can, and the moves are then seen, not inferred."""
    order = ("Nc3", "Nf6", "Nf3", "Nc6")
    sitting = logged(*order)

    assert ["e4", "e5", *order] == sitting.moves()
    assert all(move["legal"] for move in sitting.events("move"))


def test_what_nothing_explains_waits_for_the_log() -> None:
    """A board that will tell is not taken as it stands, and nothing that was certain changes."""
    order = ("Nc3", "Nf6", "Nf3", "Nc6", "Bb5", "Bb4", "d3")
    sitting = logged(*order, eeprom_recovery=True)

    assert ["e4", "e5", *order] == sitting.moves()
    assert [] == sitting.events("position_set", "move_retracted")
