"""International draughts as hands play it: taps, captured men taken off in every order, crowns early and late."""

from __future__ import annotations

import pytest
from sitting import DRAUGHTS_START, Sitting, draughts_touches, from_position

from gateway.draughts import Position


def after(fen: str, touches: str, press: str | None = "white", pause: float = 0.3, **more: object) -> Sitting:
    """A game from a position, these touches and a press."""
    sitting = from_position(fen, "draughts", **more)  # type: ignore[arg-type]
    sitting.touch(touches, pause)
    if press:
        sitting.press(press)
    return sitting


def plies(sitting: Sitting) -> list[tuple[list[int], list[int]]]:
    game = sitting.topic("table/1/game")[-1]
    return [(move["squares"], move["captured"]) for move in game["moves"]]


# --- quiet plies ------------------------------------------------------------------------------------------------


def test_a_quiet_ply() -> None:
    """A man goes one square on."""
    sitting = Sitting("draughts")
    sitting.draughts("32-28 18-23")

    assert [([32, 28], []), ([18, 23], [])] == plies(sitting)
    assert ["32-28", "18-23"] == sitting.moves()


def test_a_king_that_slides() -> None:
    """It is published where it ends."""
    sitting = after("W:WK46,50:B5,6", "-46 +W@41 -41 +W@37 -37 +W@32", pause=0.08)

    assert ["46-32"] == [move["notation"] for move in sitting.events("move")]


def test_a_takeback() -> None:
    """A ply that is put back is no more."""
    sitting = Sitting("draughts")
    sitting.clock(1.0, "white")
    sitting.touch("-32 +w@28")
    sitting.t += 3.0
    sitting.touch("-28 +w@32")
    sitting.t += 3.0
    sitting.touch("-33 +w@28")
    sitting.press("white")

    assert ["33-28"] == sitting.moves()
    assert ["takeback"] == [event["reason"] for event in sitting.events("move_retracted")]


# --- captures ---------------------------------------------------------------------------------------------------

THREE = "W:W37,50:B32,22,12,1"
PATH = ([37, 28, 17, 8], [32, 22, 12])


@pytest.mark.parametrize(
    "touches",
    [
        "-37 +w@28 -28 +w@17 -17 +w@8 -32 -22 -12",
        "-37 +w@8 -32 -22 -12",
        "-37 +w@8 -12 -22 -32",
        "-37 +w@28 -28 +w@17 -17 -32 +w@8 -22 -12",
        "-37 -32 -22 -12 +w@8",
        "-32 -22 -12 -37 +w@8",
        "-37 +w@28 -32 -28 +w@17 -22 -17 +w@8 -12",
        "+w@8 -37 -22 -12 -32",
    ],
)
@pytest.mark.parametrize("pause", [0.15, 0.4])
def test_a_capture_of_three(touches: str, pause: float) -> None:
    """Tapped or not, men taken off one by one at the end, early, in any order: the whole path, in order of jumping."""
    assert [PATH] == plies(after(THREE, touches, pause=pause))


@pytest.mark.parametrize("touches", ["-37 +w@28 -28 +w@17 -17 +w@8 -32 -22 -12", "-37 +w@8 -12 -22 -32"])
def test_a_capture_on_an_occupancy_board(touches: str) -> None:
    """Nobody needs to know the kinds."""
    assert [PATH] == plies(after(THREE, touches, occupancy=True))


def test_a_capture_is_complete_with_the_press_or_the_men() -> None:
    """A man put down beyond three others is no ply yet."""
    landed = after(THREE, "-37 +w@28 -28 +w@17 -17 +w@8", press=None)
    pressed = after(THREE, "-37 +w@28 -28 +w@17 -17 +w@8")

    assert ([], ["37x8"]) == (landed.moves(end=3.0), pressed.moves(end=1.0))


def test_men_left_standing() -> None:
    """They are taken off by and by, also after the reply, and the record is right all the time."""
    sitting = after(THREE, "-37 +w@8 -32 -22")
    sitting.touch("-1 +b@7")
    sitting.press("black")
    sitting.touch("-12")

    assert PATH == plies(sitting)[0]
    assert [1, 7] == plies(sitting)[1][0]


EQUAL = "W:WK6,50:B1,9,22,27,29,34,36"


@pytest.mark.parametrize(
    ("expected", "touches"),
    [
        ([22, 29, 9], "-6 +W@3 -22 -29 -9"),
        ([22, 29, 9], "-6 +W@33 -33 +W@20 -20 +W@3 -9 -29 -22"),
        ([22, 34, 9], "-6 +W@3 -22 -34 -9"),
        ([22, 34, 9], "-6 +W@3 -9 -22 -34"),
    ],
)
def test_equal_captures_are_told_by_the_men_gone(expected: list[int], touches: str) -> None:
    """Both end on the same square; it waits until the men tell which it was, and the notation has the path."""
    sitting = after(EQUAL, touches)

    assert [expected] == [captured for _, captured in plies(sitting)]
    assert 4 == len(sitting.moves()[0].split("x"))


@pytest.mark.parametrize(
    "fen",
    ["W:W32,50:B28,18,17,27,1", "W:W28,50:B22,23,12,13,1"],
)
@pytest.mark.parametrize("pause", [0.15, 0.4])
def test_a_loop(fen: str, pause: float) -> None:
    """A capture that ends where it began."""
    position = Position.from_fen(fen)
    loop = next(ply for ply in position.legal_plies() if ply.departure == ply.arrival)
    sitting = after(fen, draughts_touches(position, loop), position.turn, pause)

    assert [(loop.departure, loop.arrival, sorted(loop.captured))] == [
        (path[0], path[-1], sorted(captured)) for path, captured in plies(sitting)
    ]


def test_the_longest_captures() -> None:
    """A king through eight men."""
    fen = "W:WK46,50:B41,32,22,12,3,14,13,24,34,43,9,1"
    position = Position.from_fen(fen)
    ply = max(position.legal_plies(), key=lambda ply: len(ply.captured))
    sitting = after(fen, draughts_touches(position, ply), pause=0.15)

    assert [sorted(ply.captured)] == [sorted(captured) for _, captured in plies(sitting)]
    assert 8 == len(ply.captured)


def test_a_king_may_land_anywhere_behind() -> None:
    """The square it is put on is the ply."""
    for landing in (28, 23, 19):
        sitting = after("W:WK41,50:B32,1,6", f"-41 +W@{landing} -32")

        assert [([41, landing], [32])] == plies(sitting)


# --- crowns -----------------------------------------------------------------------------------------------------

CROWNING = "W:W7,50:B30,16"


@pytest.mark.parametrize("touches", ["-7 +W@1", "-7 +w@1 -1 +W@1", "-7 +w@1 +W@1"])
def test_crowning(touches: str) -> None:
    """At once, or after the man was shown."""
    sitting = after(CROWNING, touches)

    assert ["7-1"] == sitting.moves()
    assert sitting.events("move")[-1]["fen"].startswith("B:WK1,50")


def test_crowned_by_the_opponent() -> None:
    """The ply is played; the crown follows."""
    sitting = after(CROWNING, "-7 +w@1")
    sitting.touch("+W@1", 1.0)
    sitting.touch("-16 +b@21")
    sitting.press("black")

    assert ["7-1", "16-21"] == sitting.moves()


def test_a_man_that_passes_the_back_row_stays_a_man() -> None:
    """In a capture that goes on (A1 4.15)."""
    fen = "W:W13,50:B8,7,30"
    position = Position.from_fen(fen)
    (ply,) = [ply for ply in position.legal_plies() if len(ply.captured) == 2]
    sitting = after(fen, draughts_touches(position, ply))

    assert [(list(ply.path), list(ply.captured))] == plies(sitting)
    assert "K" not in sitting.events("move")[-1]["fen"].split(":")[1]


def test_a_capture_that_was_guessed_before_its_end_was_seen() -> None:
    """The men go before their captor comes down, and one is held over another square."""
    sitting = from_position("W:W38,47,48:B24,33,1,2", "draughts", running="white")
    sitting.t = 3.0
    held = "-38:1 -24:.58 +b@23:.42 +w@29:.03 -33:.02 -29:.2 +w@20:.18 -23:.01"
    for word, pause in (item.split(":") for item in held.split()):
        sitting.touch(word, float(pause))
    sitting.press("white")

    assert ["38x20"] == sitting.moves()


# --- against the rules ------------------------------------------------------------------------------------------


def test_an_illegal_ply_stands_when_it_is_pressed() -> None:
    """A man moved backwards: `36-31` notation, nothing captured, and the game goes on."""
    sitting = after("W:W28,50:B1,6", "-28 +w@33")
    sitting.t += 3.0
    sitting.touch("-1 +b@7")
    sitting.press("black")
    moves = sitting.events("move")

    assert [("28-33", False, []), ("1-7", True, [])] == [(m["notation"], m["legal"], m["captured"]) for m in moves]


def test_a_game_may_end_by_the_last_man() -> None:
    """Who has no piece left has lost."""
    sitting = after("W:W28,50:B22", "-28 +w@17 -22")

    assert [("2-0", "no_pieces")] == [(e["result"], e["reason"]) for e in sitting.events("game_ended")]


def test_several_games_in_a_row() -> None:
    """The second begins when it starts, and closes the first."""
    sitting = Sitting("draughts")
    sitting.draughts("32-28 18-23 33-29 23x32")
    sitting.clock(sitting.t + 1.0, None)
    sitting.position(sitting.t + 20.0, DRAUGHTS_START)
    sitting.draughts("31-27 20-25")

    assert ["31-27", "20-25"] == sitting.moves()
    assert ["set_up_again"] == [event["reason"] for event in sitting.events("game_ended")]
