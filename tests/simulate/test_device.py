"""Boards: what is sampled when, what is lost, what the clock shows, and what a patient reader makes of tidy hands."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from random_games import play, random_chess, random_draughts

from benchmarks.settle import Settle
from gateway.events import BoardDump, ClockTimes, FieldUpdate, LinkState, Move, Observation, Senses
from gateway.simulate.clock import ChessClock, ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, WHOLE, Board, BoardModel, Trace, scan_order, turned
from gateway.simulate.habits import RAPID, TIDY
from gateway.simulate.hand import Act, Change, ClockSwitch, Performance, Press
from gateway.simulate.score import Score

CALM = replace(RAPID, instant=0.0, instant_recapture=0.0)
"""Nobody answers before the opponent has pressed."""

START = {"e2": "P", "e7": "p"}


def trace(changes: list[Act], model: BoardModel = CLASSIC, seed: int = 0, end: float = 10.0) -> Trace:
    """What a board says of a few changes."""
    return Board(model, Performance(dict(START), changes, [], end), "chess", Random(seed)).trace(None)


def updates(observations: list[tuple[float, Observation]]) -> list[FieldUpdate]:
    return [said for _, said in observations if isinstance(said, FieldUpdate)]


def follow(score: Score, model: BoardModel, seed: int) -> list[str]:
    """What a settle reader publishes of a tidy game."""
    performance = play(score, CALM, TIDY, seed)
    reader = Settle(score, 0.25)
    names = []
    for at, observation in Board(model, performance, score.game, Random(seed)).trace(None).observations:
        while reader.deadline is not None and reader.deadline <= at:
            names += [numbered.event for numbered in reader.tick(reader.deadline)]
        reader.observe(observation, at)
    names += [numbered.event for numbered in reader.tick(performance.end)]
    return [event.notation for event in names if isinstance(event, Move)]


@pytest.mark.parametrize("model", [CLASSIC, replace(CLASSIC, rotated=True), WHOLE], ids=["classic", "turned", "whole"])
def test_tidy_hands_are_followed_by_a_patient_reader(model: BoardModel) -> None:
    """Lift, take, set down, press: whoever waits a quarter of a second gets every ply."""
    for seed in range(3):
        score = random_chess(seed)

        assert follow(score, model, seed) == [ply.name for ply in score.plies]


def test_tidy_draughts_are_followed_by_a_patient_reader() -> None:
    """The same in draughts."""
    for seed in range(4):
        score = random_draughts(seed)

        assert follow(score, CLASSIC, seed) == [ply.name for ply in score.plies]


def test_a_square_is_reported_at_its_own_moment() -> None:
    """Within a scan the squares come row by row from the far left, however the hands went."""
    both = trace([Change(1.0, "e2", None), Change(1.001, "e4", "P")])
    moments = {said.square: at for at, said in both.observations if isinstance(said, FieldUpdate)}
    place = {square: index for index, square in enumerate(scan_order("chess"))}
    gap = (place["e2"] - place["e4"]) * CLASSIC.period / 64

    assert all(1.0 <= at <= 1.0 + CLASSIC.period + CLASSIC.latency for at in moments.values())
    assert abs((moments["e2"] - moments["e4"]) % CLASSIC.period - gap) < 2 * CLASSIC.latency


def test_what_comes_and_goes_within_a_scan_is_never_seen() -> None:
    """Three milliseconds on a square are seen in about one of seventy phases."""
    seen = sum(
        bool(updates(trace([Change(1.0, "e4", "P"), Change(1.003, "e4", None)], seed=seed).observations))
        for seed in range(300)
    )

    assert seen < 20


def test_two_changes_of_a_square_are_reported_in_order() -> None:
    """A capture may come as victim, captor, without the empty square; never the other way round."""
    for seed in range(50):
        said = updates(trace([Change(1.0, "e7", None), Change(1.1, "e7", "P")], seed=seed).observations)

        assert said in ([FieldUpdate("e7", None), FieldUpdate("e7", "P")], [FieldUpdate("e7", "P")])


def test_an_occupancy_board_knows_no_pieces() -> None:
    """It says so first, and then only that squares are taken."""
    told = trace([Change(1.0, "e2", None), Change(2.0, "e4", "P")], OCCUPANCY)

    assert told.observations[1][1] == Senses(pieces=False)
    assert told.observations[2][1] == BoardDump({"e2": "?", "e7": "?"})
    assert updates(told.observations) == [FieldUpdate("e2", None), FieldUpdate("e4", "?")]


def test_a_turned_board_names_squares_from_the_other_side() -> None:
    """Everything it says is in its own frame."""
    told = trace([Change(1.0, "e2", None)], replace(CLASSIC, rotated=True))

    assert updates(told.observations) == [FieldUpdate("d7", None)]
    assert turned("1") == "50"


def test_a_whole_position_board_says_everything_after_a_scan() -> None:
    """One dump per scan that found a change, and the last of them is what stands."""
    told = trace([Change(1.0, "e2", None), Change(1.5, "e4", "P")], WHOLE)
    dumps = [said for _, said in told.observations if isinstance(said, BoardDump)]

    assert 2 <= len(dumps) <= 3
    assert dumps[-1] == BoardDump({"e4": "P", "e7": "p"})


def test_a_misread_piece_is_put_right_by_the_next_scan() -> None:
    """A wrong piece, then the right one on the same square."""
    wrong, right = updates(trace([Change(1.0, "e4", "P")], replace(CLASSIC, misread=1.0)).observations)

    assert wrong.square == right.square == "e4"
    assert wrong.piece != "P"
    assert right.piece == "P"


def test_lost_updates_never_come() -> None:
    """Nothing is said again."""
    assert not updates(trace([Change(1.0, "e2", None)], replace(CLASSIC, lost=1.0)).observations)


def test_a_cable_that_is_out_carries_nothing_and_comes_back_with_a_dump() -> None:
    """Down, silence, up, and what stands now."""
    told = trace([Change(2.0, "e2", None), Change(2.5, "e4", "P")], replace(CLASSIC, out=(1.5, 4.0)))

    assert [said for at, said in told.observations if at >= 1.5] == [
        LinkState("board", False),
        LinkState("board", True),
        BoardDump({"e4": "P", "e7": "p"}),
    ]


def test_clock_credits_the_increment_at_the_press() -> None:
    """As recorded: the side that pressed goes up in the message that shows the lever."""
    clock = ChessClock(ClockModel(180, 2))
    clock.act(ClockSwitch(2.0, "start"))
    clock.act(Press(6.5, "white"))
    clock.advance(7.6)

    assert clock.face() == ClockTimes(left=177.0, right=178.0, running="right", lever="right")


def test_pressing_a_button_that_is_down_changes_nothing() -> None:
    """No increment, no lever."""
    clock = ChessClock(ClockModel(180, 2))
    clock.act(ClockSwitch(2.0, "start"))
    clock.act(Press(4.0, "black"))

    assert clock.face().running == "left"
    assert clock.face().right == 180.0


def test_a_fallen_flag_blocks_the_clock() -> None:
    """Zero, the flag, and nothing runs."""
    clock = ChessClock(ClockModel(5, 0))
    clock.act(ClockSwitch(1.0, "start"))
    clock.advance(20.0)

    assert clock.face() == ClockTimes(left=0.0, right=5.0, running=None, lever="left", flags=frozenset({"left"}))


def test_a_lever_is_known_to_the_next_poll() -> None:
    """Half a second at most after the press, and about one message a second while a clock runs."""
    performance = Performance(dict(START), [ClockSwitch(1.0, "start"), Press(5.0, "white")], [], 20.0)
    told = Board(CLASSIC, performance, "chess", Random(1)).trace(ClockModel(180, 2))
    clocks = [(at, said) for at, said in told.observations if isinstance(said, ClockTimes)]
    flipped = next(at for at, said in clocks if said.running == "right")

    assert 5.0 <= flipped <= 5.5
    assert 18 <= len(clocks) <= 24
