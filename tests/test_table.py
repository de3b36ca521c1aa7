"""A table: when games begin and end, what they are called, which way round the board lies, and who has which clock."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sitting import DRAUGHTS_START, START, Sitting, standing

from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import (
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    Identity,
    LinkState,
    LogEntry,
    Numbered,
    Senses,
)
from gateway.reconstruct.phase import geometry
from gateway.record import START_FEN, position_from_fen
from gateway.table import Table

TURNED = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr"
ITALIAN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R"


def a_table(game: Any = "chess", white_side: Any = "auto", orientation: Any = "auto") -> Table:
    regulations = "fmjd-blitz" if game == "draughts" else "fide-blitz"
    board = BoardConfig("dgt", orientation=orientation)
    return Table(TableConfig("1", game, board, ClockConfig("board", white_side=white_side), regulations), "g")


def dump(placement: str) -> BoardDump:
    return BoardDump(position_from_fen("chess", f"{placement} w - - 0 1").pieces())


def pairs(events: list[dict[str, Any]], *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(event.get(key) for key in keys) for event in events]


# --- a game begins ----------------------------------------------------------------------------------------------


def test_a_clock_that_starts_over_the_start_position() -> None:
    """The game comes first, then the clock's event, in the same moment."""
    sitting = Sitting()
    sitting.clock(1.0, "white")

    assert [("connected", None), (None, "start_position"), ("started", None)] == pairs(
        sitting.events("clock", "game_started"), "change", "reason"
    )


def test_a_clock_that_runs_already() -> None:
    """The gateway came late, and the start position stands."""
    sitting = Sitting(clock=None)
    sitting.timed = True
    sitting.readings = {"white": 180.0, "black": 180.0}
    sitting.clock(1.0, "white")

    assert ["clock", "game_started"] == sorted(e["kind"] for e in sitting.events("clock", "game_started"))


def test_the_first_ply_starts_a_game_without_a_clock() -> None:
    """The game and its first ply come together."""
    sitting = Sitting(clock=None)
    sitting.chess("e4")

    assert [("game_started", None), ("move", 1)] == pairs(sitting.events()[1:], "kind", "ply")


def test_pieces_that_are_only_set_up_are_no_game() -> None:
    """However long they stand, and however often they are set up again."""
    sitting = Sitting()
    sitting.touch("-e2 -d2 +P@e2 +P@d2")
    sitting.position(60.0, START)

    assert [] == sitting.events("game_started", "move", end=600.0)


def test_a_game_whose_only_ply_was_taken_back_is_the_same() -> None:
    """Also after two plies."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.touch("-e2 +P@e4")
    sitting.t += 2.0
    sitting.touch("-e4 +P@e2")
    sitting.t += 5.0
    sitting.touch("-d2 +P@d4")
    sitting.press("white")

    assert 1 == len(sitting.events("game_started"))
    assert ["d4"] == sitting.moves()


def test_a_new_game_closes_one_without_result() -> None:
    """When it starts, not when the pieces are set up."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6")
    sitting.clock(sitting.t + 1, None)
    sitting.position(sitting.t + 5, START)
    before = sitting.events("game_ended")
    sitting.clock(sitting.t + 10, "white")

    assert [] == before
    assert [("game_started", None), ("game_ended", "set_up_again"), ("game_started", None)] == [
        (event["kind"], event["reason"] if event["kind"] == "game_ended" else None)
        for event in sitting.events("game_started", "game_ended")
    ]
    assert ["*"] == [event["result"] for event in sitting.events("game_ended")]


def test_play_may_come_back_to_the_start_position() -> None:
    """Knights out and home again is a repetition, and no new game."""
    sitting = Sitting()
    sitting.chess("Nf3 Nf6 Ng1 Ng8 e4 e5", pause=3.0)

    assert 1 == len(sitting.events("game_started"))
    assert ["Nf3", "Nf6", "Ng1", "Ng8", "e4", "e5"] == sitting.moves()


def test_after_a_result_the_start_position_is_a_new_game() -> None:
    """Also after a single ply, and at its own first move."""
    sitting = Sitting(clock=None)
    sitting.chess("e4")
    sitting.command(sitting.t + 1, "end_game", result="1-0")
    sitting.position(sitting.t + 5, START)
    sitting.chess("d4 d5")

    assert ["1-0"] == [event["result"] for event in sitting.events("game_ended")]
    assert ["d4", "d5"] == sitting.moves()


def test_a_clock_seen_running_over_an_unknown_position() -> None:
    """After 5 s the game is taken up from what stands, and the arbiter is told that moves are missing."""
    sitting = Sitting(placement=ITALIAN)
    sitting.clock(1.0, "black")
    sitting.clock(2.0, "black")
    events = sitting.events("game_started", "alert", end=20.0)

    assert [("game_started", "resumed"), ("alert", None)] == pairs(events, "kind", "reason")
    assert f"{ITALIAN} b KQkq - 0 1" == events[0]["start_fen"]
    assert "10:00:06.000" in events[0]["time"]
    assert "record_gap" == events[1]["irregularity"]


def test_nothing_is_taken_up_from_an_impossible_position() -> None:
    """The arbiters' board shows it; there are no moves and no alerts of play."""
    sitting = Sitting(placement="rnbq1bnr/8/8/8/8/8/8/RNBQ1BNR")
    sitting.clock(1.0, "white")
    sitting.touch("-b1 +N@c3")

    assert [] == sitting.events("game_started", "move", "alert", end=60.0)
    assert "rnbq1bnr/8/8/8/8/2N5/8/R1BQ1BNR" == sitting.topic("arbiter/1/board")[-1]["physical"]


def test_a_resumed_board_that_lies_the_other_way() -> None:
    """The men tell."""
    turned = "/".join(rank[::-1] for rank in reversed(ITALIAN.split("/")))
    sitting = Sitting(placement=turned)
    sitting.clock(1.0, "white")
    (started,) = sitting.events("game_started", end=10.0)

    assert (f"{ITALIAN} w KQkq - 0 1", "rotated") == (started["start_fen"], started["orientation"])


def test_names_of_games() -> None:
    """The table and the second in which it started; a second game of that second gets a number, and so on."""
    sitting = Sitting(placement=None, clock=None)
    for t in (1.0, 1.2, 1.4, 2.0):
        sitting.command(t, "start_game")
    started = sitting.events("game_started")

    assert ["1-20260501T100001Z", "1-20260501T100001Z-2", "1-20260501T100001Z-3", "1-20260501T100002Z"] == [
        event["game_id"] for event in started
    ]


# --- a game ends ------------------------------------------------------------------------------------------------


def test_mate_ends_the_game_when_it_is_confirmed() -> None:
    """At the press; the mate itself is published before."""
    sitting = Sitting()
    sitting.chess("f3 e5 g4 Qh4#")

    assert [("move", None), ("clock", None), ("move_confirmed", None), ("game_ended", "checkmate")] == pairs(
        sitting.events("move", "clock", "move_confirmed", "game_ended")[-4:], "kind", "reason"
    )


@pytest.mark.parametrize(
    ("expected", "squares"),
    [
        ("1-0", ("e4", "d5")),
        ("1-0", ("d5", "e4")),
        ("0-1", ("d4", "e5")),
        ("0-1", ("e5", "d4")),
        ("1/2-1/2", ("e4", "e5")),
        ("1/2-1/2", ("d4", "d5")),
    ],
)
def test_the_kings_show_the_result(expected: str, squares: tuple[str, str]) -> None:
    """Both on light squares, both on dark ones, or on one of each; after 3 s at rest, and none of it is a move."""
    sitting = Sitting()
    sitting.chess("c4 c5 Nc3 Nc6")
    sitting.clock(sitting.t + 1, None)
    sitting.touch(f"-e1 -e8 +K@{squares[0]} +k@{squares[1]}")
    placed = sitting.t
    (ended,) = sitting.events("game_ended", end=10.0)

    assert (expected, "kings_signal") == (ended["result"], ended["reason"])
    assert f"10:00:{placed + 3:06.3f}Z" == ended["time"][11:]
    assert ["c4", "c5", "Nc3", "Nc6"] == sitting.moves(end=10.0)


def test_kings_that_are_corrected() -> None:
    """The last that stands for 3 s counts, also after the first has been taken."""
    sitting = Sitting()
    sitting.chess("c4 c5 Nc3 Nc6")
    sitting.clock(sitting.t + 1, None)
    sitting.touch("-e1 -e8 +K@e4 +k@d5")
    sitting.t += 5.0
    sitting.touch("-e4 -d5 +K@d4 +k@e5")

    assert ["1-0", "0-1"] == [event["result"] for event in sitting.events("game_ended", end=10.0)]


def test_kings_before_the_clocks_are_stopped() -> None:
    """The result comes all the same."""
    sitting = Sitting()
    sitting.chess("c4 c5 Nc3 Nc6")
    sitting.touch("-e1 -e8 +K@e4 +k@d5")
    sitting.clock(sitting.t + 1, None)

    assert ["1-0"] == [event["result"] for event in sitting.events("game_ended", end=10.0)]
    assert ["c4", "c5", "Nc3", "Nc6"] == sitting.moves(end=10.0)


@pytest.mark.parametrize("touches", ["-e1 +K@e4", "-e1 -e8 +K@e4 +k@d6"])
def test_one_king_in_the_centre_says_nothing(touches: str) -> None:
    """A king that is laid down is the players' own affair."""
    sitting = Sitting()
    sitting.chess("c4 c5 Nc3 Nc6")
    sitting.clock(sitting.t + 1, None)
    sitting.touch(touches)

    assert [] == sitting.events("game_ended", end=30.0)


def test_kings_against_a_mate_only_alert() -> None:
    """The position on the board has spoken."""
    sitting = Sitting()
    sitting.chess("f3 e5 g4 Qh4#")
    sitting.clock(sitting.t + 1, None)
    sitting.touch("-e1 -e8 -e5 +K@e4 +k@d5")

    assert [("0-1", "checkmate")] == pairs(sitting.events("game_ended", end=10.0), "result", "reason")


def test_a_flag_only_alerts() -> None:
    """The game goes on until somebody ends it."""
    sitting = Sitting()
    sitting.chess("e4 e5")
    sitting.readings["white"] = 0.5
    sitting.clock(sitting.t + 0.5, "white", "flags=white")

    assert [] == sitting.events("game_ended", end=60.0)
    assert ["flag"] == [event["change"] for event in sitting.events("clock")][-1:]
    assert "flag_fall" in {name for name, _ in sitting.alerts(end=60.0)}


# --- orientation and clocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "placement"), [("normal", START), ("rotated", TURNED), (None, ITALIAN), (None, "8/8/8/8/8/8/8/8")]
)
def test_the_start_position_tells_how_the_board_lies(expected: str | None, placement: str) -> None:
    """Nothing else does before a game."""
    table = a_table()
    table.observe(dump(placement), 0.0)

    assert expected == table.orientation


def test_a_rotated_board_is_read_the_other_way() -> None:
    """Moves are White's and Black's, whichever square the board names."""
    table = a_table()
    table.observe(dump(TURNED), 0.0)
    events = _played(table, [(1.0, "d7", None), (1.3, "d5", "P")])

    assert ["e4"] == [n.event.notation for n in events if n.event.kind == "move"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("expected", "orientation", "running"),
    [("left", "normal", "left"), ("right", "normal", "right"), ("right", "rotated", "right"),
     ("left", "rotated", "left")],
)  # fmt: skip
def test_the_first_running_side_is_whites(expected: str, orientation: str, running: Any) -> None:
    """Whatever the board's orientation made us think; the event says White."""
    table = a_table()
    table.observe(dump(START if orientation == "normal" else TURNED), 0.0)
    table.observe(ClockTimes(180, 179, None), 0.5)
    events = table.observe(ClockTimes(180, 179, running), 1.0)
    (clock,) = [numbered.event for numbered in events if numbered.event.kind == "clock"]

    assert expected == table.clock.white_side
    assert ("white", 180 if expected == "left" else 179) == (clock.side, clock.white)  # type: ignore[union-attr]


def test_a_configured_orientation_seats_white() -> None:
    """Before any game and without a start position."""
    table = a_table(orientation="rotated")

    assert ("rotated", "right") == (table.orientation, table.clock.white_side)


def test_a_configured_side_stays() -> None:
    """Nothing is guessed where it was told."""
    table = a_table(white_side="left")
    table.observe(dump(START), 0.0)
    table.observe(ClockTimes(180, 180, None), 0.5)
    events = table.observe(ClockTimes(180, 180, "right"), 1.0)

    assert ["black"] == [n.event.side for n in events if n.event.kind == "clock"]  # type: ignore[union-attr]


def test_every_game_may_be_corrected() -> None:
    """After the players have exchanged their seats the first running side is White's again."""
    table = a_table()
    table.observe(dump(START), 0.0)
    table.observe(ClockTimes(180, 180, None), 0.5)
    table.observe(ClockTimes(180, 180, "left"), 1.0)
    _played(table, [(2.0, "e2", None), (2.3, "e4", "P"), (3.0, "e7", None), (3.3, "e5", "p"), (4.0, "g1", None),
                    (4.3, "f3", "N")])  # fmt: skip
    table.observe(ClockTimes(170, 170, None), 6.0)
    table.observe(dump(TURNED), 10.0)
    table.tick(11.5)
    table.observe(ClockTimes(180, 180, "right"), 20.0)

    assert ("rotated", "right") == (table.orientation, table.clock.white_side)
    assert table.game is not None
    assert 0 == table.game.record.ply


def _played(table: Table, touches: list[tuple[float, str, str | None]]) -> list[Numbered]:
    found: list[Numbered] = []
    for at, square, piece in touches:
        found += table.observe(FieldUpdate(square, piece), at)
    while table.deadline is not None and table.deadline <= touches[-1][0] + 0.4:
        found += table.tick(table.deadline)
    return found


# --- links ------------------------------------------------------------------------------------------------------


def test_a_link_is_told_when_it_changes() -> None:
    """Not when it is said again; with what is known of the reason."""
    table = a_table()
    said = [LinkState("board", True), LinkState("board", True), LinkState("board", False, "no answer")]
    events = [n.event for at, state in enumerate(said) for n in table.observe(state, float(at))]

    assert [("up", None), ("down", "no answer")] == [(e.state, e.detail) for e in events]  # type: ignore[union-attr]


def test_a_clock_with_its_own_port_is_told_likewise() -> None:
    """And its clock is gone with it."""
    table = a_table()
    table.observe(LinkState("clock", True), 0.0)
    table.observe(ClockTimes(180, 180, None), 0.5)
    again = table.observe(LinkState("clock", True), 1.0)
    down = table.observe(LinkState("clock", False), 2.0)

    assert [] == again
    assert ["link", "clock"] == [numbered.event.kind for numbered in down]


def test_the_clock_goes_with_the_board() -> None:
    """It hangs on the board's jack."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    sitting.down(2.0)
    sitting.up(3.0)
    sitting.clock(4.0, "white")

    assert [
        ("link", "up", None), ("clock", None, "connected"), ("clock", None, "started"), ("link", "down", None),
        ("clock", None, "disconnected"), ("link", "up", None), ("clock", None, "connected"),
    ] == pairs(sitting.events("link", "clock"), "kind", "state", "change")  # fmt: skip


# --- numbers ----------------------------------------------------------------------------------------------------


def test_both_streams_count_from_one_without_gaps() -> None:
    """Through all games; the id is made of gateway, table and number."""
    sitting = Sitting()
    sitting.chess("e4 e5 Nf3 Nc6")
    sitting.command(sitting.t + 1, "resume")
    sitting.clock(sitting.t + 1, None)
    sitting.position(sitting.t + 9, START)
    sitting.chess("d4 d5")
    events = sitting.events()
    public = [event for event in events if event["kind"] not in ("alert", "command")]
    private = [event for event in events if event["kind"] in ("alert", "command")]

    assert [(f"g.1.{n}", n) for n in range(1, len(public) + 1)] == pairs(public, "id", "seq")
    assert [(f"g.1.a{n}", n) for n in range(1, len(private) + 1)] == pairs(private, "id", "seq")
    assert len(private) >= 2


def test_stamps_wait_for_a_wall_clock_that_was_set_back() -> None:
    """They are held at the last one until time has passed it."""
    table = a_table()
    table.epoch = 1000.0
    stamps = [table.observe(LinkState("board", True), 1.0)[0].stamp]
    table.epoch = 990.0
    stamps += [table.observe(LinkState("board", up), at)[0].stamp for up, at in ((False, 2.0), (True, 30.0))]

    assert [1001.0, 1001.0, 1020.0] == stamps


def test_stamps_are_kept_across_a_restart() -> None:
    """A gateway that starts with a wrong clock says nothing earlier than it said before."""
    table, again = a_table(), a_table()
    table.epoch = 1000.0
    table.observe(LinkState("board", True), 1.0)
    again.restore(table.state())
    (numbered,) = again.observe(LinkState("board", False), 2.0)

    assert (1001.0, 2, "g.1.2") == (numbered.stamp, numbered.seq, numbered.id)


# --- whatever comes ---------------------------------------------------------------------------------------------

PIECES = {"chess": "PNBRQKpnbrqk?XYZ", "draughts": "wbWB?"}


def observations(game: Any) -> st.SearchStrategy[Any]:
    squares = st.sampled_from(sorted(geometry(game).index))
    pieces = st.sampled_from(PIECES[game])
    start = position_from_fen(game, START_FEN[game]).pieces()
    sides = st.sampled_from([None, "left", "right"])
    return st.one_of(
        st.builds(FieldUpdate, squares, st.none() | pieces),
        st.builds(BoardDump, st.dictionaries(squares, pieces, max_size=40)),
        st.just(BoardDump(start)),
        st.builds(ClockTimes, st.integers(0, 400).map(float), st.integers(0, 400).map(float), sides, sides),
        st.just(ClockAbsent()),
        st.builds(LinkState, st.sampled_from(["board", "clock"]), st.booleans()),
        st.builds(Senses, st.booleans()),
        st.builds(Battery, st.integers(0, 100)),
        st.builds(Identity, st.sampled_from(["serial", "name"]), st.text()),
        st.builds(FrameRejected, st.text(), st.integers(1, 99)),
        st.builds(
            BoardLog,
            st.lists(st.builds(LogEntry, st.none() | squares, st.none() | pieces), max_size=6).map(tuple),
            st.booleans(),
        ),
    )


@pytest.mark.parametrize("game", ["chess", "draughts"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_nothing_that_a_board_says_is_too_much(game: Any, data: st.DataObject) -> None:
    """No sequence of observations raises, timers come to rest, and the rivals stay bounded."""
    table = a_table(game)
    at = 0.0
    for observation in data.draw(st.lists(observations(game), max_size=40)):
        at += data.draw(st.sampled_from([0.0, 0.05, 0.4, 3.0, 30.0]))
        fired = 0
        while table.deadline is not None and table.deadline <= at:
            table.tick(table.deadline)
            fired += 1
            assert fired < 200
        table.observe(observation, at)
        if table.game:
            assert len(table.game.follow.rivals.beam) <= 40


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(geometry("chess").index)), st.sampled_from([None, *"PNQKpnqk"])),
                max_size=60))  # fmt: skip
def test_what_is_told_is_a_game(touches: list[tuple[str, str | None]]) -> None:
    """Plies, retractions and positions, applied in order, always count on."""
    sitting = Sitting()
    sitting.clock(1.0, "white")
    for square, piece in touches:
        sitting.touch(f"+{piece}@{square}" if piece else f"-{square}", 0.3)
    events = sitting.events(end=30.0)

    assert [*range(1, len(standing(events)) + 1)] == [move["ply"] for move in standing(events)]


def test_draughts_begin_alike() -> None:
    """The start position of either game begins it, either way round."""
    for turned in (False, True):
        sitting = Sitting("draughts", placement=DRAUGHTS_START)
        if turned:
            men = range(1, 21), range(31, 51)
            sitting.position(0.3, "W{}:B{}".format(*(",".join(map(str, squares)) for squares in men)))
        sitting.clock(1.0, "white")

        assert ["rotated" if turned else "normal"] == [e["orientation"] for e in sitting.events("game_started")]
