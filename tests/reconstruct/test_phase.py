"""What the whole board says: a start position, a result by the kings, an end."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.reconstruct.phase import as_it_stands, kings_signal, node_of, over, position_of, start_position
from gateway.record import START_FEN, position_from_fen


def pieces(game: Any, fen: str) -> dict[str, str]:
    return position_from_fen(game, fen).pieces()


@pytest.mark.parametrize("game", ["chess", "draughts"])
def test_the_usual_start(game: Any) -> None:
    """It is one; with a piece missing, or one too many, it is not."""
    start = pieces(game, START_FEN[game])
    square = next(iter(start))
    short = {name: piece for name, piece in start.items() if name != square}
    free = "e4" if game == "chess" else "23"

    assert START_FEN[game] == start_position(game, start).fen()  # type: ignore[union-attr]
    assert [None, None] == [start_position(game, short), start_position(game, {**start, free: start[square]})]


def test_unknown_pieces_may_be_any() -> None:
    """An occupancy board shows the start position as well as it can."""
    start = dict.fromkeys(pieces("chess", START_FEN["chess"]), "?")

    assert start_position("chess", start) is not None


@pytest.mark.parametrize(
    ("expected", "back"),
    [(True, "RNBQKBNR"), (True, "BBQNNRKR"), (False, "BNBQNRKR"), (False, "KRRQNNBB"), (False, "RNBQQBNR")],
)
def test_the_960_starts(expected: bool, back: str) -> None:
    """Bishops on both colours, the king between the rooks, Black opposite."""
    fen = f"{back.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{back} w - - 0 1"
    found = start_position("chess960", pieces("chess960", fen))

    assert expected == (found is not None)
    assert found is None or found.fen().split()[2] == "KQkq"


@pytest.mark.parametrize("away", ["c6 c3", "c5 c4"])
def test_no_960_start_with_a_piece_in_front_of_the_pawns(away: str) -> None:
    """Both knights are out, no man is lost, and the rest stands as at a start."""
    black, white = away.split()
    stands = pieces("chess960", "rnnbkqbr/pppppppp/8/8/8/8/PPPPPPPP/RNNBKQBR w - - 0 1")
    stands[black], stands[white] = stands.pop("c8"), stands.pop("c1")

    assert start_position("chess960", stands) is None


def test_an_assigned_start() -> None:
    """Then it is that one, and no other."""
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"

    assert start_position("chess", pieces("chess", fen), fen) is not None
    assert start_position("chess", pieces("chess", START_FEN["chess"]), fen) is None


@pytest.mark.parametrize(
    ("expected", "squares"),
    [
        ("1-0", {"e4": "K", "d5": "k"}), ("1-0", {"d5": "K", "e4": "k"}),
        ("0-1", {"d4": "K", "e5": "k"}), ("0-1", {"e5": "K", "d4": "k"}),
        ("1/2-1/2", {"e4": "K", "e5": "k"}), ("1/2-1/2", {"d4": "K", "d5": "k"}),
        (None, {"e4": "K"}), (None, {"e4": "K", "d6": "k"}), (None, {"e4": "K", "d5": "q"}),
        (None, {"e4": "K", "d5": "K"}), (None, {}),
    ],
)  # fmt: skip
def test_kings_signal(expected: str | None, squares: dict[str, str]) -> None:
    """Both on light squares, both on dark ones, one on each; other pieces do not matter."""
    assert expected == kings_signal({**squares, "a1": "R"})


@pytest.mark.parametrize(
    ("expected", "game", "fen"),
    [
        (("0-1", "checkmate"), "chess", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"),
        (("1-0", "checkmate"), "chess", "3k4/3Q4/3K4/8/8/8/8/8 b - - 0 1"),
        (("1/2-1/2", "stalemate"), "chess", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"),
        (None, "chess", START_FEN["chess"]),
        (("2-0", "no_pieces"), "draughts", "B:W32:B"),
        (("0-2", "no_moves"), "draughts", "W:W15:B10,4"),
        (None, "draughts", START_FEN["draughts"]),
    ],
)
def test_over(expected: tuple[str, str] | None, game: Any, fen: str) -> None:
    """Who cannot move has lost, but for stalemate."""
    assert expected == over(position_from_fen(game, fen))


def test_the_board_as_it_stands() -> None:
    """Castling rights as kings and rooks stand; whose turn it is must be said."""
    standing = pieces("chess", "r3k3/8/8/8/8/8/8/4K2R w - - 0 1")

    assert "r3k3/8/8/8/8/8/8/4K2R b Kq - 0 1" == as_it_stands("chess", standing, "black").fen()
    assert "W:WK31:B4" == as_it_stands("draughts", {"31": "W", "4": "b"}).fen()


@pytest.mark.parametrize(("game", "standing"), [("chess", {"e1": "?"}), ("draughts", {"b1": "w"})])
def test_a_board_that_is_no_position(game: Any, standing: dict[str, str]) -> None:
    """Kinds that nobody knows, men where none can stand."""
    with pytest.raises(ValueError):
        as_it_stands(game, standing)


@pytest.mark.parametrize(
    ("game", "fen"),
    [("chess", START_FEN["chess"]), ("draughts", START_FEN["draughts"]),
     ("chess960", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9")],
)  # fmt: skip
def test_a_reader_takes_a_position_and_gives_it_back(game: Any, fen: str) -> None:
    """Nothing of it is lost."""
    position = position_from_fen(game, fen)

    assert position.fen() == position_of(node_of(position)).fen()
