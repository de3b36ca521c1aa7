"""PDN: every published file is read, and what is written is read back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import pdn
from gateway.draughts import Position
from gateway.pdn import PdnGame, PdnMove

FILES = Path(__file__).parents[2] / "shared" / "data" / "draughts_pdn"

INTERNATIONAL = {
    "delft": (2, 252),
    "it_ch40": (45, 4804),
    "nl_ch_2003": (32, 3268),
    "nl_ch_round01": (7, 725),
    "nl_regional_round12": (7, 757),
    "nl_semifinal_1996": (13, 1381),
    "problems_a": (35, 357),
    "problems_c": (44, 404),
    "problems_d": (19, 184),
    "problems_pwcp": (51, 602),
    "prof2": (14, 1425),
    "server_10x10_b": (4, 535),
    "server_standard": (20, 1048),
}
"""file -> games, plies."""


def only(text: str) -> PdnGame:
    games = list(pdn.read(text))
    assert len(games) == 1
    return games[0]


def notations(game: PdnGame) -> list[str]:
    """The plies as they would be written."""
    found = []
    position = game.start
    for move in game.moves:
        found.append(position.notation(move.ply))
        position = position.after(move.ply)
    return found


# --- published files --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of PDN files is not beside this checkout")
@pytest.mark.parametrize("name", INTERNATIONAL)
def test_published_files(name: str) -> None:
    """Every game of international draughts is legal to its end, and comes back when written."""
    games = list(pdn.read((FILES / f"{name}.pdn").read_text(encoding="utf-8")))

    assert [game.fault for game in games] == [None] * len(games)
    assert (len(games), sum(len(game.moves) for game in games)) == INTERNATIONAL[name]
    for game in games:
        again = only(pdn.write(game))
        assert (again.start, again.moves, again.result) == (game.start, game.moves, game.result)


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of PDN files is not beside this checkout")
@pytest.mark.parametrize("name", ["server_brazilian", "server_frisian", "server_russian"])
def test_other_draughts_are_refused(name: str) -> None:
    """Games of another kind say so, or stop at the first ply that is none of ours."""
    games = list(pdn.read((FILES / f"{name}.pdn").read_text(encoding="utf-8")))

    assert all(game.fault for game in games)


@pytest.mark.skipif(not FILES.is_dir(), reason="the collection of PDN files is not beside this checkout")
def test_broken_file() -> None:
    """Reading goes on behind a ply that is not legal; the game keeps what came before it."""
    games = list(pdn.read((FILES / "broken.pdn").read_text(encoding="utf-8")))

    assert games[1].fault is not None
    assert games[1].fault.startswith("ply 41: 38x33 is not legal in W:W24")
    assert len(games[1].moves) == 40
    assert games[1].result == "2-0"
    assert games[2].tags["Round"] == "C96"


# --- what programs write ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plies"),
    [
        ("1. 32-28 19-23 2. 28x19 14x23 *", ["32-28", "19-23", "28x19", "14x23"]),
        ("01.32-28 19 - 23 02. 28 x 19 14:23", ["32-28", "19-23", "28x19", "14x23"]),
        ("1. 32-28! $1 {strong} 1... 19-23?! ; a remark\n% another\n2. 28x19 *", ["32-28", "19-23", "28x19"]),
        ("1. 32-28 (1. 33-28 (1. 34-29 {a } brace) 18-23) 1... 19-23 *", ["32-28", "19-23"]),
        ("\ufeff{before all} 1. 32-28 *", ["32-28"]),
        ("1. 33-28 19-23 2. 28x19x28 *", ["33-28", "19-23"]),
    ],
)
def test_reads(text: str, plies: list[str]) -> None:
    """Blanks, remarks, annotations and variations do not hide the plies."""
    assert notations(only(text)) == plies


@pytest.mark.parametrize(
    ("written", "result"),
    [("1-0", "2-0"), ("0-1", "0-2"), ("1/2-1/2", "1-1"), ("2-0", "2-0"), ("0-0", "0-0"), ("*", "*")],
)
def test_results(written: str, result: str) -> None:
    """Both ways of writing results are read as points."""
    assert only(f"1. 32-28 {written}").result == result
    assert only(f'[Result "{written}"]\n1. 32-28').result == result


def test_score_of_a_match_is_no_ply() -> None:
    """`4-6` in the Result tag and at the end is the score of a match."""
    game = only('[Result "4-6"]\n1. 32-28 19-23 4-6')

    assert game.result == "*"
    assert game.fault is None
    assert len(game.moves) == 2


def test_games_are_told_apart() -> None:
    """A result ends a game; so do new tags, also after a variation that was never closed, or after tags alone."""
    text = '[White "A"]\n1. 32-28 1-0\n[White "B"]\n1. 33-28 (1. 34-29\n[White "C"]\n[White "D"]\n1. 31-26'

    assert [(g.tags["White"], len(g.moves)) for g in pdn.read(text)] == [("A", 1), ("B", 1), ("C", 0), ("D", 1)]


def test_tags() -> None:
    """Quotation marks in tags are escaped; FEN sets the position up; another GameType is refused."""
    quoted = only('[Site "\\"64\\", 1974"] *')
    set_up = only('[FEN "B:W50:BK5."]\n1... 5-46 *')
    russian = only('[GameType "25"]\n1. c3-d4 *')
    wrong = only('[FEN "B:W51:B1"]\n1... 1-6 *')

    assert quoted.tags == {"Site": '"64", 1974'}
    assert set_up.start.fen() == "B:W50:BK5"
    assert len(set_up.moves) == 1
    assert russian.fault == "GameType 25 is not international draughts (20)"
    assert wrong.fault == "51 is no square between 1 and 50"


def test_what_cannot_be_read_is_said() -> None:
    """A word that is no ply stops the game with a sentence."""
    game = only("1. 32-28 resigns 2-0")

    assert game.fault == "'resigns' after ply 1 cannot be read"
    assert game.result == "2-0"


def test_clocks() -> None:
    """The mover's clock is read from `%clk` and from `%clock`, which may tell both."""
    game = only(
        "1. 32-28 {[%clk 1:20:03] good} 19-23 {[%clock w1:19:50 B1:20:55]}"
        " 2. 28x19 {fine [%clock 0:49:11]} 14x23 {[%clk 0:00:05.5]} 3. 33-28 {[%emt 0:00:03]} *"
    )

    assert [move.clock for move in game.moves] == [4803, 4855, 2951, 5.5, None]
    assert [move.comment for move in game.moves] == ["good", "", "fine", "", ""]


@given(st.text(alphabet='123456789 .-x:[]{}()"*;%\\nWB$!?'))
def test_reading_never_raises(text: str) -> None:
    """Whatever a file holds, reading comes to its end."""
    for game in pdn.read(text):
        assert isinstance(game, PdnGame)


# --- writing ----------------------------------------------------------------------------------------------------


def test_writes() -> None:
    """Tags, clocks, comments, and the number again after them."""
    start = Position.start()
    first = start.parse("32-28")
    second = start.after(first).parse("19-23")
    moves = (PdnMove(first, 4803.9), PdnMove(second, None, "why {not}"))

    assert pdn.write(PdnGame({"White": 'A "B"'}, start, moves, "1-1")) == (
        '[White "A \\"B\\""]\n[Result "1-1"]\n[GameType "20"]\n\n1. 32-28 {[%clk 1:20:03]} 1... 19-23 {why (not)} 1-1\n'
    )


def test_writes_a_position() -> None:
    """Off the usual start the position is given, and Black's first ply has its dots."""
    start = Position.from_fen("B:W50:BK5")

    assert pdn.write(PdnGame(start=start, moves=(PdnMove(start.parse("5-46")),))) == (
        '[Result "*"]\n[GameType "20"]\n[SetUp "1"]\n[FEN "B:W50:BK5"]\n\n1... 5-46 *\n'
    )


def test_closing_comment_and_lines() -> None:
    """A closing comment stands before the result; lines are broken between words."""
    text = pdn.movetext([("32-28", 5.0, "")] * 20, False, 1, "*", "the end of it")

    assert text.endswith("{the end of it} *")
    assert max(map(len, text.splitlines())) <= pdn.LINE


def games(seed: int) -> PdnGame:
    """A random game with clocks and comments here and there."""
    rng = random.Random(seed)
    position = Position.start()
    moves = []
    for _ in range(rng.randint(0, 80)):
        plies = position.legal_plies()
        if not plies:
            break
        ply = rng.choice(plies)
        clock = rng.choice([None, float(rng.randint(0, 9000))])
        moves.append(PdnMove(ply, clock, rng.choice(["", "", "a b", "1. 32-28 (no)"])))
        position = position.after(ply)
    return PdnGame({"Event": "E"}, Position.start(), tuple(moves), rng.choice(["2-0", "0-2", "1-1", "0-0", "*"]))


@given(st.integers(0, 2**32).map(games))
@settings(deadline=None)
def test_what_is_written_is_read_back(game: PdnGame) -> None:
    """Writing then reading gives the same game."""
    again = only(pdn.write(game))

    assert again.fault is None
    assert (again.moves, again.result) == (game.moves, game.result)
