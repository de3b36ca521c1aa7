"""What the clock shows: set wrong, changed, put right by the arbiter, not keeping time."""

from __future__ import annotations

import pytest
from clocked import Played, Scene

MIDDLE = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
PLIES = ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "d2d3", "d7d6", "c2c3", "g7g6")


def stopped(regulations: str = "fide-standard", control: str = "5400+30") -> Scene:
    """A game in play whose clock has been stopped."""
    scene = Scene(regulations, control, MIDDLE).ticking(0, 5, 3000, 2900, "white")
    return scene.clock(6, 2994, 2900, None)


class TestSettingAtTheStart:
    @pytest.mark.parametrize("white, black", [(3600, 3600), (5400, 5397), (5405, 5400), (5460, 5460)])
    def test_wrong(self, white: float, black: float) -> None:
        scene = Scene().clock(0, white, black, None).clock(5, white, black, "white").until(20)

        assert [("clock_setting_wrong", 8.0, None)] == scene.raised("clock_setting_wrong")

    @pytest.mark.parametrize(
        "control, reading", [("5400+30", 5400), ("5400+30", 5430), ("5400+30", 5399), ("5400d5", 5405)]
    )
    def test_right(self, control: str, reading: float) -> None:
        """The base, or the base with the first increment, either way of rounding."""
        scene = Scene(control=control).clock(0, reading, reading, None).clock(5, reading, reading, "white").until(20)

        assert [] == scene.raised("clock_setting_wrong")

    def test_put_right(self) -> None:
        """Stopped, set and started again."""
        scene = Scene().clock(0, 3600, 3600, None).clock(5, 3600, 3600, "white").clock(12, 3593, 3600, None)
        scene.clock(30, 5400, 5400, None).clock(40, 5400, 5400, "white").until(50)

        assert ["raised", "cleared"] == scene.states("clock_setting_wrong")

    def test_the_menu_is_innocent(self) -> None:
        """Both stand, whatever they show."""
        scene = Scene().clock(0, 0, 0, None).clock(5, 3600, 3600, None).clock(9, 5400, 5400, None)

        assert [] == scene.clock(20, 5400, 5400, "white").until(30).raised()

    def test_a_clock_that_ran_before_is_innocent(self) -> None:
        """The gateway came up with the clock running: that is no first start."""
        assert [] == Scene().clock(0, 4000, 4100, "white").until(20).raised("clock_setting_wrong")

    def test_a_game_taken_up_later_is_innocent(self) -> None:
        scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None).clock(5, 3000, 2900, "white").until(20)

        assert [] == scene.raised("clock_setting_wrong")

    def test_a_draughts_clock_that_counts_up_is_innocent(self) -> None:
        scene = Scene("fmjd-standard", "4800+60", game="draughts").clock(0, 0, 0, None).clock(5, 0, 0, "white")

        assert [] == scene.until(20).raised("clock_setting_wrong")

    def test_an_unknown_control_is_innocent(self) -> None:
        assert [] == Scene(control="?").clock(0, 77, 88, None).clock(5, 77, 88, "white").until(20).raised()


class TestIncrements:
    @pytest.mark.parametrize("regulations, control, base, increment", [
        ("fide-standard", "5400+30", 5400, 0), ("fide-blitz", "180+2", 180, 5), ("fide-blitz", "180+2", 180, 0),
        ("fide-rapid", "900+10", 900, 5),
    ])  # fmt: skip
    def test_other_ones_at_four_presses(self, regulations: str, control: str, base: int, increment: int) -> None:
        scene = Scene(regulations, control).clock(0, base, base, None)
        Played(scene, base, increment, think=4.3).start(1).plies(*PLIES)

        assert ["clock_setting_wrong"] == [kind for kind, *_ in scene.raised("clock_setting_wrong")]

    @pytest.mark.parametrize("control, base, increment, think", [
        ("5400+30", 5400, 30, 7.4), ("180+2", 180, 2, 1.3), ("180", 180, 0, 2.2), ("5400d5", 5400, 0, 6.0),
        ("900+10", 900, 10, 3.7),
    ])  # fmt: skip
    def test_right(self, control: str, base: int, increment: int, think: float) -> None:
        """Whole seconds and reports twice a second do not add up to another increment; with a delay none is seen."""
        scene = Scene("fide-standard", control).clock(0, base, base, None)
        Played(scene, base, increment, think=think).start(1).plies(*PLIES)

        assert [] == [kind for kind, *_ in scene.raised() if kind.startswith("clock")]


class TestTimesChanged:
    def test_five_minutes_appear(self) -> None:
        scene = stopped().clock(20, 2994, 3200, None).until(30)

        assert [("clock_times_changed", 22.0, "black")] == scene.raised("clock_times_changed")

    def test_while_a_clock_runs(self) -> None:
        scene = Scene(fen=MIDDLE).ticking(0, 5, 3000, 2900, "white").ticking(6, 12, 2700, 2900, "white")

        assert [("clock_times_changed", 8.0, "white")] == scene.raised("clock_times_changed")

    def test_several_steps_are_one_change(self) -> None:
        """Minutes are set one by one."""
        scene = stopped().clock(20, 2994, 2960, None).clock(21, 2994, 3020, None).clock(22, 2994, 3080, None).until(40)

        assert [("clock_times_changed", 24.0, "black")] == scene.raised("clock_times_changed")

    def test_changed_and_put_back_is_innocent(self) -> None:
        scene = stopped().clock(20, 2994, 3200, None).clock(21.5, 2994, 2900, None).until(40)

        assert [] == scene.raised("clock_times_changed")

    def test_the_next_games_times_are_innocent(self) -> None:
        assert [] == stopped().clock(20, 5400, 5400, None).until(40).raised("clock_times_changed")

    def test_a_new_clock_is_innocent(self) -> None:
        scene = stopped().gone(10).clock(20, 2994, 3600, None).until(40)

        assert [] == scene.raised("clock_times_changed")

    def test_exchanged_readings_are_innocent(self) -> None:
        """The clock was turned round."""
        assert [] == stopped().clock(20, 2900, 2994, None).until(40).raised("clock_times_changed")

    def test_a_period_is_innocent(self) -> None:
        """Added at the press of move 40, or when the first time is used up."""
        made = {"white": 39, "black": 39}
        pressed = Scene(control="40/5400+30:1800+30", fen=MIDDLE, moves_completed=made).ticking(0, 4, 100, 90, "white")
        pressed.ply(4.5, "f1", "b5").clock(5, 100 - 5 + 30 + 1800, 90, "black").until(20)
        emptied = Scene(control="40/5400:1800", fen=MIDDLE, moves_completed={"white": 41, "black": 41})
        emptied.ticking(0, 3, 3, 90, "white").ticking(4, 9, 1799, 90, "white")

        assert [] == pressed.raised("clock_times_changed")
        assert [] == emptied.raised("clock_times_changed")

    def test_minutes_only_are_innocent(self) -> None:
        """A clock that shows whole minutes while much time is left."""
        scene = Scene(fen=MIDDLE)
        for second in range(0, 130):
            scene.clock(second, 3600 - 60 * (second // 60), 3540, "white")

        assert [] == scene.raised()

    def test_two_presses_between_two_reports_are_innocent(self) -> None:
        scene = Scene("fide-blitz", "180+2", MIDDLE).ticking(0, 3, 100, 90, "white")

        assert [] == scene.clock(3.4, 99, 92, "white").until(10).raised("clock_times_changed")


class TestTimeAdjusted:
    def _after_illegal(self, regulations: str, control: str, given: float, *, to: str = "black") -> Scene:
        scene = Scene(regulations, control, MIDDLE, supervision=True).ticking(0, 4, 3000, 2900, "white")
        scene.ply(4.5, "f1", "f5").clock(5, 3025, 2900, "black").clock(10, 3025, 2895, None)
        scene.ply(12, "f5", "f1")
        white, black = (3025, 2895 + given) if to == "black" else (3025 + given, 2895)
        return scene.clock(20, white, black, None).until(30)

    @pytest.mark.parametrize(
        "regulations, control, given", [("fide-standard", "5400+30", 120), ("fide-rapid", "900+10", 60)]
    )
    def test_the_penalty_of_the_laws(self, regulations: str, control: str, given: float) -> None:
        scene = self._after_illegal(regulations, control, given)

        assert [("arbiter_time_adjusted", 20.0, "black")] == scene.raised("arbiter_time_adjusted")
        assert [] == scene.raised("clock_times_changed")

    def test_to_the_offender_himself_is_a_change(self) -> None:
        scene = self._after_illegal("fide-standard", "5400+30", 120, to="white")

        assert [] == scene.raised("arbiter_time_adjusted")
        assert [("clock_times_changed", 22.0, "white")] == scene.raised("clock_times_changed")

    def test_another_amount_is_a_change(self) -> None:
        assert [] == self._after_illegal("fide-standard", "5400+30", 60).raised("arbiter_time_adjusted")

    def test_without_a_fault_it_is_a_change(self) -> None:
        scene = stopped().clock(20, 2994, 3020, None).until(30)

        assert [] == scene.raised("arbiter_time_adjusted")
        assert ["clock_times_changed"] == [kind for kind, *_ in scene.raised("clock_times_changed")]

    def test_a_late_player_gets_his_time_back(self) -> None:
        scene = Scene().clock(0, 5400, 5400, None).ticking(5, 300, 5400, 5400, "white").clock(301, 5104, 5400, None)

        scene.clock(310, 5200, 5400, None).until(320)

        assert ["clock_times_changed"] == [kind for kind, *_ in scene.raised("clock_times_changed")]
        assert [] == scene.clock(330, 5400, 5400, None).until(340).raised("clock_times_changed")[1:]

    def test_halves_after_both_were_absent(self) -> None:
        """FMJD III 4.5."""
        scene = Scene("fmjd-standard", "4800+60", game="draughts").clock(0, 4800, 4800, None)
        scene.ticking(1, 411, 4800, 4800, "white").clock(412, 4389, 4800, None)
        scene.clock(430, 4800 - 205.5, 4800 - 205.5, None).until(440)

        assert ["arbiter_time_adjusted"] == [kind for kind, *_ in scene.raised("arbiter_time_adjusted")]
        assert [] == scene.raised("clock_times_changed")


class TestClockDefect:
    def test_it_stands_still(self) -> None:
        scene = Scene(fen=MIDDLE)
        for second in range(15):
            scene.clock(second, 2990, 2900, "white")

        assert [("clock_defect", 10.0, None)] == scene.raised()

    @pytest.mark.parametrize("rate", [0.94, 1.06])
    def test_too_slow_and_too_fast(self, rate: float) -> None:
        scene = Scene(fen=MIDDLE).ticking(0, 125, 2995, 2900, "white", rate)

        assert [("clock_defect", 120.0, None)] == [(k, float(round(at)), side) for k, at, side in scene.raised()]

    def test_right_time_is_innocent(self) -> None:
        assert [] == Scene(fen=MIDDLE).ticking(0, 400, 2995.7, 2900, "white").raised()

    def test_low_battery_is_told(self) -> None:
        scene = Scene(fen=MIDDLE).clock(0, 2990, 2900, "white", battery_low=True).clock(1, 2989, 2900, "white")

        assert [("info", "clock_defect")] == [(a.severity, a.irregularity) for _, a in scene.alerts()]

    def test_a_delay_is_innocent(self) -> None:
        """The display stands still while the delay runs."""
        scene = Scene(control="5400d15", fen=MIDDLE)
        for second in range(14):
            scene.clock(second, 2991, 2900, "white")

        assert [] == scene.raised("clock_defect")

    def test_no_reports_are_innocent(self) -> None:
        """The link is lost, or the board does not ask."""
        assert [] == Scene(fen=MIDDLE).clock(0, 2991, 2900, "white").until(60).raised("clock_defect")

    def test_a_change_by_hand_begins_anew(self) -> None:
        scene = Scene(fen=MIDDLE).ticking(0, 60, 2995, 2900, "white").ticking(61, 125, 3500, 2900, "white")

        assert [] == scene.raised("clock_defect")

    def test_an_increment_in_the_window_is_innocent(self) -> None:
        scene = Scene().clock(0, 5400, 5400, None)
        Played(scene, 5400, 30, think=17.3).start(1).plies(*PLIES)

        assert [] == scene.raised()
