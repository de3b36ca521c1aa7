"""The clock in use: stopped, both running, none running, turned round, counting."""

from __future__ import annotations

from clocked import Played, Scene

MIDDLE = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
KINGS = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 60"
OPENING = ("e2e4", "e7e5", "g1f3", "b8c6")
LATER = ("f1b5", "a7a6", "b5a4", "g8f6")


def middle(regulations: str = "fide-standard", fen: str = MIDDLE, **more: object) -> Scene:
    """A game in which White's clock has run for ten seconds."""
    return Scene(regulations, "5400+30", fen, **more).ticking(0, 10, 3000, 2900, "white")  # type: ignore[arg-type]


class TestBothClocksStopped:
    def test_said_after_three_seconds_with_nobody_named(self) -> None:
        """Who stopped them cannot be seen."""
        scene = middle().clock(11, 2989, 2900, None).until(20)

        assert [("both_clocks_stopped", 14.0, None)] == scene.raised()

    def test_started_again(self) -> None:
        """The alert is about a state, and goes with it."""
        scene = middle().clock(11, 2989, 2900, None).clock(30, 2989, 2900, "white").until(35)

        assert ["raised", "cleared"] == scene.states("both_clocks_stopped")

    def test_a_pause_of_the_lever_is_innocent(self) -> None:
        scene = middle().clock(11, 2989, 2900, None).clock(13.5, 2989, 2900, "black").until(15)

        assert [] == scene.raised("both_clocks_stopped")

    def test_a_lost_clock_is_innocent(self) -> None:
        """Readings that stop arriving are no stop."""
        assert [] == middle().gone(11).until(30).raised("both_clocks_stopped")

    def test_a_mated_king_is_innocent(self) -> None:
        scene = Scene(fen="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 40").ticking(0, 3, 3000, 2900, "white")
        scene.ply(4, "a1", "a8").clock(4.3, 2996, 2900, None).until(20)

        assert [] == scene.raised("both_clocks_stopped")

    def test_a_suspended_game_is_innocent(self) -> None:
        scene = middle().until(10.5).command("suspend", reason="interruption").clock(11, 2989, 2900, None).until(20)

        assert [] == scene.raised()

    def test_the_flag_is_innocent(self) -> None:
        """A clock that stops itself at the flag."""
        scene = Scene("fide-standard", "5400", KINGS).ticking(0, 4, 5, 60, "white")
        scene.clock(5, 0, 60, None, flags=("white",)).until(15)

        assert ["flag_fall"] == [kind for kind, *_ in scene.raised() if kind != "time_trouble"]

    def test_kings_on_their_way_to_the_centre_are_innocent(self) -> None:
        """The result is being shown."""
        scene = Scene("fide-rapid", "900+10", KINGS).clock(0, 600, 600, "white").clock(5, 595, 600, None)
        scene.lift(6, "e1").lift(7, "e8").place(9, "K", "e4").place(10, "k", "d5").until(20)

        assert [] == scene.raised("both_clocks_stopped")
        assert [("kings_result_signal", 13.0, None)] == scene.raised("kings_result_signal")

    def test_fmjd_standard_grows_graver_when_play_goes_on(self) -> None:
        """By III 4.4 the stop lost the game."""
        scene = Scene("fmjd-standard", "4800+60", "W:W31,K46:BK5,10", game="draughts")
        scene.ticking(0, 5, 3000, 2900, "white").clock(6, 2994, 2900, None).clock(20, 2994, 2900, "white").until(30)
        severities = [alert.severity for _, alert in scene.alerts() if alert.irregularity == "both_clocks_stopped"]

        assert ["notice", "alert"] == severities

    def test_fmjd_standard_after_a_ruling(self) -> None:
        """The arbiter's acknowledgement lets play go on."""
        scene = Scene("fmjd-standard", "4800+60", "W:W31,K46:BK5,10", game="draughts")
        scene.ticking(0, 5, 3000, 2900, "white").clock(6, 2994, 2900, None).until(12)
        scene.command("acknowledge", irregularity="both_clocks_stopped").clock(20, 2994, 2900, "white").until(30)

        assert ["raised", "acknowledged"] == scene.states("both_clocks_stopped")


class TestBothClocksRunning:
    def test_both_displays_fall(self) -> None:
        scene = Scene(fen=MIDDLE)
        for second in range(8):
            scene.clock(second, 3000 - second, 2900 - second, "white")

        assert [("both_clocks_running", 3.0, None)] == scene.raised()

    def test_polled_out_of_step(self) -> None:
        """The two displays change at different moments, each report shows one of them."""
        scene = Scene(fen=MIDDLE)
        for half in range(16):
            scene.clock(half * 0.5, 3000 - half * 0.5, 2900.5 - half * 0.5, "white")

        assert ["both_clocks_running"] == [kind for kind, *_ in scene.raised()]

    def test_the_clock_says_so(self) -> None:
        assert ["both_clocks_running"] == [k for k, *_ in Scene(fen=MIDDLE).clock(1, 3000, 2900, "both").raised()]

    def test_a_scramble_is_innocent(self) -> None:
        """Moves and presses between the reports, so that both readings fall with the same side running."""
        scene = Scene("fide-blitz", "180", KINGS)
        white, black = 60.0, 60.0
        scene.clock(0, white, black, "white")
        squares = (
            ("a2", "a3", "a7", "a6"),
            ("b2", "b3", "b7", "b6"),
            ("a3", "a4", "a6", "a5"),
            ("b3", "b4", "b6", "b5"),
        )
        for number, (a, b, c, d) in enumerate(squares, 1):
            scene.ply(number - 0.4, a, b).ply(number - 0.1, c, d)
            scene.clock(number, white - number * 0.5 - 0.6, black - number * 0.6 - 0.5, "white")

        assert [] == scene.raised("both_clocks_running")

    def test_a_report_sent_twice_is_innocent(self) -> None:
        scene = Scene(fen=MIDDLE)
        for second in range(6):
            scene.clock(second, 3000 - second, 2900, "white").clock(second + 0.1, 3000 - second, 2900, "white")

        assert [] == scene.raised()


class TestPlayWithoutClock:
    def test_a_move_of_each_side(self) -> None:
        scene = Scene("fide-rapid", "900+10").clock(0, 900, 900, None)
        scene.ply(4.7, "e2", "e4").ply(9.4, "e7", "e5").until(20)

        assert [("play_without_clock", 12.4, None)] == scene.raised()

    def test_no_clock_is_innocent(self) -> None:
        """None there, or its link down."""
        bare = Scene("fide-rapid", "900+10").ply(4.7, "e2", "e4").ply(9.4, "e7", "e5").until(20)
        lost = Scene("fide-rapid", "900+10").clock(0, 900, 900, None).gone(1).ply(5, "e2", "e4").ply(9, "e7", "e5")

        assert [] == bare.raised()
        assert [] == lost.until(20).raised()

    def test_moves_shown_by_the_arbiter_are_innocent(self) -> None:
        """Faster than one a second: nobody plays so."""
        scene = Scene("fide-rapid", "900+10").clock(0, 900, 900, None)
        scene.ply(4, "e2", "e4").ply(4.8, "e7", "e5").ply(5.6, "g1", "f3").until(30)

        assert [] == scene.raised("play_without_clock")

    def test_a_suspended_game_is_innocent(self) -> None:
        scene = Scene("fide-rapid", "900+10", MIDDLE).clock(0, 900, 900, None).command("suspend", reason="interruption")
        scene.ply(5, "f1", "b5").ply(10, "a7", "a6").until(30)

        assert [] == scene.raised("play_without_clock")

    def test_analysis_after_the_game_is_innocent(self) -> None:
        scene = Scene("fide-rapid", "900+10", MIDDLE).clock(0, 900, 900, None).command("end_game", result="1-0")
        scene.ply(5, "f1", "b5").ply(10, "a7", "a6").until(30)

        assert [] == scene.raised()

    def test_moves_shown_and_put_back_are_innocent(self) -> None:
        """The last moves are shown during a claim: the position comes back before three seconds have passed."""
        scene = Scene("fide-rapid", "900+10", MIDDLE).clock(0, 900, 900, None)
        scene.ply(5, "f1", "b5").ply(7, "a7", "a6").ply(8.5, "a6", "a7").ply(9.5, "b5", "f1").until(30)

        assert [] == scene.raised("play_without_clock")


class TestClockPositionChanged:
    def test_turned_round(self) -> None:
        """Four presses fit the moves, then four fit them only the other way."""
        scene = Scene().clock(0, 5400, 5400, None)
        played = Played(scene, 5400, 30).start(1).plies(*OPENING)
        white, black = played.left["black"], played.left["white"]
        scene.clock(played.at + 3, black - 3, white, None).clock(played.at + 23, white, black - 3, None)
        scene.clock(played.at + 26, white, black - 3, "black")
        played.at += 26
        for text in LATER:
            _press_the_wrong_way(played, text)

        assert ["clock_position_changed"] == [kind for kind, *_ in scene.raised("clock_position_changed")]

    def test_told_by_command_is_innocent(self) -> None:
        scene = Scene().clock(0, 5400, 5400, None)
        Played(scene, 5400, 30).start(1).plies(*OPENING)
        scene.command("set_white_side", value="right")

        assert [] == scene.until(scene.at + 20).raised("clock_position_changed")

    def test_a_clock_exchanged_is_innocent(self) -> None:
        """Connected anew: what was known of the old one is forgotten."""
        scene = Scene().clock(0, 5400, 5400, None)
        played = Played(scene, 5400, 30).start(1).plies(*OPENING)
        scene.gone(played.at + 1)
        for text in LATER:
            _press_the_wrong_way(played, text)

        assert [] == scene.raised("clock_position_changed")

    def test_replies_before_the_press_are_innocent(self) -> None:
        """In a scramble the opponent has often moved when the press is seen."""
        scene = Scene("fide-blitz", "180").clock(0, 180, 180, None)
        played = Played(scene, 180, 0, think=1.2).start(1).plies(*OPENING)
        at, running = played.at, "white"
        for number, (origin, target) in enumerate(
            (("f1", "b5"), ("a7", "a6"), ("b5", "a4"), ("g8", "f6"), ("d2", "d3"))
        ):
            scene.ply(at + 0.6, origin, target)
            if number:
                running = "black" if running == "white" else "white"
                scene.clock(at + 0.9, 170 - number, 170 - number, running)
            at += 1.2

        assert [] == scene.raised("clock_position_changed")


def _press_the_wrong_way(played: Played, text: str) -> None:
    """A ply whose press the table takes for the other side's."""
    scene = played.scene
    scene.ply(played.at + 5, text[:2], text[2:4])
    last = scene.table.clock.report
    assert last is not None
    running = "white" if last.running == "black" else "black"
    played.at += 5.6
    scene.clock(played.at, last.white - (running == "black") * 5, last.black - (running == "white") * 5, running)


class TestMoveCounterMismatch:
    def _game(self, *counters: int | None) -> Scene:
        scene = Scene(control="40/5400+30:1800+30").clock(0, 5400, 5400, None).clock(1, 5400, 5400, "white")
        for number, (move, counter) in enumerate(zip((*OPENING, *LATER), counters, strict=False)):
            at = 6.0 * (number + 1)
            scene.ply(at, move[:2], move[2:])
            running = "black" if number % 2 == 0 else "white"
            white, black = 5400 + 25 * ((number + 2) // 2), 5400 + 25 * ((number + 1) // 2)
            scene.clock(at + 0.5, white, black, running, counter=counter)
        return scene

    def test_one_ahead_at_two_presses(self) -> None:
        assert [("move_counter_mismatch", 12.5, None)] == self._game(2, 2).raised("move_counter_mismatch")

    def test_right(self) -> None:
        """Counted by each side, or by presses of both: clocks differ."""
        assert [] == self._game(1, 1, 2, 2, 3, 3).raised("move_counter_mismatch")
        assert [] == self._game(1, 2, 3, 4, 5, 6).raised("move_counter_mismatch")

    def test_wrong_only_once_is_innocent(self) -> None:
        assert [] == self._game(1, 2, 2, 2).raised("move_counter_mismatch")

    def test_a_clock_without_counter_is_innocent(self) -> None:
        assert [] == self._game(*[None] * 8).raised("move_counter_mismatch")

    def test_extra_presses_are_innocent(self) -> None:
        """The arbiter pressed to and fro; the counter is one ahead for good."""
        scene = self._game(1, 1)
        scene.clock(13, 5424, 5425, "black", counter=2).clock(14, 5424, 5424, "white", counter=2)
        scene.ply(20, "f1", "b5").clock(20.5, 5450, 5424, "black", counter=3)
        scene.ply(26, "a7", "a6").clock(26.5, 5450, 5450, "white", counter=3)

        assert [] == scene.raised("move_counter_mismatch")
