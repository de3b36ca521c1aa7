"""What else a fault put into the rules would change: clocks set and stopped twice, sequels, and what ends a wait."""

from __future__ import annotations

from staged import CHESS, DRAUGHTS, Scene

OPEN = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
PAWN = "7k/4P3/8/8/8/8/8/K7 w - - 0 1"
BISHOP = "8/8/3k4/8/8/3K1B2/8/7n w - - 0 60"
SWAPPED = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RBNQKBNR w KQkq - 0 1"
KINGS = "4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 60"
ILLEGAL = "0.1:w 4:-f1 4.6:+B@f5 5.2:b "
SUSPENDED = "0.1:w 3:-e2 3.6:+P@e4 4.2:b 6:0 7:!suspend=reason~interruption 8:!resume=reason~interruption "

SCENES = [
    Scene(
        "stopped twice: each is a stop of its own",
        "0.1:w 3:0 8:w 10:!acknowledge=both_clocks_stopped 20:0",
        "both_clocks_stopped@6/ both_clocks_stopped@23/",
        fen=DRAUGHTS,
        tail=6,
    ),
    Scene(
        "stopped: a move with the clocks standing",
        "0.1:w 3:0 8:-32 8.6:+w@28",
        "both_clocks_stopped@6/",
        fen=DRAUGHTS,
        tail=10,
    ),
    Scene(
        "first start: the increment comes with it",
        "0:set=180,180,0 5:set=185,185,w",
        "",
        "clock_times_changed clock_setting_wrong arbiter_time_adjusted",
        regulations="fide-blitz",
        control="180+5",
    ),
    Scene(
        "first start: an unknown control credits up to a minute",
        "0:set=180,180,0 5:set=240,240,w",
        "",
        "clock_times_changed clock_setting_wrong",
        regulations="fide-blitz",
        control="?",
    ),
    Scene(
        "first start: more than any increment",
        "0:set=180,180,0 5:set=245,245,w",
        "clock_times_changed@7/",
        regulations="fide-blitz",
        control="?",
    ),
    Scene(
        "counter: the clock adds its period too early",
        "0:set=900,900,w 3:-d2 3.6:+P@d4 4.2:set=2725,900,b 8:-e5 8.6:-d4 9.1:+p@d4 9.8:set=2725,2724,w",
        "move_counter_mismatch@9.8/",
        fen=OPEN,
        control="40/5400+30:1800+30",
        start={"moves_completed": {"white": 36, "black": 36}},
    ),
    Scene(
        "counter: the clock adds its period at the control",
        "0:set=900,900,w 3:-d2 3.6:+P@d4 4.2:set=2725,900,b 8:-e5 8.6:-d4 9.1:+p@d4 9.8:set=2725,2724,w",
        "time_control_reached@5.2/w time_control_reached@10.8/b",
        "move_counter_mismatch clock_times_changed clock_setting_wrong",
        fen=OPEN,
        control="40/5400+30:1800+30",
        start={"moves_completed": {"white": 39, "black": 39}},
    ),
    Scene(
        "promotion: a chip that cannot be read", "0.1:w 4:-e7 4.6:+?@e8 5.2:b", "promotion_piece_wrong@6.2/w", fen=PAWN
    ),
    Scene(
        "promotion: a chip that cannot be read is no second illegal move",
        "0.1:w 4:-a1 4.6:+K@a3 5.2:b 8:0 9:-a3 9.6:+K@a1 10:!acknowledge=irregularity~illegal_move,ruling~upheld "
        "20:w 24:-e7 24.6:+?@e8 25.2:b",
        "illegal_move@5.7/w promotion_piece_wrong@26.2/w",
        "second_illegal_move",
        fen=PAWN,
        quiet=("both_clocks_stopped", "touch_move"),
    ),
    Scene(
        "chess960: the king alone is a move against the rules",
        "0.1:w 4:-e1 4.6:+K@g1 5.2:b",
        "illegal_move@5.7/w",
        "castling_incomplete",
        fen="4k3/pppp4/8/8/8/8/PPPP4/4K2R w K - 0 10",
        chess960=True,
    ),
    Scene(
        "kings: a win where nobody can",
        "0.1:w 3:-f3 3.2:-h1 3.8:+B@h1 4.4:b 12:-d3 12.5:+K@e4 13:-d6 13.5:+k@d5",
        "dead_position@4.8/ kings_result_signal@16.5/ result_signal_conflict@16.5/",
        fen=BISHOP,
        control="5400",
        tail=8,
    ),
    Scene(
        "set up again because the start was wrong",
        "0:0 1:w 12:0 14:-b1 14.5:-c1 15:+N@b1 15.5:+B@c1 38:set=5400,5400,0 40:w "
        "44:-e2 44.6:+P@e4 45.2:b 48:-e7 48.6:+p@e5 49.2:w",
        "start_position_wrong@3/ both_clocks_stopped@15/",
        "result_missing displaced_piece",
        fen=SWAPPED,
        begin=False,
        tail=30,
    ),
    Scene(
        "wrong start put right while the clock runs: the next lift is a move",
        "0:0 1:w 8:-b1 8.3:-c1 8.6:+N@b1 9:+B@c1 14:-e2 14.6:+P@e4 15.2:b 18:-e7 18.6:+p@e5 19.2:w",
        "start_position_wrong@3/",
        "displaced_piece result_missing record_gap",
        fen=SWAPPED,
        begin=False,
        tail=20,
    ),
    Scene(
        "accepted: not what was dismissed",
        ILLEGAL + "8:!acknowledge=irregularity~illegal_move,ruling~dismissed 12:-e7 12.6:+p@e5 13.2:w",
        "illegal_move@5.7/w",
        "illegal_move_accepted",
        fen=OPEN.replace("4p3", "8").replace("pppp1ppp", "pppppppp"),
        regulations="fide-rapid",
    ),
    Scene(
        "accepted: by the reply",
        ILLEGAL + "12:-e7 12.6:+p@e6 13.2:w",
        "illegal_move@5.7/w illegal_move_accepted@13.1/w",
        fen=OPEN.replace("4p3", "8").replace("pppp1ppp", "pppppppp"),
        regulations="fide-rapid",
    ),
    Scene(
        "illegal: corrected by the arbiter, and the second counts",
        ILLEGAL + "10:0 11:-f5 11.5:+B@c4 12:!correct=from_ply~1,moves~f1c4 20:b "
        "26:-b8 26.6:+n@c6 27.2:w 30:-c4 30.6:+B@a3 31.2:b",
        "illegal_move@5.7/w illegal_move@31.7/w second_illegal_move@31.7/w",
        fen=OPEN,
        quiet=("both_clocks_stopped", "touch_move", "move_taken_back", "extra_piece", "displaced_piece"),
    ),
    Scene(
        "illegal: somebody is on the way",
        ILLEGAL + "6.5:-f5 7:+B@f6",
        "illegal_move@5.7/w",
        fen=OPEN,
        quiet=("extra_piece", "displaced_piece", "opponent_piece_moved"),
        tail=25,
    ),
    Scene(
        "last minute: it does not hold for a second",
        "0:set=61,500,w 1:set=60,500,w 1.5:set=180,500,0",
        "",
        "draw_claim_last_minute",
        fen="W:W31,36,41:B5,10",
        regulations="fmjd-rapid",
        control="900",
        quiet=("clock_times_changed", "both_clocks_stopped"),
    ),
    Scene(
        "resumed: the press puts the right clock on",
        SUSPENDED + "30:w 36:b",
        "",
        "clock_pressed_without_move wrong_clock_running",
        tail=10,
    ),
    Scene(
        "resumed: a press after the first move",
        SUSPENDED + "30:b 34:-e7 34.6:+p@e5 35.2:w 45:b",
        "clock_pressed_without_move@47/w",
        tail=10,
    ),
    Scene(
        "resumed: time given for a fault",
        ILLEGAL + "7:0 8:-f5 8.6:+B@f1 9:!acknowledge=irregularity~illegal_move,ruling~upheld "
        "12:!suspend=reason~interruption 20:set=5425,5520,0 30:!resume=reason~interruption 32:w",
        "illegal_move@5.7/w arbiter_time_adjusted@20/b",
        "resumption_wrong clock_times_changed",
        fen=OPEN,
        quiet=("both_clocks_stopped",),
        tail=10,
    ),
    Scene(
        "resumed: with other times",
        SUSPENDED.replace("8:!resume=reason~interruption ", "9:set=5425,5200,0 20:!resume=reason~interruption ")
        + "30:b",
        "clock_times_changed@11/b resumption_wrong@32/",
        tail=10,
    ),
    Scene(
        "resumed: what stood otherwise is forgotten with the next move",
        SUSPENDED + "30:b 34:-e7 34.6:+p@e5 35.2:w 40:-d2 40.6:+P@d4 41.2:b",
        "",
        "resumption_wrong",
        tail=10,
    ),
    Scene(
        "touched: a sweep of three squares",
        "0.1:w 4:-a2 4.1:-b2 4.2:-c2 4.5:+P@a3 4.6:+P@b3 4.7:+P@c3",
        "displaced_piece@7.7/",
        tail=6,
    ),
    Scene(
        "kings: one is enough to wait for the other",
        "0.1:w 4:-e8 4.6:+k@d5",
        "opponent_piece_moved@34.6/w",
        fen=KINGS,
        tail=36,
    ),
    Scene(
        "swept, with no clock at the table",
        "4:-a2 4.6:+P@a5 5:-b7 5.6:+p@b4",
        "displaced_piece@35.6/",
        fen=KINGS,
        tail=36,
    ),
    Scene(
        "usual start: nothing is said of what stands", "0:0 0.1:w", "", "start_position_wrong", fen=CHESS, begin=False
    ),
    Scene(
        "period: too little is added where the increment begins with it",
        "0:set=300,300,w 3:-d2 3.6:+P@d4 4.2:set=1197,300,b",
        "clock_setting_wrong@7.2/",
        fen=OPEN,
        control="40/5400:1800+30",
        start={"moves_completed": {"white": 39, "black": 39}},
    ),
    Scene(
        "draughts, uncrowned king: accepted by the reply",
        "0.1:w 5:-7 5.6:+w@1 6.2:b 9:-30 9.6:+b@35 10.2:w 14:-1 14.6:+w@23 15.2:b 18:-35 18.6:+b@40 19.2:w",
        "uncrowned_man@10.2/w uncrowned_king_played@15.7/w illegal_move_accepted@19.1/w",
        fen="W:W7,50:B30",
        tail=15,
    ),
]
