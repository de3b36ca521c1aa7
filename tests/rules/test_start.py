"""What stands when a clock is started: a wrong position, a turned board, the wrong edge; and the control itself."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from clocked import EPOCH, Scene

from gateway.events import BoardDump, FieldUpdate

SWAPPED = "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1"
QUARTER = "RP4pr/NP4pn/BP4pb/QP4pq/KP4pk/BP4pb/NP4pn/RP4pr w - - 0 1"
OTHER_QUARTER = "rp4PR/np4PN/bp4PB/kp4PK/qp4PQ/bp4PB/np4PN/rp4PR w - - 0 1"
AFTER_FOUR = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1"


def started(fen: str, at: float = 10, **more: object) -> Scene:
    """That stands on the board, and White's clock is started."""
    scene = Scene(fen=fen, started=False, **more)  # type: ignore[arg-type]
    return scene.clock(0, 5400, 5400, None).clock(at, 5400, 5400, "white")


class TestWrongPosition:
    def test_king_and_queen_changed(self) -> None:
        scene = started(SWAPPED).until(40)

        assert [("start_position_wrong", 12.0, None)] == scene.raised()
        assert ["d8", "e8"] == scene.alerts()[0][1].evidence["squares"]

    def test_put_right(self) -> None:
        scene = started(SWAPPED).lift(13, "d8").lift(13.4, "e8").place(14, "q", "d8").place(14.5, "k", "e8").until(30)

        assert ["raised", "cleared"] == scene.states("start_position_wrong")

    def test_setting_up_is_innocent(self) -> None:
        """No clock has run."""
        scene = Scene(fen=SWAPPED, started=False).clock(0, 5400, 5400, None).until(60)
        scene.lift(61, "d8").lift(61.4, "e8").place(62, "q", "d8").place(62.5, "k", "e8")

        assert [] == scene.clock(70, 5400, 5400, "white").until(90).raised()

    def test_straightened_in_time_is_innocent(self) -> None:
        scene = started(AFTER_FOUR.replace("4p3/4P3", "8/8").replace("pppp1ppp", "pppp1ppp"))
        scene.place(11, "p", "e7").place(11.5, "P", "e2").until(30)

        assert [] == scene.raised("start_position_wrong")

    def test_a_position_told_by_command_is_innocent(self) -> None:
        """`assign` or `start_game` with a position of its own."""
        told = started(AFTER_FOUR, assign={"start_fen": AFTER_FOUR}).until(30)
        begun = Scene(fen=AFTER_FOUR).clock(0, 5400, 5400, None).clock(5, 5400, 5400, "white").until(30)

        assert [] == told.raised("start_position_wrong")
        assert [] == begun.raised("start_position_wrong")

    def test_more_than_six_squares_is_no_start(self) -> None:
        scene = started("r3k3/pp4pp/8/8/8/8/PP4PP/R3K3 w - - 0 1").until(30)

        assert [] == scene.raised("start_position_wrong")

    def test_a_clock_that_ran_before_is_innocent(self) -> None:
        """The gateway came up in the middle of an opening."""
        scene = Scene(fen=AFTER_FOUR, started=False).clock(0, 5000, 5100, "white").until(30)

        assert ["record_gap"] == [kind for kind, *_ in scene.raised()]

    def test_draughts(self) -> None:
        fen = "W:W" + ",".join(map(str, range(31, 51))) + ":B" + ",".join(map(str, [*range(1, 20), 21]))
        scene = Scene("fmjd-standard", "4800+60", fen, game="draughts", started=False)
        scene.clock(0, 4800, 4800, None).clock(10, 4800, 4800, "white").until(30)

        assert [("start_position_wrong", 12.0, None)] == scene.raised()

    def test_chess960(self) -> None:
        """A right one of the 960, and one whose back ranks differ."""
        right = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1"
        wrong = right.replace("bbqnnrkr", "bbqnnkrr")

        assert [] == started(right, game="chess960").until(30).raised()
        assert ["start_position_wrong"] == [k for k, *_ in started(wrong, game="chess960").until(14).raised()]


class TestBoardRotated:
    @pytest.mark.parametrize("fen", [QUARTER, OTHER_QUARTER])
    def test_a_quarter(self, fen: str) -> None:
        assert [("board_rotated", 15.0, None)] == started(fen).until(30).raised()

    def test_half_a_turn_is_innocent(self) -> None:
        assert [] == started("RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1").until(30).raised()

    def test_before_a_clock_runs_nothing_is_said(self) -> None:
        scene = Scene(fen=QUARTER, started=False).clock(0, 5400, 5400, None).until(60)

        assert [] == scene.raised()

    def test_once_for_a_board(self) -> None:
        scene = started(QUARTER).until(30).clock(31, 5380, 5400, "black").clock(40, 5380, 5391, "white").until(60)

        assert 1 == len(scene.raised("board_rotated"))

    def test_draughts(self) -> None:
        """All men stand on light squares."""
        scene = Scene("fmjd-standard", "4800+60", game="draughts", started=False)
        files, ranks = "abcdefghij", range(1, 11)
        light = {f"{f}{r}" for f in files for r in ranks if (files.index(f) + r) % 2 == 0}
        turned = {s: "w" for s in light if s[0] in "abcd"} | {s: "b" for s in light if s[0] in "ghij"}
        scene.observe(BoardDump(turned)).clock(0, 4800, 4800, None).clock(10, 4800, 4800, "white").until(30)

        assert [("board_rotated", 15.0, None)] == scene.raised("board_rotated")


class TestColoursReversed:
    START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

    def test_white_at_the_other_edge(self) -> None:
        scene = started(self.START, assign={"seats": "rotated"}).until(20)

        assert [("colours_reversed", 15.0, None)] == scene.raised()

    def test_the_right_edge_or_free_seats_are_innocent(self) -> None:
        """Whoever carries the board round need not change chairs."""
        assert [] == started(self.START, assign={"seats": "normal"}).until(20).raised()
        assert [] == started(self.START).until(20).raised()

    def test_a_clock_on_the_other_side_alone_is_innocent(self) -> None:
        scene = Scene(fen=self.START, started=False, assign={"seats": "normal"})
        scene.command("set_white_side", value="right").clock(0, 5400, 5400, None).clock(9, 5400, 5400, "black")

        assert [] == scene.until(14).raised("colours_reversed")


class TestTimeControl:
    @pytest.mark.parametrize("regulations, control", [
        ("fide-blitz", "900+10"), ("fide-standard", "900"), ("fide-rapid", "300"), ("fmjd-rapid", "900"),
        ("fmjd-blitz", "300"), ("fmjd-standard", "50/7200:3600"),
    ])  # fmt: skip
    def test_does_not_fit(self, regulations: str, control: str) -> None:
        scene = Scene(regulations, control, game="draughts" if regulations.startswith("fmjd") else "chess").until(5)

        assert ["time_control_outside_regulations"] == [kind for kind, *_ in scene.raised()]

    @pytest.mark.parametrize("regulations, control", [
        ("fide-blitz", "180+2"), ("fide-standard", "5400+30"), ("fmjd-rapid", "600+5"), ("fmjd-blitz", "600+5"),
        ("fmjd-standard", "50/7200:25/3600"), ("fide-standard", "?"), ("fide-standard", "-"),
    ])  # fmt: skip
    def test_fits(self, regulations: str, control: str) -> None:
        """Fifteen minutes are rapid and blitz in draughts; a repeated control needs no increment."""
        scene = Scene(regulations, control, game="draughts" if regulations.startswith("fmjd") else "chess").until(5)

        assert [] == scene.raised()

    def test_meant_so_is_innocent(self) -> None:
        assert [] == Scene("fide-blitz", "900+10", accept_time_control=True).until(5).raised()

    def test_once(self) -> None:
        scene = Scene("fide-blitz", "900+10").clock(0, 900, 900, None).clock(5, 900, 900, "white")
        scene.observe(FieldUpdate("e2", None)).until(60)

        assert 1 == len(scene.raised("time_control_outside_regulations"))


class TestPresence:
    def _scene(self, regulations: str = "fide-standard", minutes: int | None = 15, **more: object) -> Scene:
        start = datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assign = {"scheduled_start": start} | ({} if minutes is None else {"default_time": minutes})
        game = "draughts" if regulations.startswith("fmjd") else "chess"
        control = "4800+60" if game == "draughts" else "5400+30"
        return Scene(regulations, control, assign=assign, game=game, **more).clock(0, 5400, 5400, None)  # type: ignore[arg-type]

    def test_no_clock_runs(self) -> None:
        assert [("clock_not_started", 130.0, None)] == self._scene().until(200).raised()

    def test_no_schedule_or_no_clock_is_innocent(self) -> None:
        assert [] == Scene().clock(0, 5400, 5400, None).until(1000).raised()
        assert [] == self._scene().gone(5).until(1000).raised()

    def test_a_clock_that_runs_is_innocent(self) -> None:
        assert [] == self._scene().clock(100, 5400, 5400, "white").until(200).raised("clock_not_started")

    def test_black_is_late(self) -> None:
        scene = self._scene().clock(1, 5400, 5400, "white").ply(21, "e2", "e4").clock(22, 5409, 5400, "black")

        assert [("late_arrival", 960.0, "black")] == scene.until(1000).raised("late_arrival")

    def test_white_is_late(self) -> None:
        scene = self._scene().clock(1, 5400, 5400, "white").until(1000)

        assert [("late_arrival", 960.0, "white")] == scene.raised("late_arrival")

    def test_fmjd_the_side_whose_clock_runs(self) -> None:
        """III 4.4: White is there, Black is not, Black's clock was started."""
        scene = self._scene("fmjd-standard", None).command("set_white_side", value="left")
        scene.clock(1, 4800, 4800, "black").until(3700)

        assert [("late_arrival", 3660.0, "black")] == scene.raised("late_arrival")

    def test_thinking_with_a_hand_on_the_board_is_innocent(self) -> None:
        scene = self._scene().clock(1, 5400, 5400, "white").lift(300, "g1").place(300.5, "N", "g1").until(1000)

        assert [] == scene.raised("late_arrival")

    def test_nothing_configured_is_told_only(self) -> None:
        """Taken as 0, and no more than information; a minute is given."""
        scene = self._scene(minutes=None).clock(1, 5400, 5400, "white").until(100)
        found = [(a.severity, at) for at, a in scene.alerts() if a.irregularity == "late_arrival"]

        assert [("info", 61.0)] == found

    def test_acknowledged_for_good(self) -> None:
        scene = self._scene().clock(1, 5400, 5400, "white").until(961)
        scene.command("acknowledge", irregularity="late_arrival")

        assert ["raised", "acknowledged"] == scene.until(3000).states("late_arrival")

    def test_no_clock_started_accuses_nobody(self) -> None:
        assert [] == self._scene().until(2000).raised("late_arrival")

    def test_nobody_is_there(self) -> None:
        scene = self._scene().clock(1, 5400, 5400, "white").until(700)

        assert [("both_players_absent", 301.0, None)] == scene.raised("both_players_absent")

    def test_zero_default_time_or_a_touch_is_innocent(self) -> None:
        zero = self._scene(minutes=0).clock(1, 5400, 5400, "white").until(700)
        touched = self._scene().clock(1, 5400, 5400, "white").lift(100, "g1").place(101, "N", "g1").until(700)

        assert [] == zero.raised("both_players_absent")
        assert [] == touched.raised("both_players_absent")
