"""A board that is knocked over is one alert, however many squares it shows; pieces put away by hand are none."""

from __future__ import annotations

from staged import DRAUGHTS, Scene

PLAYED = "0.1:w 3:-e2 3.6:+P@e4 4.2:b 8:-e7 8.6:+p@e5 9.2:w 12:-g1 12.6:+N@f3 13.2:b "
STANDS = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R"
FOUR = "4k3/8/8/8/4P3/8/8/R3K3"
WHITE_GONE = "r1bqkbnr/pppp1ppp/2n5/4p3/8/8/8/4K3"
PUT_AWAY = " ".join(f"{20 + 0.4 * n:.1f}:-{file}{rank}" for n, (rank, file) in
                    enumerate((r, f) for r in "12" for f in "abcdefgh" if f + r not in ("g1", "e2")))  # fmt: skip
PUT_AWAY += " " + " ".join(f"{26 + 0.4 * n:.1f}:-{file}7" for n, file in enumerate("abcdfgh"))

SCENES = [
    Scene(
        "swept: four pieces are left",
        PLAYED + "20:board=" + FOUR,
        "displaced_piece@23/",
        "result_missing piece_removed_without_capture",
        tail=70,
    ),
    Scene(
        "swept: four pieces are left, on White's time",
        PLAYED + "15:-b8 15.6:+n@c6 16.2:w 20:board=" + FOUR,
        "displaced_piece@23/",
        "result_missing",
        tail=40,
    ),
    Scene("swept: none is left", PLAYED + "20:board=8/8/8/8/8/8/8/8", "displaced_piece@23/", "king_captured", tail=40),
    Scene(
        "swept: White's own, on his time",
        PLAYED + f"15:-b8 15.6:+n@c6 16.2:w 20:board={WHITE_GONE}",
        "displaced_piece@23/",
        tail=40,
    ),
    Scene("swept: put up again as it was", PLAYED + f"20:board={FOUR} 40:board={STANDS}", "displaced_piece@23/"),
    Scene("swept: put up before anybody is told", PLAYED + f"20:board={FOUR} 22.5:board={STANDS}", tail=20),
    Scene(
        "swept: the clocks are stopped, and the pieces put away",
        PLAYED + "18:0 20:board=" + FOUR,
        "both_clocks_stopped@21/ result_missing@30/",
        "displaced_piece",
        tail=20,
    ),
    Scene(
        "swept: the men of draughts",
        "0.1:w 3:-32 3.6:+w@28 4.2:b 10:board=W28,45:B3,5",
        "displaced_piece@13/",
        fen=DRAUGHTS,
        tail=20,
    ),
    Scene("put away by hand over a running clock", PLAYED + PUT_AWAY, "result_missing@88.4/", tail=70),
    Scene(
        "displaced: one more, and the alert stays until all of it is told",
        "0.1:w 3:-e2 3.6:+P@e4 4.2:b 8:-e7 8.6:+p@e5 9.2:w 12:-a7 12.5:+p@b5 40:-h7 40.5:+p@g4",
        "opponent_piece_moved@17.5/w displaced_piece@50.5/",
        tail=20,
    ),
    Scene(
        "displaced: one is put back, and the other is all that is told",
        "0.1:w 3:-e2 3.6:+P@e4 4.2:b 8:-e7 8.6:+p@e5 9.2:w 12:-a7 12.5:+p@b5 13:-h7 13.5:+p@g4 40:-g4 40.5:+p@h7",
        "displaced_piece@23.5/ opponent_piece_moved@45.5/w",
        tail=20,
    ),
]
