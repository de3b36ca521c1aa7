"""Draws that are claimed with a move that is only written (FIDE 9.2.1, 9.3.1).

The arbiter enters the announced move with `correct`. If the claim is right the draw is told; if it is wrong the move
must be made all the same (FIDE 9.5.3), and is in the record already.
"""

from __future__ import annotations

from staged import Scene

TO_AND_FRO = ["g1f3", "g8f6", "f3g1", "f6g8"]
BEFORE = "0:board=rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR 0:0 "
HOME = "Ng8"
MEN = "W:WK46,36:BK4,15"
ROOKS = "4k3/8/4p3/8/8/4P3/8/R3K3 b - - 99 120"


def claimed(ply: int, *moves: str) -> tuple[dict[str, object], ...]:
    """The command by which the arbiter enters what was announced."""
    return ({"command": "correct", "from_ply": ply, "moves": list(moves)},)


SCENES = [
    Scene(
        "claim: threefold",
        BEFORE + "5:!end_game=result~1/2-1/2,reason~threefold",
        "threefold@0/",
        start={"moves": (TO_AND_FRO * 2)[:-1]},
        then=claimed(8, HOME),
    ),
    Scene(
        "claim: threefold, but another move",
        BEFORE + "5:b",
        "",
        "threefold",
        start={"moves": (TO_AND_FRO * 2)[:-1]},
        then=claimed(8, "Ng4"),
    ),
    Scene(
        "claim: wrong, and the move is made",
        BEFORE + "5:b 25:-f6 25.6:+n@g8 26.2:w",
        "",
        "threefold displaced_piece illegal_move touch_move",
        start={"moves": TO_AND_FRO[:-1]},
        then=claimed(4, HOME),
        tail=20,
    ),
    Scene(
        "claim: wrong, and another move is made",
        BEFORE + "5:b 25:-f6 25.6:+n@h5 26.2:w",
        "displaced_piece@35.6/",
        "threefold",
        start={"moves": TO_AND_FRO[:-1]},
        then=claimed(4, HOME),
        tail=20,
    ),
    Scene("claim: fifty moves", "0:0", "fifty_moves@0/", fen=ROOKS, then=claimed(1, "Kd7")),
    Scene("claim: fifty moves, with a pawn", "0:0", "", "fifty_moves", fen=ROOKS, then=claimed(1, "e5")),
    Scene(
        "claim: 25 moves: d",
        "0:0",
        "twenty_five_moves@0/",
        fen=MEN,
        start={"record": {"plies_since_man_move_or_capture": 49}},
        then=claimed(1, "46-37"),
    ),
]
