"""The end on the board, shown by the kings, or not shown at all; and what goes on after it."""

from __future__ import annotations

import pytest
from clocked import Scene

MATE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 40"
KINGS = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 60"
BARE = "8/8/8/4k3/4P3/8/8/K7 b - - 0 80"
MIDDLE = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"


def mated(*, running: str | None = "black") -> Scene:
    """White mates at 4.7; the clock is pressed, or stopped."""
    scene = Scene(fen=MATE).clock(0, 3000, 3000, "white").ply(4.7, "a1", "a8")
    return scene.clock(5.3, 3025, 3000, running)


class TestGameOver:
    def test_mate(self) -> None:
        assert [("game_over_on_board", 5.7, "white")] == mated(running=None).until(30).raised()

    def test_stalemate(self) -> None:
        scene = Scene(fen="k7/8/2K5/8/8/8/8/1Q6 w - - 0 40").clock(0, 3000, 3000, "white").ply(4, "b1", "b6").until(9)

        assert [("game_over_on_board", 5.0, "white")] == scene.raised()

    def test_the_last_man_is_taken(self) -> None:
        """Captured men still being lifted: it waits for them."""
        scene = Scene("fmjd-standard", "4800+60", "W:W32:B28", game="draughts").clock(0, 4800, 4800, "white")
        scene.ply(4.6, "32", "23").lift(6, "28").until(12)

        assert [("game_over_on_board", 7.0, "white")] == scene.raised()

    def test_taken_back_within_the_second_is_innocent(self) -> None:
        scene = Scene(fen=MATE).clock(0, 3000, 3000, "white").ply(4.7, "a1", "a8").ply(5.5, "a8", "a7").until(20)

        assert [] == scene.raised("game_over_on_board")

    def test_an_illegal_mate_is_innocent(self) -> None:
        scene = Scene(fen=MATE).clock(0, 3000, 3000, "white").ply(4.7, "a1", "b8").clock(5.3, 3025, 3000, "black")

        assert [] == scene.until(20).raised("game_over_on_board")


class TestClockRunsOn:
    def test_a_minute(self) -> None:
        found = mated().ticking(6, 90, 3025, 2999, "black").raised("clock_running_after_end")

        assert [("clock_running_after_end", 65.7, None)] == found

    def test_stopped_in_time_is_innocent(self) -> None:
        scene = mated().clock(30, 3025, 2976, None).until(100)

        assert [] == scene.raised("clock_running_after_end")

    def test_a_flag_afterwards_means_nothing(self) -> None:
        scene = mated().clock(40, 3025, 0, "black", flags=("black",)).until(100)

        assert [] == scene.raised("flag_fall")

    def test_the_next_games_clock_is_innocent(self) -> None:
        scene = (
            mated().clock(20, 3025, 2990, None).clock(30, 5400, 5400, None).clock(40, 5400, 5400, "white").until(150)
        )

        assert [] == scene.raised("clock_running_after_end")


class TestPlayAfterTheEnd:
    def _dead(self) -> Scene:
        scene = Scene("fide-blitz", "180+2", BARE).clock(0, 180, 180, "black")
        scene.lift(4, "e4").lift(4.7, "e5").place(5.4, "k", "e4").clock(6, 180, 176, "white")
        return scene.ply(10.7, "a1", "b2")

    def test_two_moves_with_the_clock_running(self) -> None:
        scene = self._dead().clock(11.3, 176, 176, "black").ply(16, "e4", "e5").clock(16.6, 176, 172, "white").until(30)

        assert [("play_after_game_end", 19.0, None)] == scene.raised("play_after_game_end")

    def test_clocks_stopped_is_innocent(self) -> None:
        scene = self._dead().clock(11.3, 176, 176, None).ply(16, "e4", "e5").ply(20, "b2", "b3").until(30)

        assert [] == scene.raised("play_after_game_end")

    def test_putting_away_with_the_clock_running_is_innocent(self) -> None:
        scene = mated().ply(8, "a8", "a1").ply(10, "f7", "f6").ply(12, "a1", "b1").until(30)

        assert [] == scene.raised("play_after_game_end")

    def test_pressing_on_after_a_mate(self) -> None:
        scene = mated().ply(9, "g8", "h8").ply(10, "f7", "f6").clock(10.5, 3025, 2990, "white")
        scene.ply(14, "a8", "a7").clock(14.5, 3020, 2990, "black").until(30)

        assert [("play_after_game_end", 17.5, None)] == scene.raised("play_after_game_end")


class TestKingsSignal:
    @pytest.mark.parametrize(
        "white, black, result", [("e4", "d5", "1-0"), ("d4", "e5", "0-1"), ("e4", "e5", "1/2-1/2")]
    )
    def test_shown(self, white: str, black: str, result: str) -> None:
        scene = Scene("fide-rapid", "900+10", KINGS).clock(0, 600, 600, "white").clock(5, 595, 600, None)
        scene.ply(7.2, "e1", white).ply(7.9, "e8", black).until(20)

        assert [("kings_result_signal", 10.9, None)] == scene.raised()
        assert result == scene.alerts()[0][1].evidence["result"]

    def test_one_king_walking_to_the_centre_is_innocent(self) -> None:
        scene = Scene(fen="8/8/8/2k5/8/3K4/4P3/8 w - - 0 50").clock(0, 600, 600, "white")
        scene.ply(4, "d3", "e4").clock(4.5, 626, 600, "black").until(20)

        assert [] == scene.raised()

    def test_passing_through_is_innocent(self) -> None:
        scene = Scene("fide-rapid", "900+10", KINGS).clock(0, 600, 600, "white").clock(5, 595, 600, None)
        scene.ply(7, "e1", "e4").ply(8, "e8", "d5").lift(10, "e4").lift(10.5, "d5").until(20)

        assert [] == scene.raised("kings_result_signal")

    def test_contrary_to_mate(self) -> None:
        scene = mated(running=None).ply(9.4, "e1", "d4").ply(10.1, "g8", "e5").until(20)

        assert [("result_signal_conflict", 13.1, None)] == scene.raised("result_signal_conflict")

    def test_the_mate_itself_or_a_resignation_is_innocent(self) -> None:
        agreeing = mated(running=None).ply(9.4, "e1", "e4").ply(10.1, "g8", "d5").until(20)
        resigned = Scene("fide-rapid", "900+10", KINGS).clock(0, 600, 600, "white").clock(5, 595, 600, None)
        resigned.ply(7, "e1", "d4").ply(8, "e8", "e5").until(20)

        assert [] == agreeing.raised("result_signal_conflict")
        assert [] == resigned.raised("result_signal_conflict")

    def test_a_winner_whose_flag_was_down(self) -> None:
        scene = Scene("fide-rapid", "900", KINGS).ticking(0, 4, 5, 60, "white").clock(5, 0, 60, None, flags=("white",))
        scene.ply(9, "e1", "e4").ply(10, "e8", "d5").until(20)

        assert ["result_signal_conflict"] == [kind for kind, *_ in scene.raised("result_signal_conflict")]


class TestResultMissing:
    def _stopped(self) -> Scene:
        return Scene("fide-rapid", "900+10", MIDDLE).clock(0, 900, 900, "white").clock(30, 870, 900, None)

    def test_set_up_again(self) -> None:
        scene = self._stopped().ply(90.7, "e4", "e2").ply(92.4, "e5", "e7").until(120)

        assert [("result_missing", 102.4, None)] == scene.raised("result_missing")

    def test_put_away(self) -> None:
        scene = self._stopped()
        for number, square in enumerate(sorted(scene.pieces)[:20]):
            scene.lift(60 + number * 0.5, square)

        assert [("result_missing", 79.5, None)] == scene.until(100).raised("result_missing")

    def test_a_running_clock_is_waited_for(self) -> None:
        scene = Scene("fide-rapid", "900+10", MIDDLE).clock(0, 900, 900, "white")
        scene.ply(10, "e4", "e2").ply(12, "e5", "e7").ticking(13, 60, 887, 900, "white")

        assert [] == scene.raised("result_missing")

    def test_a_result_is_innocent(self) -> None:
        scene = self._stopped().command("end_game", result="1-0").ply(90.7, "e4", "e2").ply(92.4, "e5", "e7").until(120)

        assert [] == scene.raised("result_missing")

    def test_knocked_over_and_put_up_is_innocent(self) -> None:
        scene = self._stopped()
        squares = sorted(scene.pieces)[:20]
        pieces = [scene.pieces[square] for square in squares]
        for number, square in enumerate(squares):
            scene.lift(60 + number * 0.02, square)
        for number, (square, piece) in enumerate(zip(squares, pieces, strict=True)):
            scene.place(61 + number * 0.4, piece, square)

        assert [] == scene.until(100).raised("result_missing")


class TestAnalysis:
    def _ended(self, *, enabled: bool = True) -> Scene:
        rules = {"enable": ("analysis_on_board",)} if enabled else {}
        scene = Scene("fide-rapid", "900+10", MIDDLE, **rules).clock(0, 900, 900, None)  # type: ignore[arg-type]
        return scene.command("end_game", result="1-0")

    @staticmethod
    def _to_and_fro(scene: Scene) -> Scene:
        for number in range(14):
            origin, target = ("g1", "f3") if number % 2 == 0 else ("f3", "g1")
            scene.ply(5 + number * 4, origin, target)
        return scene

    def test_to_and_fro(self) -> None:
        found = self._to_and_fro(self._ended()).raised("analysis_on_board")

        assert [("analysis_on_board", 44.5, None)] == found

    def test_off_unless_wanted(self) -> None:
        assert [] == self._to_and_fro(self._ended(enabled=False)).raised()

    def test_clearing_the_board_is_innocent(self) -> None:
        scene = self._ended()
        for number, square in enumerate(sorted(scene.pieces)):
            scene.lift(5 + number, square)

        assert [] == scene.until(60).raised("analysis_on_board")

    def test_setting_up_is_innocent(self) -> None:
        scene = self._ended()
        pieces = dict(scene.pieces)
        for number, square in enumerate(sorted(pieces)):
            scene.lift(5 + number * 0.2, square)
        scene.until(70)
        for number, (square, piece) in enumerate(sorted(pieces.items())):
            scene.place(70 + number, piece, square)

        assert [] == scene.until(120).raised("analysis_on_board")
