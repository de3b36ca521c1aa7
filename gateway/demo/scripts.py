"""What is played at the four boards, and what goes wrong there, in the order in which it is seen.

=====  ==========  ============================================================================
table  game        what the arbiter is told
=====  ==========  ============================================================================
1      blitz       a pawn is knocked onto another square; White's time runs out in a won position
2      standard    a bishop is set down on a wrong square and the clock is pressed; clocks stand
3      Chess960    a pawn on the last rank stays a pawn; clocks stand
4      draughts    a captured man is left standing; a man on the last row is not crowned
=====  ==========  ============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import chess

from gateway import draughts
from gateway.demo.stage import Stage, Thinking
from gateway.events import GameKind
from gateway.simulate.habits import BLITZ, RAPID, Pace
from gateway.simulate.hand import Performance
from gateway.simulate.score import Score, chess_score, draughts_score

HASTY = replace(BLITZ, press=(0.3, 0.8))
BRISK = replace(RAPID, carry=(0.4, 1.0), press=(0.4, 1.0))
"""Tournament hands, somewhat quicker, so that there is something to see."""

START_960 = "nbrkrqbn/pppppppp/8/8/8/8/PPPPPPPP/NBRKRQBN w KQkq - 0 1"

ATTACK = "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+ Nc3 Nxe4 O-O Bxc3 d5 Bf6 Re1 Ne7 Rxe4 d6 Bg5 Bxg5 Nxg5 O-O"
"""An old attack of the Italian game, to the point where White wins with 14. Nxh7."""

TRAP = (
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Nbd7 cxd5 exd5 Nxd5 Nxd5 Bxd8 Bb4+ Qd2 Bxd2+ Kxd2 Kxd8 e3 Re8 Bc4 N7b6 Bxd5 Nxd5 Nf3 Bg4"
)
"""The Elephant trap: White wins a pawn and loses a piece."""

GAMBIT_960 = (
    "e4 d5 exd5 c6 dxc6 e5 cxb7 Nb6 bxc8=Q+ Nxc8 O-O-O Ng6 Qb5 Kc7 g4 Nce7 d4 Nc6 Re4 exd4 Rxe8 Qxe8 f3 Qe6 Bf2 Nge5 "
    "f4 Qxg4"
)
"""White's pawn eats its way to the last rank; then White castles with king and rook side by side."""

CROWNED = (
    "32-28 19-23 28x19 14x23 35-30 13-19 40-35 8-13 30-25 3-8 25x3 17-22 34-29 23x34 39x30 19-24 30x19 13x24 3-20 "
    "10-14 20x3 16-21 3-20 4-10 20x29 8-13 31-27 22x31 37x19 10-14 29x12 7x18 19x10 5x14 44-39 2-7 49-44 14-19 41-37 "
    "11-16 38-32 6-11 46-41 1-6 42-38 15-20 36-31 16-21 33-29 21-26 35-30 11-17 32-28 7-12 39-33 17-21 29-24 20x29 "
    "33x22 12-17 22x11 6x17 48-42 17-22 28x17 21x12 45-40 12-17 31-27 17-22 27x18 26-31 37x26"
)
"""Black lets White through on the sixth move and is outplayed by the king; at last no man is left."""


@dataclass(frozen=True, slots=True)
class DemoTable:
    """One table of the demo."""

    id: str
    game: GameKind
    regulations: str
    time_control: str
    base: float
    increment: float
    players: tuple[str, str]
    score: Callable[[], Score]
    direct: Callable[[Stage], None]
    """What happens from the start of the clock to the result."""
    pace: Pace
    thinking: Thinking

    def play(self, rng: Random) -> Performance:
        """One game and everything around it; another `Random`, other hands."""
        stage = Stage(self.score(), self.pace, self.thinking, rng)
        self.direct(stage)
        return stage.set_up()


def _chess(moves: str, start: chess.Board) -> Score:
    board = start.copy()
    return chess_score(start, [board.push_san(san) for san in moves.split()], result="0-1")


def _draughts() -> Score:
    position, plies = draughts.Position.start(), []
    for text in CROWNED.split():
        plies.append(position.parse(text))
        position = position.after(plies[-1])
    return draughts_score(draughts.Position.start(), plies)


def _direct_blitz(stage: Stage) -> None:
    stage.play(4)
    stage.sweep({"g7": "f6", "h7": "g6"}, seconds=8.0)
    stage.play()
    stage.think(26.0)  # meanwhile White's flag falls
    stage.agree("0-1")


def _direct_standard(stage: Stage) -> None:
    stage.play(6)
    stage.slip("g4", noticed=4.0)
    stage.play()
    stage.think(3.0)
    stage.agree("0-1")


def _direct_chess960(stage: Stage) -> None:
    stage.play(8)
    stage.leave_pawn(noticed=5.0)
    stage.play()
    stage.think(3.0)
    stage.agree("0-1")


def _direct_draughts(stage: Stage) -> None:
    stage.play(2)
    stage.leave_victim("23", noticed=7.0)
    stage.play(10)
    stage.leave_man(noticed=17.0)
    stage.play()
    stage.stop()


TABLES = (
    DemoTable(
        "1",
        "chess",
        "fide-blitz",
        "60",
        60.0,
        0.0,
        ("Vos, Anna", "Kuiper, Ben"),
        lambda: _chess(ATTACK, chess.Board()),
        _direct_blitz,
        HASTY,
        Thinking(white=1.8, black=0.4),
    ),
    DemoTable(
        "2",
        "chess",
        "fide-standard",
        "5400+30",
        5400.0,
        30.0,
        ("Brandt, Clara", "Moreau, David"),
        lambda: _chess(TRAP, chess.Board()),
        _direct_standard,
        BRISK,
        Thinking(white=2.8, black=2.2),
    ),
    DemoTable(
        "3",
        "chess960",
        "fide-rapid",
        "900+10",
        900.0,
        10.0,
        ("Lind, Eva", "Adeyemi, Femi"),
        lambda: _chess(GAMBIT_960, chess.Board(START_960, chess960=True)),
        _direct_chess960,
        BRISK,
        Thinking(white=3.5, black=3.5),
    ),
    DemoTable(
        "4",
        "draughts",
        "fmjd-rapid",
        "1200+5",
        1200.0,
        5.0,
        ("Haan, Gijs de", "Kask, Hanna"),
        _draughts,
        _direct_draughts,
        BRISK,
        Thinking(white=2.4, black=2.4),
    ),
)
