"""Draws that the record proves, and draws that were agreed too early."""

from __future__ import annotations

import pytest
from clocked import Scene

from gateway.events import BoardDump

TO_AND_FRO = ["g1f3", "g8f6", "f3g1", "f6g8"]
WALL = "8/8/k7/1p1p1p1p/1P1P1P1P/8/K7/8 w - - 0 60"


class Chess(Scene):
    """A game whose clock has been running for three seconds, White or Black to move."""

    def __init__(self, fen: str, moves: list[str] | None = None, **more: object) -> None:
        super().__init__("fide-standard", "5400+30", fen, start={"moves": moves} if moves else None, **more)  # type: ignore[arg-type]
        assert self.table.game is not None
        self.pieces = dict(self.table.game.position.pieces())
        self.observe(BoardDump(dict(self.pieces)))
        self.side = self.table.game.record.turn
        self.clock(0, 3000, 3000, self.side)

    def made(self, origin: str, target: str, *taken: str, press: bool = True) -> Chess:
        """One ply at 4.7, pressed at 5.3."""
        self.ply(4.7, origin, target, *taken)
        if press:
            self.clock(5.3, 3024, 3024, "black" if self.side == "white" else "white")
        self.until(12)
        return self


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class TestRepetition:
    def test_threefold(self) -> None:
        scene = Chess(START, (TO_AND_FRO * 2)[:-1]).made("f6", "g8")

        assert [("threefold", 5.3, None)] == scene.raised()

    def test_fivefold(self) -> None:
        scene = Chess(START, (TO_AND_FRO * 4)[:-1]).made("f6", "g8")

        assert [("fivefold", 5.3, None)] == scene.raised("fivefold")

    def test_not_before_the_press(self) -> None:
        assert [] == Chess(START, (TO_AND_FRO * 2)[:-1]).made("f6", "g8", press=False).raised("threefold")

    def test_another_right_to_castle_is_innocent(self) -> None:
        moves = ["e1e2", "e8e7", "e2e1", "e7e8", "e1e2", "e8e7", "e2e1"]

        assert [] == Chess("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", moves).made("e7", "e8").raised()

    def test_draughts_is_a_notice(self) -> None:
        moves = ["47-38", "4-13", "38-47", "13-4", "47-38", "4-13", "38-47"]
        scene = Scene("fmjd-standard", "4800+60", "W:WK47,36:BK4,15", game="draughts", start={"moves": moves})
        scene.pieces = {"47": "W", "36": "w", "13": "B", "15": "b"}
        scene.observe(BoardDump(dict(scene.pieces))).clock(0, 3000, 3000, "black")
        scene.ply(4.6, "13", "4").clock(5.2, 3000, 3055, "white").until(10)

        assert [("notice", 5.2)] == [(a.severity, at) for at, a in scene.alerts() if a.irregularity == "threefold"]


class TestCounting:
    @pytest.mark.parametrize("clock, kinds", [
        (98, []), (99, ["fifty_moves"]), (149, ["fifty_moves", "seventy_five_moves"]),
    ])  # fmt: skip
    def test_without_pawn_move_or_capture(self, clock: int, kinds: list[str]) -> None:
        scene = Chess(f"4k3/8/4p3/8/8/4P3/8/R3K3 b - - {clock} 120").made("e8", "e7")

        assert kinds == [kind for kind, *_ in scene.raised()]

    def test_a_pawn_move_is_innocent(self) -> None:
        assert [] == Chess("4k3/8/4p3/8/8/4P3/8/R3K3 b - - 149 120").made("e6", "e5").raised()

    def test_mate_on_the_move_is_innocent(self) -> None:
        scene = Chess("6k1/5ppp/8/8/8/8/8/R3K3 w - - 149 120").made("a1", "a8")

        assert ["game_over_on_board"] == [k for k, *_ in scene.raised() if k in ("game_over_on_board", "fifty_moves")]
        assert [] == scene.raised("seventy_five_moves")


class TestDeadPosition:
    def test_bare_kings(self) -> None:
        """The second runs from the moment the move stood; the press is waited for."""
        scene = Chess("8/8/8/4k3/4P3/8/8/K7 b - - 0 80")
        scene.lift(4, "e4").lift(4.7, "e5").place(5.4, "k", "e4").clock(6, 3000, 3024, "white").until(12)

        assert [("dead_position", 6.4, None)] == scene.raised("dead_position")

    def test_a_wall(self) -> None:
        """The proof is found a little at a time, and not at once."""
        [(_, at, side)] = Chess(WALL).made("a2", "b1").raised("dead_position")

        assert side is None and 5.7 <= at <= 6.2

    @pytest.mark.parametrize("fen, origin, target", [
        ("8/8/8/4k3/8/2N2N2/8/K7 b - - 0 80", "e5", "e6"), ("8/8/8/4k3/4n3/8/8/K4B2 b - - 0 80", "e5", "e6"),
        ("8/8/1k6/p1p1p1p1/P1P1P1P1/8/1B6/4K3 w - - 0 60", "e1", "e2"),
    ])  # fmt: skip
    def test_mates_that_exist_are_innocent(self, fen: str, origin: str, target: str) -> None:
        assert [] == Chess(fen).made(origin, target).raised("dead_position")

    def test_not_before_the_press(self) -> None:
        scene = Chess("8/8/8/4k3/4P3/8/8/K7 b - - 0 80").lift(4, "e4").lift(4.7, "e5").place(5.4, "k", "e4").until(20)

        assert [] == scene.raised("dead_position")


def draughts(
    fen: str, ply: tuple[str, ...], record: dict[str, int] | None = None, regulations: str = "fmjd-standard",
    control: str = "4800+60",
) -> Scene:  # fmt: skip
    """One ply of White's, pressed."""
    scene = Scene(regulations, control, fen, game="draughts", start={"record": record} if record else None)
    scene.clock(0, 800, 800, "white").ply(4.6, ply[0], ply[1])
    for number, square in enumerate(ply[2:]):
        scene.lift(5 + number * 0.3, square)
    return scene.clock(6, 800, 800, "black").until(15)


class TestDraughtsCounts:
    @pytest.mark.parametrize("fen, ply, record, kind", [
        ("W:WK46,36:BK4,15", ("46", "37"), {"plies_since_man_move_or_capture": 49}, "twenty_five_moves"),
        ("W:WK46,K47,K48:BK45", ("47", "42"), {"plies_since_material_3_v_1": 31}, "sixteen_moves"),
        ("W:WK46,K47:BK45", ("47", "42"), {"plies_since_material_2_v_1": 9}, "five_moves"),
    ])  # fmt: skip
    def test_reached(self, fen: str, ply: tuple[str, ...], record: dict[str, int], kind: str) -> None:
        assert [(kind, 6.0, None)] == draughts(fen, ply, record).raised()
        assert [] == draughts(fen, ply, {key: value - 1 for key, value in record.items()}).raised()

    def test_a_man_move_is_innocent(self) -> None:
        record = {"plies_since_man_move_or_capture": 49}

        assert [] == draughts("W:WK46,36:BK4,15", ("36", "31"), record).raised()

    def test_a_win_on_the_last_counted_ply_is_innocent(self) -> None:
        scene = draughts("W:WK46,K47,K2:BK33", ("47", "29", "33"), {"plies_since_material_3_v_1": 31})

        assert ["game_over_on_board"] == [kind for kind, *_ in scene.raised()]

    def test_a_man_does_not_begin_the_sixteen_anew(self) -> None:
        record = {"plies_since_material_3_v_1": 31}

        assert ["sixteen_moves"] == [k for k, *_ in draughts("W:WK46,K47,36:BK45", ("36", "31"), record).raised()]


class TestForcedDraw:
    def _played(self, fen: str, control: str = "900", regulations: str = "fmjd-rapid") -> list[str]:
        scene = draughts(fen, ("47", "42"), None, regulations, control)
        return [kind for kind, *_ in scene.raised("forced_draw_1_vs_3")]

    def test_without_increment(self) -> None:
        assert ["forced_draw_1_vs_3"] == self._played("W:WK46,K47,K48:BK45")

    @pytest.mark.parametrize("fen, control, regulations", [
        ("W:WK46,K47,K48:BK45", "900+5", "fmjd-rapid"), ("W:WK46,K47,28:BK45", "900", "fmjd-rapid"),
        ("W:WK46,K47,K48,K2:BK45", "900", "fmjd-rapid"), ("W:WK46,K47,K48:BK45", "4800", "fmjd-standard"),
        ("W:WK46,K47,K50:BK20", "900", "fmjd-rapid"),
    ])  # fmt: skip
    def test_fischer_a_man_four_kings_or_a_king_en_prise_is_innocent(
        self, fen: str, control: str, regulations: str
    ) -> None:
        assert [] == self._played(fen, control, regulations)


class TestAgreed:
    FULL = "W:W31,32,33,34,35,36,37,38,39,40,41:B5,6,7,8,9,10,11,12,13,14,15"
    FEW = "W:WK46,31:BK5,10"

    def _draughts(self, regulations: str, fen: str, moves: int, reason: str = "agreed", **rules: object) -> list[str]:
        control = "4800+60" if regulations.endswith("standard") else "900+5"
        done = {"white": moves, "black": moves}
        scene = Scene(regulations, control, fen, game="draughts", moves_completed=done, **rules)  # type: ignore[arg-type]
        scene.clock(0, 800, 800, "white").until(5).command("end_game", result="1-1", reason=reason).until(12)
        assert all(at == 8.0 for kind, at, _ in scene.raised() if kind.startswith("draw"))
        return [kind for kind, *_ in scene.raised() if kind.startswith("draw")]

    def test_before_move_40(self) -> None:
        assert ["draw_offer_before_move_40"] == self._draughts("fmjd-standard", self.FEW, 30)
        assert ["draw_offer_before_move_40"] == self._draughts("fmjd-rapid", self.FULL, 30, scores_kept=True)

    def test_more_than_ten_pieces(self) -> None:
        assert ["draw_with_too_many_pieces"] == self._draughts("fmjd-rapid", self.FULL, 0)

    def test_enough_moves_or_few_pieces_is_innocent(self) -> None:
        assert [] == self._draughts("fmjd-standard", self.FULL, 40)
        assert [] == self._draughts("fmjd-rapid", self.FEW, 5)

    def test_a_draw_by_rule_or_by_the_arbiter_is_innocent(self) -> None:
        assert [] == self._draughts("fmjd-standard", self.FEW, 30, "annex 1 article 6")
        assert [] == self._draughts("fmjd-standard", self.FEW, 30, "")

    def test_a_repeated_position_is_innocent(self) -> None:
        moves = ["47-38", "4-13", "38-47", "13-4", "47-38", "4-13", "38-47", "13-4"]
        scene = Scene("fmjd-standard", "4800+60", "W:WK47,36:BK4,15", game="draughts", start={"moves": moves})
        scene.clock(0, 800, 800, "white").until(5).command("end_game", result="1-1", reason="agreed").until(12)

        assert ["threefold"] == [kind for kind, *_ in scene.raised()]

    def _chess(self, played: bool, minimum: int = 0, moves: list[str] | None = None) -> list[str]:
        start = {"moves": moves} if moves else None
        scene = Scene(fen=START, minimum_moves=minimum, start=start)
        if played:
            scene.clock(0, 5400, 5400, "white")
        scene.until(5).command("end_game", result="1/2-1/2", reason="agreed").until(12)
        return [kind for kind, *_ in scene.raised() if kind.startswith("draw")]

    def test_before_each_has_moved(self) -> None:
        assert ["draw_before_minimum_moves"] == self._chess(True, moves=["e2e4"])

    def test_below_the_events_limit(self) -> None:
        assert ["draw_before_minimum_moves"] == self._chess(True, 30, ["e2e4", "e7e5"])

    def test_no_limit_is_innocent(self) -> None:
        assert [] == self._chess(True, moves=["e2e4", "e7e5"])

    def test_repetition_is_innocent(self) -> None:
        assert [] == self._chess(True, 30, TO_AND_FRO * 2)

    def test_a_game_that_was_not_played_is_innocent(self) -> None:
        assert [] == self._chess(False)
