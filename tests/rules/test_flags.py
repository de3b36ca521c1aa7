"""Flags that fall, and periods that are passed."""

from __future__ import annotations

import pytest
from clocked import Scene

PAWNS = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 60"
ROOKS = "4k3/8/8/8/8/8/8/r3K3 w - - 0 60"
LONE = "4k3/8/8/8/8/8/8/R3K3 w - - 0 60"
KINGS = "W:W31,K46:BK5,10"
EARLY = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"


def running_out(
    fen: str = PAWNS, regulations: str = "fide-rapid", control: str = "900", left: float = 5, **more: object
) -> Scene:
    """White's last seconds."""
    scene = Scene(regulations, control, fen, **more)  # type: ignore[arg-type]
    return scene.ticking(0, left - 1, left, 60, "white")


def kinds(scene: Scene) -> list[str]:
    """Which alerts were raised, time trouble and settings left out."""
    quiet = ("time_trouble", "time_control_outside_regulations", "draw_claim_last_minute")
    return [kind for kind, *_ in scene.raised() if kind not in quiet]


class TestFlagFall:
    def test_the_bit(self) -> None:
        scene = running_out(ROOKS).clock(5, 0, 60, "white", flags=("white",)).until(10)

        assert [("flag_fall", 5.2, "white")] == scene.raised("flag_fall")
        assert ["flag_fall"] == kinds(scene)

    def test_a_reading_of_zero_that_stays(self) -> None:
        """Without a flag a second is waited for: readings are cut."""
        scene = running_out(ROOKS).clock(5, 0, 60, "white").until(10)

        assert [("flag_fall", 6.2, "white")] == scene.raised("flag_fall")

    def test_a_press_in_the_last_second_is_innocent(self) -> None:
        scene = running_out(ROOKS, control="900+3").clock(5, 0.4, 60, "white").ply(5.3, "e1", "e2")

        assert [] == kinds(scene.clock(5.8, 3, 60, "black").until(20))

    def test_the_bit_on_a_clock_that_stopped_itself(self) -> None:
        scene = running_out(ROOKS).clock(5, 0, 60, None, flags=("white",)).until(10)

        assert ["flag_fall"] == kinds(scene)

    def test_moves_made_in_time_are_innocent(self) -> None:
        scene = Scene("fide-standard", "40/5400:1800", EARLY, moves_completed={"white": 39, "black": 39})
        scene.ticking(0, 3, 30, 60, "white").ply(3.5, "f1", "b5").clock(4, 26, 60, "black")
        scene.ply(9, "a7", "a6").clock(9.5, 26, 55, "white").ticking(10, 34, 25, 55, "white")
        scene.clock(36, 0, 55, "white", flags=("white",)).until(40)

        assert ["time_control_reached"] == kinds(scene)

    def test_too_few_moves(self) -> None:
        scene = running_out(EARLY, "fide-standard", "40/5400:1800", moves_completed={"white": 30, "black": 30})
        scene.clock(5, 0, 60, "white", flags=("white",)).until(10)

        assert ["flag_fall"] == kinds(scene)

    def test_the_next_period_does_not_hide_it(self) -> None:
        """Some clocks go on by themselves; with too few moves the flag has fallen all the same."""
        scene = running_out(EARLY, "fide-standard", "40/5400:1800", moves_completed={"white": 30, "black": 30})
        scene.clock(5.2, 1800, 60, "white").until(20)

        assert [("flag_fall", 5.4, "white")] == scene.raised("flag_fall")

    def test_the_last_period_after_a_control(self) -> None:
        """The second time a clock runs out nothing comes after it."""
        scene = running_out(EARLY, "fide-standard", "40/5400:1800", moves_completed={"white": 45, "black": 45})
        scene.clock(5, 0, 60, "white", flags=("white",)).until(10)

        assert ["flag_fall"] == kinds(scene)

    def test_mate_before_it_is_innocent(self) -> None:
        scene = Scene("fide-rapid", "900", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 40").ticking(0, 4, 5, 60, "white")
        scene.ply(4.5, "a1", "a8").clock(5, 0, 60, "white", flags=("white",)).until(20)

        assert [] == scene.raised("flag_fall")

    def test_a_shown_result_is_innocent(self) -> None:
        scene = running_out(left=30).ply(30, "e1", "e4").ply(31, "e8", "d5")
        scene.clock(31.5, 0, 60, "white", flags=("white",)).until(40)

        assert [] == scene.raised("flag_fall")

    def test_an_ended_game_is_innocent(self) -> None:
        scene = running_out().command("end_game", result="1-0").clock(5, 0, 60, "white", flags=("white",)).until(9)

        assert [] == scene.raised("flag_fall")

    def test_a_delay_still_runs(self) -> None:
        """A clock that waits shows 0 while the delay is left."""
        scene = running_out(ROOKS, control="900d5").clock(5, 0, 60, "white").until(9)

        assert [] == scene.raised("flag_fall")
        assert ["flag_fall"] == [kind for kind, *_ in scene.until(12).raised("flag_fall")]

    def test_close_to_a_move_nothing_is_decided(self) -> None:
        scene = running_out(ROOKS).ply(4.8, "e1", "e2").clock(5, 0, 60, "white", flags=("white",)).until(10)
        evidence = next(alert.evidence for _, alert in scene.alerts() if alert.irregularity == "flag_fall")

        assert evidence["undecided"]
        assert 4.8 == evidence["move"]

    def test_a_clock_set_right_clears_it(self) -> None:
        scene = running_out(ROOKS).clock(5, 0, 60, None, flags=("white",)).clock(60, 120, 60, None).until(70)

        assert ["raised", "cleared"] == scene.states("flag_fall")


class TestTheOpponent:
    def test_cannot_win(self) -> None:
        scene = running_out(LONE).clock(5, 0, 60, "white", flags=("white",)).until(10)

        assert [("flag_fall_opponent_cannot_win", 5.2, "white")] == scene.raised("flag_fall_opponent_cannot_win")

    @pytest.mark.parametrize(
        "fen", [PAWNS, ROOKS, "4k3/8/8/8/8/8/R7/n3K3 w - - 0 60", "4k3/8/8/8/8/8/8/nn2K3 w - - 0 60"]
    )
    def test_only_a_proof_counts(self, fen: str) -> None:
        """A knight mates beside an enemy rook, two knights mate in the corner."""
        scene = running_out(fen).clock(5, 0, 60, "white", flags=("white",)).until(10)

        assert ["flag_fall"] == kinds(scene)


class TestBothFlags:
    def test_in_one_report(self) -> None:
        scene = Scene("fide-rapid", "900", PAWNS, guidelines_iii=True).clock(0, 0, 0, None, flags=("white", "black"))
        evidence = scene.until(5).alerts()[-1][1].evidence

        assert [("both_flags_down", 0.5, None)] == scene.raised("both_flags_down")
        assert [] == scene.raised("flag_fall")
        assert "draw (FIDE III.3.1.2)" == evidence["consequence"]

    def test_one_after_the_other(self) -> None:
        """The clock shows which was first: he has lost."""
        scene = running_out(ROOKS).clock(5, 0, 3, "black", flags=("white",)).clock(6, 0, 2, "black", flags=("white",))
        scene.clock(8, 0, 0, "black", flags=("white", "black")).until(12)

        assert ["flag_fall", "both_flags_down"] == kinds(scene)
        assert [["white", 5.0], ["black", 8.0]] == scene.alerts()[-1][1].evidence["order"]

    def test_after_a_ruling_on_the_first_is_innocent(self) -> None:
        """The game was decided by it, and the clock merely runs on."""
        scene = running_out(ROOKS).clock(5, 0, 3, "black", flags=("white",)).until(6)
        scene.command("acknowledge", irregularity="flag_fall", ruling="upheld")
        scene.clock(8, 0, 0, "black", flags=("white", "black")).until(12)

        assert ["flag_fall"] == kinds(scene)

    def test_the_menu_is_innocent(self) -> None:
        """Both at 0 without ever having run."""
        assert [] == kinds(Scene("fide-rapid", "900", PAWNS).clock(0, 0, 0, None).until(10))

    def test_draughts_without_increment(self) -> None:
        scene = Scene("fmjd-rapid", "900", KINGS, game="draughts")
        scene.clock(0, 0, 0, None, flags=("white", "black")).until(5)

        assert [("both_flags_down", 0.5, None)] == scene.raised("both_flags_down")


class TestPlayAfterTheFlag:
    def _played(self, plies: int) -> Scene:
        scene = running_out().clock(5, 0, 60, "white", flags=("white",))
        for number in range(plies):
            at, origin, target = 9.7 + 5 * number, *(("e1", "e2") if number % 2 == 0 else ("e8", "e7"))
            running = "black" if number % 2 == 0 else "white"
            scene.ply(at, origin, target).clock(at + 0.6, 0, 55, running, flags=("white",))
        return scene.until(scene.at + 3)

    def test_two_more_moves(self) -> None:
        assert [("play_after_flag_fall", 15.3, "white")] == self._played(2).raised("play_after_flag_fall")

    def test_one_in_flight_is_innocent(self) -> None:
        assert [] == self._played(1).raised("play_after_flag_fall")


class TestControlReached:
    def test_the_clock_adds_at_the_press(self) -> None:
        scene = Scene(
            "fmjd-standard", "50/7200:25/3600", KINGS, game="draughts", moves_completed={"white": 49, "black": 49}
        )
        scene.ticking(0, 4, 30, 400, "white").ply(4.6, "31", "27").clock(5.2, 3624, 400, "black").until(10)

        assert [("time_control_reached", 6.2, "white")] == scene.raised("time_control_reached")
        assert ["time_control_reached"] == kinds(scene)

    def test_once_for_each_period(self) -> None:
        """The flag, then the new time: one control."""
        scene = Scene("fide-standard", "40/5400:1800", EARLY, moves_completed={"white": 39, "black": 39})
        scene.ticking(0, 2, 9, 60, "white").ply(2.5, "f1", "b5").clock(3, 6, 60, "black")
        scene.ply(4.5, "a7", "a6").clock(5, 6, 58, "white").ticking(6, 9, 5, 58, "white")
        scene.clock(11, 0, 58, "white", flags=("white",)).ticking(12, 20, 1799, 58, "white").until(30)

        assert ["time_control_reached"] == kinds(scene)

    @pytest.mark.parametrize("regulations, control", [("fide-rapid", "900+10"), ("fide-blitz", "180")])
    def test_without_periods_there_is_none(self, regulations: str, control: str) -> None:
        scene = Scene(regulations, control, EARLY).ticking(0, 20, 500, 400, "white")

        assert [] == scene.raised("time_control_reached")
