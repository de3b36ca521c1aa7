"""Kinds that want a long game, a schedule, a counter or a setting: each raised once, and each held back once."""

from __future__ import annotations

from staged import STARTED, Scene

TO_AND_FRO = ["g1f3", "g8f6", "f3g1", "f6g8"]
LATER = "2026-05-01T10:03:00.000Z"
COUNTS = "W:WK46,36:BK4,15"
THREE = "W:WK46,K47,K48:BK45"
ANALYSIS = " ".join(
    f"{5 + 4 * n}:-{origin} {5.6 + 4 * n:.1f}:+N@{target}"
    for n, (origin, target) in enumerate([("b1", "c3"), ("c3", "b1")] * 7)
)
MIDDLE = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
CLEARED = " ".join(
    f"{5 + n}:-{file}{rank}" for n, (rank, file) in enumerate((r, f) for r in "1278" for f in "abcdefgh")
)
TURNED = (
    "0:0 0.1:w 3:-e2 3.6:+P@e4 4.2:b 8:-e7 8.6:+p@e5 9.2:w 13:-d2 13.6:+P@d3 14.2:b 18:-d7 18.6:+p@d6 19.2:w "
    "22:0 26:!set_white_side=value~right 30:b 34:-g1 34.6:+N@f3 35.2:w 39:-g8 39.6:+n@f6 40.2:b 44:-b1 44.6:+N@c3 "
    "45.2:w 49:-b8 49.6:+n@c6 50.2:b"
)
COUNTED = "0:0 0.1:w 3:-e2 3.6:+P@e4 4.2:set=5426,5400,b,{} 8:-e7 8.6:+p@e5 9.2:set=5426,5425,w,{}"
LAST = "0.1:b 4:-f6 4.7:+n@g8 5.3:w"

SCENES = [
    Scene("threefold", LAST, "threefold@5.3/", start={"moves": (TO_AND_FRO * 2)[:-1]}),
    Scene("threefold: twice only", LAST, "", "threefold fivefold", start={"moves": TO_AND_FRO[:-1]}),
    Scene("fivefold", LAST, "fivefold@5.3/", start={"moves": (TO_AND_FRO * 4)[:-1]}, quiet=("threefold",)),
    Scene("fivefold: four times", LAST, "", "fivefold", start={"moves": (TO_AND_FRO * 3)[:-1]}, quiet=("threefold",)),
    Scene(
        "25 moves: d",
        "0.1:w 4:-46 4.7:+W@37 5.3:b",
        "twenty_five_moves@5.3/",
        fen=COUNTS,
        start={"record": {"plies_since_man_move_or_capture": 49}},
    ),
    Scene(
        "25 moves: d a man",
        "0.1:w 4:-36 4.7:+w@31 5.3:b",
        "",
        "twenty_five_moves",
        fen=COUNTS,
        start={"record": {"plies_since_man_move_or_capture": 49}},
    ),
    Scene(
        "16 moves: d",
        "0.1:w 4:-47 4.7:+W@42 5.3:b",
        "sixteen_moves@5.3/",
        fen=THREE,
        start={"record": {"plies_since_material_3_v_1": 31}},
    ),
    Scene(
        "16 moves: d one less",
        "0.1:w 4:-47 4.7:+W@42 5.3:b",
        "",
        "sixteen_moves",
        fen=THREE,
        start={"record": {"plies_since_material_3_v_1": 30}},
    ),
    Scene(
        "not started",
        "0:0",
        "clock_not_started@130/",
        begin=False,
        assign={"scheduled_start": STARTED},
        tail=140,
    ),
    Scene(
        "not started: the hall is late",
        "0:0 60:!assign=scheduled_start~" + LATER,
        "",
        "clock_not_started",
        begin=False,
        assign={"scheduled_start": STARTED},
        tail=240,
    ),
    Scene(
        "not started: late and still not",
        "0:0 60:!assign=scheduled_start~" + LATER,
        "clock_not_started@310/",
        begin=False,
        assign={"scheduled_start": STARTED},
        tail=260,
    ),
    Scene(
        "analysis",
        "0:0 1:!end_game=result~1-0 " + ANALYSIS,
        "analysis_on_board@45/",
        fen=MIDDLE,
        rules={"enable": ["analysis_on_board"]},
    ),
    Scene(
        "analysis: cleared away",
        "0:0 1:!end_game=result~1-0 " + CLEARED,
        "",
        "analysis_on_board",
        rules={"enable": ["analysis_on_board"]},
    ),
    Scene("analysis: not asked for", "0:0 1:!end_game=result~1-0 " + ANALYSIS, "", "analysis_on_board", fen=MIDDLE),
    Scene("clock: turned, and said so", TURNED, "both_clocks_stopped@25/", "clock_position_changed"),
    Scene(
        "flags: the first decides",
        "0:set=3,10,w 1:-e2 1.6:+P@e4 3:flag=w 5:!acknowledge=irregularity~flag_fall,ruling~upheld "
        "6:set=0,3,b 9:set=0,0,b",
        "flag_fall@3.2/w",
        "both_flags_down",
        regulations="fide-rapid",
        control="900",
        quiet=("time_trouble",),
    ),
    Scene(
        "flag: nobody plays on",
        "0:set=3,600,w 3:flag=w 5:-e2 5.6:+P@e4",
        "flag_fall@3.2/w",
        "play_after_flag_fall",
        regulations="fide-rapid",
        control="900",
        quiet=("time_trouble",),
        tail=30,
    ),
    Scene(
        "clock after the end: stopped",
        "0:0 0.1:w 5:!end_game=result~1-0 8:0",
        "",
        "clock_running_after_end",
        tail=60,
    ),
    Scene("counter: one ahead", COUNTED.format(2, 2), "move_counter_mismatch@9.2/"),
    Scene("counter: right", COUNTED.format(1, 1), "", "move_counter_mismatch"),
    Scene(
        "swept: twenty squares, one alert",
        "0.1:w 3:-e2 3.6:+P@e4 4.2:b 8:board=r1b2b1r/p1p2p1p/2n5/1q1p1R2/3P4/2k1P1N1/P1P2PPP/1NBQ1B1R",
        "displaced_piece@11/",
        tail=45,
    ),
    Scene(
        "second illegal: the first was dismissed",
        "0.1:w 4:-c1 4.7:+B@f4 5.3:b 7:!acknowledge=irregularity~illegal_move,ruling~dismissed 8:-f4 8.5:+B@c1 12:w "
        "14:-c1 14.7:+B@f4 15.3:b",
        "illegal_move@5.8/w illegal_move@15.8/w",
        "second_illegal_move",
    ),
    Scene(
        "illegal: rapid, replied to at once",
        "0.1:w 4:-c1 4.7:+B@f4 5.3:b 9:-e7 9.6:+p@e5 10:w",
        "illegal_move@5.8/w illegal_move_accepted@9.6/w",
        regulations="fide-rapid",
        rules={"supervision": False},
    ),
    Scene("debounce: away and back", "0.1:w 3:-a7 12:+p@a7 14:-a7 23:+p@a7 25:-a7 34:+p@a7", tail=60),
]
