"""Adjournment, resumption, and stretches that nobody saw."""

from __future__ import annotations

import pytest
from clocked import Scene

from gateway.events import BoardDump, LinkState

MIDDLE = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"


class TestAdjournment:
    def _scene(self, turn: str, white: int, black: int, reason: str, regulations: str = "fmjd-standard") -> Scene:
        done = {"white": white, "black": black}
        scene = Scene(regulations, "4800+60", f"{turn}:WK46,31:BK5,10", game="draughts", moves_completed=done)
        scene.clock(0, 2000, 1500, None).until(5)
        return scene.command("suspend", reason=reason).until(10)

    @pytest.mark.parametrize("turn, white, black", [("W", 60, 60), ("W", 80, 80), ("B", 75, 74)])
    def test_too_early_or_white_to_move(self, turn: str, white: int, black: int) -> None:
        assert [("adjournment_not_allowed", 5.0, None)] == self._scene(turn, white, black, "adjournment").raised()

    def test_allowed(self) -> None:
        assert [] == self._scene("B", 76, 75, "adjournment").raised()

    def test_an_interruption_is_innocent(self) -> None:
        """7.2: the hall is no longer fit to play in."""
        assert [] == self._scene("W", 10, 10, "interruption").raised()


class TestSealedMove:
    def _resumed(self, sealed: str | None, origin: str = "b1", target: str = "c3") -> Scene:
        scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None)
        scene.command("suspend", reason="adjournment", **({"sealed_move": sealed} if sealed else {})).command("resume")
        return scene.ply(4.7, origin, target).until(10)

    def test_another_move(self) -> None:
        assert [("sealed_move_mismatch", 6.7, "white")] == self._resumed("g1f3").raised()

    @pytest.mark.parametrize("sealed", ["b1c3", "Nc3", None])
    def test_the_sealed_one_or_none_is_innocent(self, sealed: str | None) -> None:
        assert [] == self._resumed(sealed).raised()

    def test_corrected_at_once_is_innocent(self) -> None:
        scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None)
        scene.command("suspend", reason="adjournment", sealed_move="g1f3").command("resume")
        scene.ply(4.7, "b1", "c3").ply(5.7, "c3", "b1").ply(6.7, "g1", "f3").until(20)

        assert [] == scene.raised("sealed_move_mismatch")

    def test_an_impossible_one(self) -> None:
        scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None)
        scene.command("suspend", reason="adjournment", sealed_move="g1g3").command("resume").until(5)

        assert [("sealed_move_mismatch", 2.0, "white")] == scene.raised()


class TestResumption:
    def _suspended(self) -> Scene:
        return Scene(fen=MIDDLE).clock(0, 3000, 2900, None).command("suspend", reason="interruption")

    def test_another_position(self) -> None:
        scene = self._suspended().ply(10, "e5", "e6").clock(20.7, 3000, 2900, "white").until(40)

        assert [("resumption_wrong", 22.7, None)] == scene.raised()

    def test_other_times(self) -> None:
        scene = self._suspended().clock(10, 2900, 2900, None).command("resume").clock(20, 2900, 2900, "white").until(40)

        assert ["resumption_wrong"] == [kind for kind, *_ in scene.raised("resumption_wrong")]

    def test_the_same_again(self) -> None:
        scene = self._suspended().ply(5, "e5", "e6").ply(9, "e6", "e5").command("resume")

        assert [] == scene.clock(20, 3000, 2900, "white").until(40).raised()

    def test_set_position_is_innocent(self) -> None:
        scene = self._suspended().ply(10, "e5", "e6")
        fen = "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
        scene.command("set_position", fen=fen).command("resume").clock(20, 3000, 2900, "white").until(40)

        assert [] == scene.raised("resumption_wrong")

    def test_the_sealed_move_made_before_the_clock_is_innocent(self) -> None:
        scene = Scene(fen=MIDDLE).clock(0, 3000, 2900, None)
        scene.command("suspend", reason="adjournment", sealed_move="g1f3").ply(9, "g1", "f3").command("resume")

        assert [] == scene.clock(20, 3000, 2900, "black").until(24).raised("resumption_wrong")


class TestRecordGap:
    BEFORE = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    FAR = "r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R"

    def _back_with(self, placement: str) -> Scene:
        scene = Scene("fide-rapid", "900+10", self.BEFORE).clock(0, 900, 900, "black").until(7)
        scene.observe(LinkState("board", False)).until(60).observe(LinkState("board", True)).until(60.5)
        pieces = Scene(fen=f"{placement} b KQkq - 0 1", started=False).pieces
        return scene.observe(BoardDump(pieces)).clock(60.6, 900, 850, "black").until(80)

    def test_no_sequence_leads_there(self) -> None:
        assert [("record_gap", 65.5, None)] == self._back_with(self.FAR).raised()

    def test_nothing_happened_is_innocent(self) -> None:
        assert [] == self._back_with(self.BEFORE.split()[0]).raised()

    def test_one_sequence_is_inferred(self) -> None:
        scene = self._back_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR")

        assert [] == scene.raised("record_gap")
        assert ["e5"] == scene.moves()

    def test_a_game_taken_up_in_the_middle(self) -> None:
        scene = (
            Scene(fen="r3k3/pp4pp/8/8/8/8/PP4PP/R3K3 w - - 0 1", started=False).clock(0, 900, 900, "white").until(20)
        )

        assert [("record_gap", 10.0, None)] == scene.raised("record_gap")
