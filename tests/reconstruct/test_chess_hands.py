"""Chess and Chess960 as hands play them: what was done to the squares, and the ply that it was."""

from __future__ import annotations

import pytest
from sitting import Sitting, from_position

ITALIAN = "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"


def played(fen: str, touches: str, press: str | None = "white", pause: float = 0.3, **more: object) -> list[str]:
    """The plies that stand after these touches and the press."""
    sitting = from_position(fen, **more)  # type: ignore[arg-type]
    sitting.touch(touches, pause)
    if press:
        sitting.press(press)
    return sitting.moves()


# --- castling ---------------------------------------------------------------------------------------------------

WHITE_SHORT = ["-e1 +K@g1 -h1 +R@f1", "-h1 +R@f1 -e1 +K@g1", "-e1 -h1 +K@g1 +R@f1", "-h1 -e1 +R@f1 +K@g1",
               "+K@g1 -e1 +R@f1 -h1", "-e1 -h1 +R@f1 +K@g1", "-e1 +K@f1 -f1 +K@g1 -h1 +R@f1"]  # fmt: skip


@pytest.mark.parametrize("touches", WHITE_SHORT)
@pytest.mark.parametrize("pause", [0.1, 0.3, 1.0])
def test_castling_in_any_order(touches: str, pause: float) -> None:
    """King first, rook first, both hands, the arrival reported before the departure, the king dragged."""
    assert ["O-O"] == played(ITALIAN, touches, pause=pause)


@pytest.mark.parametrize(
    ("expected", "touches", "side"),
    [
        ("O-O-O", "-e1 +K@c1 -a1 +R@d1", "white"),
        ("O-O", "-e8 +k@g8 -h8 +r@f8", "black"),
        ("O-O-O", "-a8 -e8 +k@c8 +r@d8", "black"),
    ],
)
def test_castling_on_all_sides(expected: str, touches: str, side: str) -> None:
    """The same everywhere."""
    fen = f"r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R {side[0]} KQkq - 0 1"

    assert [expected] == played(fen, touches, side)


def test_half_a_castling_is_none_yet() -> None:
    """A king on g1 with the rook at home: nothing is played until the rook has come."""
    sitting = from_position(ITALIAN)
    sitting.touch("-e1 +K@g1")
    before = sitting.moves()
    sitting.t += 3.0
    sitting.touch("-h1 +R@f1")
    sitting.press("white")

    assert ([], ["O-O"]) == (before, sitting.moves())


def test_uci_of_castling() -> None:
    """The king's own squares in chess; king takes rook in Chess960."""
    standard = from_position(ITALIAN)
    standard.touch("-e1 +K@g1 -h1 +R@f1")
    other = from_position(ITALIAN, "chess960")
    other.touch("-e1 +K@g1 -h1 +R@f1")

    assert [["e1g1"], ["e1h1"]] == [[m["uci"] for m in sitting.events("move")] for sitting in (standard, other)]


@pytest.mark.parametrize(
    ("expected", "fen", "touches"),
    [
        ("O-O", "4k3/8/8/8/8/8/8/6KR w H - 0 1", "-h1 +R@f1"),
        ("O-O-O", "4k3/8/8/8/8/8/8/1RK5 w B - 0 1", "-b1 +R@d1"),
        ("O-O", "4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "-f1 -g1 +K@g1 +R@f1"),
        ("O-O", "4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "-g1 -f1 +R@f1 +K@g1"),
        ("O-O-O", "4k3/8/8/8/8/8/8/R1K5 w A - 0 1", "-a1 +R@d1"),
        ("O-O-O", "4k3/8/8/8/8/8/8/RK6 w A - 0 1", "-b1 +K@c1 -a1 +R@d1"),
        ("O-O-O", "1r1k4/8/8/8/8/8/8/4K3 b b - 0 1", "-d8 +k@c8 -b8 +r@d8"),
    ],
)  # fmt: skip
def test_castling_of_chess960(expected: str, fen: str, touches: str) -> None:
    """Also where the king stays, where both change places, and where the rook does not go far."""
    side = "white" if " w " in fen else "black"

    assert [expected] == played(fen, touches, side, game="chess960")


def test_any_of_the_960() -> None:
    """The start position that stands is the game's."""
    sitting = Sitting("chess960", "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR")
    sitting.chess("g3 g6")
    (started,) = sitting.events("game_started")

    assert "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1" == started["start_fen"]
    assert ["g3", "g6"] == sitting.moves()


# --- pawns ------------------------------------------------------------------------------------------------------

PASSING = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"


@pytest.mark.parametrize("touches", ["-e5 +P@d6 -d5", "-d5 -e5 +P@d6", "-e5 -d5 +P@d6", "+P@d6 -e5 -d5"])
@pytest.mark.parametrize("occupancy", [False, True])
def test_en_passant(touches: str, occupancy: bool) -> None:
    """The pawn may be removed first, last or in between."""
    assert ["exd6"] == played(PASSING, touches, occupancy=occupancy)


def test_en_passant_with_the_pawn_removed_after_the_press() -> None:
    """It is published when the pawn has gone, and not before."""
    sitting = from_position(PASSING)
    sitting.touch("-e5 +P@d6")
    sitting.press("white")
    before = sitting.moves(end=1.0)
    sitting.touch("-d5")

    assert ([], ["exd6"]) == (before, sitting.moves())


PROMOTING = "3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1"


@pytest.mark.parametrize("piece", "QRBN")
@pytest.mark.parametrize(
    "touches", ["-e7 +{}@e8", "-e7 +P@e8 -e8 +{}@e8", "-e7 +P@e8 +{}@e8", "-d8 -e7 +P@d8 -d8 +{}@d8"]
)
def test_promotion(piece: str, touches: str) -> None:
    """To what stands there, at once or after the pawn has been shown."""
    (notation,) = played(PROMOTING, touches.format(piece))

    assert notation.rstrip("+#") == ("exd8=" if "d8" in touches else "e8=") + piece


def test_a_pawn_left_standing_waits() -> None:
    """It becomes a move when the piece is put there."""
    sitting = from_position("6k1/4P3/8/8/8/8/8/4K3 w - - 0 1")
    sitting.touch("-e7 +P@e8")
    before = sitting.moves(end=1.0)
    sitting.t += 2.0
    sitting.touch("-e8 +R@e8")
    sitting.press("white")

    assert ([], ["e8=R+"]) == (before, sitting.moves())


def test_promotion_on_an_occupancy_board_is_a_queen() -> None:
    """Until somebody says otherwise."""
    sitting = from_position("6k1/4P3/8/8/8/8/8/4K3 w - - 0 1", occupancy=True)
    sitting.touch("-e7 +P@e8")
    sitting.press("white")
    before = sitting.moves()
    sitting.command(sitting.t + 1.0, "correct", from_ply=1, moves=["e8=N"])

    assert (["e8=Q+"], ["e8=N"]) == (before, sitting.moves())


# --- captures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "touches",
    ["-e5 -f3 +N@e5", "-f3 -e5 +N@e5", "-f3 +N@e5", "+N@e5 -f3", "-f3 +p@a5 +N@e5 -a5", "-e5 +p@h4 -f3 +N@e5 -h4",
     "-f3 +N@f4 -f4 +N@e5"],
)  # fmt: skip
@pytest.mark.parametrize("pause", [0.1, 0.4])
def test_captures(touches: str, pause: float) -> None:
    """The victim first, last, never seen to go, or held over another square for a moment."""
    assert ["Nxe5"] == played(ITALIAN, touches, pause=pause)


@pytest.mark.parametrize("touches", ["-e5 -f3 +N@e5", "-f3 -e5 +N@e5"])
def test_captures_on_an_occupancy_board(touches: str) -> None:
    """The lift of the victim tells which piece was taken."""
    assert ["Nxe5"] == played(ITALIAN, touches, occupancy=True)


# --- hands that are not straight --------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.05, 0.12])
def test_a_slide(step: float) -> None:
    """A bishop that is dragged over its path is published where it ends, and nowhere else."""
    sitting = from_position(ITALIAN)
    sitting.touch("-c4 +B@d5 -d5 +B@e6 -e6 -f7 +B@f7", step)
    sitting.press("white")

    assert ["Bxf7+"] == sitting.moves()
    assert ["Bxf7+"] == [move["notation"] for move in sitting.events("move")]


def test_a_hesitation_is_taken_back_as_a_slide() -> None:
    """A piece that rests on one square and goes on to the next."""
    sitting = from_position(ITALIAN)
    sitting.touch("-c4 +B@d5")
    sitting.t += 1.0
    sitting.touch("-d5 +B@e6")
    sitting.press("white")

    assert ["Be6"] == sitting.moves()
    assert {"slide"} == {event["reason"] for event in sitting.events("move_retracted")}


def test_a_hover_is_nothing() -> None:
    """A pawn held low over another file's square on its way."""
    assert ["d4"] == played(ITALIAN, "-d2 +P@e3 -e3 +P@d4", pause=0.15)


def test_adjusting_is_nothing() -> None:
    """Pieces that are straightened, one or two at a time, also on the opponent's time."""
    sitting = from_position(ITALIAN)
    sitting.touch("-d1 +Q@d1 -c6 +n@c6", 0.4)
    sitting.touch("-e8 -d8 +q@d8 +k@e8", 0.4)
    sitting.touch("-d2 +P@d3")
    sitting.press("white")

    assert ["d3"] == sitting.moves()
    assert [] == sitting.events("move_retracted")


def test_flicker_is_nothing() -> None:
    """A piece that stands badly comes and goes."""
    assert ["d3"] == played(ITALIAN, "-d2 +P@d3 -d3 +P@d3 -d3 +P@d3", pause=0.2)


def test_pieces_knocked_over() -> None:
    """They are put back, and the game goes on."""
    sitting = from_position(ITALIAN)
    sitting.touch("-d2 +P@d3")
    sitting.press("white")
    sitting.touch("-e5 -f7 -g7 -c6", 0.05)
    sitting.t += 3.0
    sitting.touch("+p@f7 +n@c6 +p@e5 +p@g7", 0.8)
    sitting.touch("-d7 +p@d6")
    sitting.press("black")

    assert ["d3", "d6"] == sitting.moves()


def test_a_piece_put_back_on_the_wrong_square_and_corrected() -> None:
    """The record does not follow it."""
    sitting = from_position(ITALIAN)
    sitting.touch("-a7 -b7", 0.05)
    sitting.t += 1.0
    sitting.touch("+p@a6 +p@b7 -a6 +p@a7", 0.9)
    sitting.touch("-d2 +P@d3")
    sitting.press("white")

    assert ["d3"] == sitting.moves()


@pytest.mark.parametrize("occupancy", [False, True])
@pytest.mark.parametrize("pause", [0.3, 1.0])
def test_takeback(occupancy: bool, pause: float) -> None:
    """A ply that is put back is no more; the next one takes its place."""
    sitting = from_position(ITALIAN, occupancy=occupancy)
    sitting.touch("-d2 +P@d3", pause)
    sitting.t += 3.0
    sitting.touch("-d3 +P@d2", pause)
    sitting.t += 3.0
    sitting.touch("-c2 +P@c3", pause)
    sitting.press("white")

    assert ["c3"] == sitting.moves()
    assert ["takeback"] == [event["reason"] for event in sitting.events("move_retracted")]


def test_takeback_of_a_pressed_ply() -> None:
    """Both players agree; the clock is put right, and another ply is played."""
    sitting = from_position(ITALIAN)
    sitting.touch("-d2 +P@d3")
    sitting.press("white")
    sitting.t += 5.0
    sitting.touch("-d3 +P@d2")
    sitting.press("black")
    sitting.t += 5.0
    sitting.touch("-c2 +P@c3")
    sitting.press("white")
    sitting.touch("-d7 +p@d6")
    sitting.press("black")

    assert ["c3", "d6"] == sitting.moves()


# --- speed ------------------------------------------------------------------------------------------------------

EXCHANGE = "rnbqkbnr/ppp2ppp/8/3pp3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3"


def test_a_double_exchange_in_one_scan() -> None:
    """exd5 Qxd5: the board shows only the queen where the pawns were."""
    sitting = from_position(EXCHANGE)
    sitting.touch("-e4 -d8 +q@d5", 0.08)
    sitting.press("white", 0.5)
    sitting.press("black", 0.4)
    sitting.touch("-b1 +N@c3")
    sitting.press("white")

    assert ["exd5", "Qxd5", "Nc3"] == sitting.moves()
    assert "inferred" in {move["source"] for move in sitting.events("move")[:1]}


def test_an_exchange_of_pawns_that_leaves_its_square_as_it_was() -> None:
    """Black's pawn took and was taken within one scan: only the departures tell."""
    sitting = Sitting()
    sitting.chess("d4 Nf6 Bf4 c5 e3")
    sitting.touch("-c5 -e3 -e7 +p@e6 -g1 +N@f3", 0.15)

    assert ["d4", "Nf6", "Bf4", "c5", "e3", "cxd4", "exd4", "e6", "Nf3"] == sitting.moves()


def test_a_piece_that_no_scan_saw_where_it_stopped() -> None:
    """In a scramble the rook gave check and went on before its square was looked at again."""
    sitting = from_position("r1k5/p1p2ppp/8/8/8/3R4/PP3PPP/3R2K1 w - - 0 1")
    sitting.touch("-d3 -c8 +k@b7 -a8 +R@a8 -b7 +k@a8 -d1 +R@d8", 0.25)

    assert ["Rd8+", "Kb7", "Rxa8", "Kxa8", "Rd8+"] == sitting.moves()


def test_a_reply_before_the_press() -> None:
    """The opponent's piece is up while the mover still reaches for the clock."""
    sitting = from_position(ITALIAN)
    sitting.touch("-d2 +P@d3 -d7", 0.2)
    sitting.press("white", 0.2)
    sitting.touch("+p@d6", 0.2)
    sitting.press("black")

    assert ["d3", "d6"] == sitting.moves()


def test_two_plies_in_one_scan() -> None:
    """Reported in the board's order, not in that of the hands."""
    sitting = from_position(ITALIAN)
    sitting.touch("+p@d6 -d7 +P@d3 -d2", 0.02)
    sitting.press("white", 0.3)
    sitting.press("black", 0.4)

    assert ["d3", "d6"] == sitting.moves()


def test_a_lost_update_heals() -> None:
    """The arrival was never reported; the next dump tells."""
    sitting = from_position(ITALIAN)
    sitting.touch("-d2")
    sitting.press("white")
    sitting.position(sitting.t + 5.0, "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/3P1N2/PPP2PPP/RNBQK2R")
    sitting.touch("-d7 +p@d6")
    sitting.press("black")

    assert ["d3", "d6"] == sitting.moves()


def test_a_lost_departure_heals() -> None:
    """A piece seems to stand on two squares until the board says otherwise."""
    sitting = from_position(ITALIAN)
    sitting.touch("+P@d3")
    sitting.press("white")
    sitting.touch("-d7 +p@d6")
    sitting.press("black")
    sitting.position(sitting.t + 5.0, "r1bqk1nr/ppp2ppp/2np4/2b1p3/2B1P3/3P1N2/PPP2PPP/RNBQK2R")

    assert ["d3", "d6"] == sitting.moves()


def test_a_misread_piece() -> None:
    """For one scan it is another; then it is what it is."""
    assert ["d3"] == played(ITALIAN, "-d2 +B@d3 +P@d3", pause=0.22)


# --- against the rules ------------------------------------------------------------------------------------------


def test_an_illegal_move_stands_when_it_is_pressed() -> None:
    """One piece from a to b; the game goes on from what stands."""
    sitting = from_position(ITALIAN)
    sitting.touch("-a1 +R@a3")
    before = sitting.moves(end=3.0)
    sitting.press("white")
    sitting.t += 3.0
    sitting.touch("-d7 +p@d6")
    sitting.press("black")
    moves = sitting.events("move")

    assert [] == before
    assert [("a1a3", "a1a3", False), ("d6", "d7d6", True)] == [(m["notation"], m["uci"], m["legal"]) for m in moves]
    assert "illegal_move" in {name for name, _ in sitting.alerts()}


def test_an_illegal_move_put_back_is_retracted() -> None:
    """The earlier position stands again."""
    sitting = from_position(ITALIAN)
    sitting.touch("-a1 +R@a3")
    sitting.press("white")
    sitting.t += 3.0
    sitting.clock(sitting.t, None)
    sitting.t += 2.0
    sitting.touch("-a3 +R@a1")

    assert ["takeback"] == [event["reason"] for event in sitting.events("move_retracted", end=20.0)]
    assert [] == sitting.moves(end=20.0)


def test_an_illegal_move_that_makes_the_reply_illegal() -> None:
    """The king stands beside the other one, and the opponent moves a pawn: both plies stand as they were made."""
    sitting = from_position("8/7p/8/5k2/8/5K2/8/8 w - - 0 20")
    sitting.touch("-f3 +K@f4")
    sitting.press("white")
    sitting.touch("-h7 +p@h6", 1.0)
    sitting.press("black")

    assert ["f3f4", "h7h6"] == sitting.moves()
    assert [] == sitting.events("move_retracted")


def test_two_illegal_moves_of_one_piece() -> None:
    """The second cannot have been made if the first was another; and then the board makes no sense for a while."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.touch("-g1 +N@g4", 1.0)
    sitting.press("white")
    sitting.touch("-e7 +p@e5", 1.0)
    sitting.press("black")
    sitting.touch("-g4 +N@c5", 1.0)
    sitting.press("white")
    sitting.touch("-b8 -c8", 1.0)
    sitting.t += 2.0
    sitting.press("black")
    sitting.touch("+n@b8 +b@c8 -f8 +b@c5")
    sitting.press("black")

    assert ["g1g4", "e5", "g4c5", "Bxc5"] == sitting.moves()


def test_an_illegal_move_without_a_clock() -> None:
    """It is completed by 20 s of rest."""
    sitting = from_position(ITALIAN, clock=None)
    sitting.touch("-a1 +R@a3")

    assert ([], ["a1a3"]) == (sitting.moves(end=19.0), sitting.moves(end=22.0))


# --- evenings ---------------------------------------------------------------------------------------------------


def test_several_games_in_a_row() -> None:
    """Each with its own moves; what was looked at between them is in neither."""
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6 Bc4 Nf6")
    sitting.clock(sitting.t + 1.0, None)
    sitting.touch("-e1 -e8 +K@d4 -e5 +k@e5", 0.6)
    sitting.t += 5.0
    sitting.touch("-d4 -e5 +K@e1 +k@e8 +p@e5 -f6 +n@g8 -c4 +B@f1 -f1 +B@b5", 0.8)
    sitting.position(sitting.t + 20.0, start)
    sitting.readings = {"white": 180.0, "black": 180.0}
    sitting.clock(sitting.t + 5.0, None)
    sitting.chess("d4 d5 c4")
    started = sitting.events("game_started")
    by_game = [[m["notation"] for m in sitting.events("move") if m["game_id"] == s["game_id"]] for s in started]

    assert [["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6"], ["d4", "d5", "c4"]] == by_game
    assert ["0-1"] == [event["result"] for event in sitting.events("game_ended")]
