"""Short of time: who is, and for whom it means nothing."""

from __future__ import annotations

from typing import Any

import pytest
from clocked import Scene

EARLY = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
EIGHT = "W:W31,36,37,41:B5,10,14,15"
NINE = "W:W31,36,37,41,42:B5,10,14,15"


def running(regulations: str, control: str, white: float, fen: str = EARLY, **more: object) -> Scene:
    """White's clock counts down for ten seconds."""
    game = "draughts" if regulations.startswith("fmjd") else "chess"
    return Scene(regulations, control, fen, game=game, **more).ticking(0, 10, white, 500, "white").until(12)  # type: ignore[arg-type]


class TestTimeTrouble:
    @pytest.mark.parametrize("regulations, control", [
        ("fide-standard", "5400"), ("fide-standard", "40/5400+15:1800+15"), ("fmjd-standard", "50/7200:25/3600"),
        ("fmjd-standard", "4800+30"),
    ])  # fmt: skip
    def test_under_five_minutes(self, regulations: str, control: str) -> None:
        fen = EARLY if regulations.startswith("fide") else NINE

        assert [("time_trouble", 3.0, "white")] == running(regulations, control, 302, fen).raised("time_trouble")

    @pytest.mark.parametrize("regulations, control", [
        ("fide-standard", "5400+30"), ("fide-standard", "5400d30"), ("fmjd-standard", "4800+60"),
        ("fide-rapid", "900"), ("fide-blitz", "180"), ("fmjd-rapid", "900"), ("fide-standard", "?"),
    ])  # fmt: skip
    def test_enough_a_move_or_another_pace_is_innocent(self, regulations: str, control: str) -> None:
        fen = EARLY if regulations.startswith("fide") else NINE

        assert [] == running(regulations, control, 302, fen).raised("time_trouble")

    def test_once_for_a_side_and_period(self) -> None:
        """An increment lifts the reading over five minutes and it falls again."""
        scene = running("fide-standard", "5400+15", 302)
        scene.ply(12.5, "f1", "b5").clock(13, 304, 500, "black").ply(20, "a7", "a6").clock(20.5, 304, 508, "white")

        assert 1 == len(scene.ticking(21, 40, 303, 508, "white").raised("time_trouble"))


ANNOUNCED: dict[str, Any] = {"guidelines_iii": True, "enable": ("quickplay_claim",)}


class TestQuickplayClaim:
    def test_announced(self) -> None:
        assert [("quickplay_claim", 2.0, "white")] == running("fide-rapid", "900", 121, **ANNOUNCED).raised()

    @pytest.mark.parametrize("regulations, control, rules", [
        ("fide-rapid", "900", {"enable": ("quickplay_claim",)}), ("fide-rapid", "900+10", ANNOUNCED),
        ("fide-blitz", "300", ANNOUNCED), ("fide-standard", "40/5400:1800", ANNOUNCED),
        ("fide-rapid", "900d5", ANNOUNCED),
    ])  # fmt: skip
    def test_not_announced_blitz_increment_or_an_earlier_period_is_innocent(
        self, regulations: str, control: str, rules: dict[str, Any]
    ) -> None:
        assert [] == running(regulations, control, 121, **rules).raised("quickplay_claim")


class TestLastMinute:
    def test_eight_pieces(self) -> None:
        scene = running("fmjd-rapid", "900", 61, EIGHT)

        assert [("draw_claim_last_minute", 2.0, "white")] == scene.raised("draw_claim_last_minute")

    def test_the_material_is_told(self) -> None:
        """Men and kings of each side, for the arbiter to judge who stands better."""
        scene = running("fmjd-rapid", "900", 61, "W:W31,36,K41:B5,K10")
        (told,) = [alert for _, alert in scene.alerts() if alert.irregularity == "draw_claim_last_minute"]

        assert {"white": [2, 1], "black": [1, 1]} == told.evidence["material"]

    @pytest.mark.parametrize("regulations, control, fen", [
        ("fmjd-rapid", "900+5", EIGHT), ("fmjd-rapid", "900", NINE), ("fmjd-standard", "4800+60", EIGHT),
    ])  # fmt: skip
    def test_increment_more_pieces_or_another_pace_is_innocent(self, regulations: str, control: str, fen: str) -> None:
        assert [] == running(regulations, control, 61, fen).raised("draw_claim_last_minute")
