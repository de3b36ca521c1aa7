"""What the arbiter has set or corrected: play is judged from there, and nothing of before is held against anybody."""

from __future__ import annotations

from staged import Scene

PLAYED = "0.1:w 3:-e2 3.6:+P@e4 4.2:b "
AS_IT_STANDS = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_w_KQkq_-_0_1"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_{}_KQkq_-_0_1"
FAULT = "0.1:w 4:-c1 4.7:+B@f4 5.3:b 8:-f4 8.5:+B@c1 12:w 14:-e2 14.6:+P@e4 15:b "

SCENES = [
    Scene(
        "set: the other side is to move, and Black moves",
        PLAYED + f"8:!set_position=fen~{AS_IT_STANDS} 9:w 22:-d7 22.6:+p@d5",
        "moved_out_of_turn@25.6/b",
        tail=20,
    ),
    Scene(
        "set: the other side is to move, and moves",
        PLAYED + f"8:!set_position=fen~{AS_IT_STANDS} 9:w 22:-d2 22.6:+P@d4 23:b",
        "",
        "moved_out_of_turn move_without_clock_press wrong_clock_running",
        tail=40,
    ),
    Scene(
        "set: back to the start, and Black moves",
        PLAYED
        + f"8:-e7 8.6:+p@e5 9:w 12:0 13:!set_position=fen~{START.format('w')} 15:-e5 15.6:+p@e7 17:-e4 17.6:+P@e2 "
        "20:w 25:-d7 25.6:+p@d5",
        "both_clocks_stopped@15/ moved_out_of_turn@28.6/b",
        tail=20,
    ),
    Scene(
        "set: a press without a move may stand",
        f"0.1:w 8:b 12:!set_position=fen~{START.format('b')} 15:-d7 15.6:+p@d5 16.2:w",
        "clock_pressed_without_move@10/w",
        "moved_out_of_turn wrong_clock_running",
        tail=20,
    ),
    Scene(
        "set: a piece touched before is free",
        f"0.1:w 4:-g1 7:+N@g1 9:!set_position=fen~{START.format('w')} 12:-e2 12.6:+P@e4 13.2:b",
        "",
        "touch_move",
        tail=20,
    ),
    Scene(
        "set: a piece touched since is not",
        f"0.1:w 4:!set_position=fen~{START.format('w')} 6:-g1 9:+N@g1 12:-e2 12.6:+P@e4 13.2:b",
        "touch_move@13.2/w",
        tail=20,
    ),
    Scene(
        "corrected: nobody owes a press",
        PLAYED + "8:-e7 8.6:+p@e5 10:!correct=from_ply~2,moves~e7e6 12:w",
        "displaced_piece@18.6/",
        "moved_out_of_turn move_without_clock_press clock_pressed_without_move wrong_clock_running",
        tail=40,
    ),
    Scene(
        "corrected soon after: the fault counts",
        FAULT + "60:!correct=from_ply~1,moves~e2e4 80:-e7 80.6:+p@e5 81:w 84:-c1 84.7:+B@f4 85.3:b",
        "illegal_move@5.8/w illegal_move@85.8/w second_illegal_move@85.8/w",
    ),
    Scene(
        "corrected long after: it was another matter",
        FAULT + "75:!correct=from_ply~1,moves~e2e4 80:-e7 80.6:+p@e5 81:w 84:-c1 84.7:+B@f4 85.3:b",
        "illegal_move@5.8/w illegal_move@85.8/w",
        "second_illegal_move",
    ),
]
