"""How much a board contradicts a position, and which plies it shows."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.reconstruct.node import MOST, Node
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import geometry, node_of
from gateway.record import START_FEN, position_from_fen


def seen(fen: str, touches: str = "", game: Any = "chess", occupancy: bool = False) -> tuple[Node, Observed]:
    """A position, and the board after some touches, one each second from 1 on."""
    position = position_from_fen(game, fen)
    board = Observed(geometry(game))
    board.pieces_known = not occupancy
    board.load({s: "?" if occupancy else p for s, p in position.pieces().items()}, 0.0, unseen=True)
    for at, word in enumerate(touches.split(), 1):
        piece, _, square = word[1:].partition("@")
        if word[0] == "-":
            board.set(word[1:], None, float(at))
        else:
            board.set(square, "?" if occupancy else piece, float(at))
    return node_of(position), board


CHESS, DRAUGHTS = START_FEN["chess"], START_FEN["draughts"]


@pytest.mark.parametrize(
    ("expected", "fen", "touches", "game"),
    [
        (0.0, CHESS, "", "chess"),
        (0.0, CHESS, "-e2 +P@e2", "chess"),
        (0.25, CHESS, "-e2", "chess"),
        (0.4, CHESS, "-e7", "chess"),
        (1.0, CHESS, "+P@e4", "chess"),
        (1.25, CHESS, "-e2 +P@e4", "chess"),
        (1.0, CHESS, "+N@e2", "chess"),
        (0.25, DRAUGHTS, "-32", "draughts"),
        (0.4, DRAUGHTS, "-19", "draughts"),
        (1.25, DRAUGHTS, "-32 +w@28", "draughts"),
    ],
)
def test_contradiction(expected: float, fen: str, touches: str, game: Any) -> None:
    """A missing piece may be in a hand and says little; one that stands where none should says much."""
    node, board = seen(fen, touches, game)

    assert expected == pytest.approx(node.contradiction(board))


def test_contradiction_is_capped() -> None:
    """A knocked-over board contradicts every game alike."""
    node, _ = seen(CHESS)
    _, empty = seen("8/8/8/8/8/8/8/8 w - - 0 1")
    for square in ("a4", "b4", "c4", "d4", "e4", "f4", "g4"):
        empty.set(square, "q", 1.0)

    assert MOST == node.contradiction(empty)


def test_an_occupancy_board_contradicts_by_squares() -> None:
    """Another piece in the same place is no contradiction."""
    node, board = seen(CHESS, "-e2 +P@e2", occupancy=True)

    assert 0.0 == node.contradiction(board)


def test_a_square_of_unknown_kind_contradicts_only_emptiness() -> None:
    """Something stands there, as it should."""
    node, board = seen(CHESS, "+?@e2 +?@e4")

    assert ["e4"] == board.geometry.names(node.difference(board))


def test_excused_squares_say_nothing() -> None:
    """What has contradicted the game for long is a lost report."""
    node, board = seen(CHESS, "+P@e4")
    board.excused = 1 << board.geometry.index["e4"]

    assert 0.0 == node.contradiction(board)


def test_captured_men_that_still_stand_cost_less() -> None:
    """And a man that is not crowned yet."""
    node, board = seen("W:W28,50:B22,1", "-28 +w@17", "draughts")
    (ply,) = (e.ply for e in node.extensions(board, 0.0))
    after = node.after(ply)
    crowned, other = seen("W:W7:B50", "-7 +w@1", "draughts")
    (king,) = (e.ply for e in crowned.extensions(other, 0.0))

    assert 0.45 == pytest.approx(after.contradiction(board))
    assert 0.3 == pytest.approx(crowned.after(king).contradiction(other))


@pytest.mark.parametrize(
    ("expected", "fen", "touches", "since"),
    [
        (["e2e4"], CHESS, "-e2 +P@e4", 0.0),
        (["e2e4"], CHESS, "+P@e4 -e2", 0.0),
        (["e2e4"], CHESS, "+P@e4", 0.0),
        ([], CHESS, "-e2 +P@e4", 9.0),
        ([], CHESS, "-e2 +P@e5", 0.0),
        (["g1f3"], CHESS, "-g1 +N@f3", 0.0),
        (["d4e5"], "4k3/8/8/4p3/3P4/8/8/4K3 w - - 0 1", "-d4 +P@e5", 0.0),
        (["e7e8n"], "8/k3P3/8/8/8/8/8/4K3 w - - 0 1", "-e7 +N@e8", 0.0),
        (["a1d1"], "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "-a1 +R@d1", 0.0),
    ],
)
def test_plies_that_the_board_shows(expected: list[str], fen: str, touches: str, since: float) -> None:
    """Those whose piece stands on its arrival square, which has changed since."""
    node, board = seen(fen, touches)

    assert expected == sorted(extension.ply.uci() for extension in node.extensions(board, since))


def test_a_ply_is_dated_by_its_arrival() -> None:
    """Whenever its departure was reported."""
    node, board = seen(CHESS, "-e2 +P@e4")

    assert [2.0] == [extension.at for extension in node.extensions(board, 0.0)]


@pytest.mark.parametrize(
    ("expected", "fen", "touches", "game"),
    [
        ("a1a3", CHESS, "-a1 +R@a3", "chess"),
        ("e2e5", CHESS, "-e2 +P@e5", "chess"),
        (None, CHESS, "-e2 +N@e5", "chess"),
        (None, CHESS, "-e7 +p@e4", "chess"),
        (None, CHESS, "-e2 -d2 +P@e5", "chess"),
        (None, "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "-e1 +K@g1", "chess"),
        ("(28, 33)", "W:W28,50:B1,6", "-28 +w@33", "draughts"),
        (None, "W:W28,50:B1,6", "-28 +w@b1", "draughts"),
    ],
)
def test_the_ply_against_the_rules(expected: str | None, fen: str, touches: str, game: Any) -> None:
    """One piece of the side to move from a to b, and nothing else; half a castling is none."""
    node, board = seen(fen, touches, game)
    ply = node.irregular(board)
    found = None if ply is None else ply.uci() if game == "chess" else str(ply.path)

    assert expected == found


@pytest.mark.parametrize(
    ("expected", "fen", "touches", "game"),
    [
        (True, "4k3/8/8/8/8/8/8/B3K3 w - - 0 1", "-a1 +B@c3", "chess"),
        (False, "4k3/8/8/8/8/8/8/B3K3 w - - 0 1", "-a1 +B@h8", "chess"),
        (False, CHESS, "-g1 +N@f3", "chess"),
        (False, CHESS, "-e2 +P@e3", "chess"),
        (False, "4k3/8/8/4p3/8/8/8/B3K3 w - - 0 1", "-e5 -a1 +B@e5", "chess"),
        (True, "W:WK46,50:B1", "-46 +W@37", "draughts"),
        (False, "W:W46,50:B1", "-46 +w@41", "draughts"),
    ],
)
def test_a_piece_that_could_go_farther(expected: bool, fen: str, touches: str, game: Any) -> None:
    """A line piece on an open line may still be sliding; nothing else may."""
    node, board = seen(fen, touches, game)
    (extension,) = node.extensions(board, 0.0)

    assert expected == node.farther(extension.ply)


@pytest.mark.parametrize("game", ["chess", "draughts"])
def test_plies_are_kept_as_plain_values(game: Any) -> None:
    """And are the same afterwards."""
    node, board = seen(START_FEN[game], game=game)
    plies = list(node.plies(board, node.own))

    assert plies
    assert plies == [node.ply_from(node.ply_state(ply)) for ply in plies]
