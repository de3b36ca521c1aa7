"""Families of scenes: one thing is varied, over all that a rule may tell apart, its limits included.

Times are halves, quarters and eighths of seconds, which add up exactly, so that a limit can be met.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import chess
from staged import DRAUGHTS, Scene

OPEN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
OPEN_BLACK = "rnbqk2r/pppp1ppp/5n2/2b1p3/4P3/2N2N2/PPPP1PPP/R1BQKB1R b KQkq - 4 4"
BARE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 20"


def touches() -> Iterator[Scene]:
    """A piece is lifted for a while and put back, then another or the same one is moved."""
    for square, piece in (("c4", "B"), ("e1", "K"), ("h1", "R"), ("a1", "R"), ("e5", "p"), ("d8", "q")):
        for held in (1.25, 1.5, 2.0):
            back = 4 + held
            moved = f"{back + 1}:-d2 {back + 1.5}:+P@d3 {back + 2}:b"
            yield Scene(f"touched {square} for {held}", f"1:w 4:-{square} {back}:+{piece}@{square} {moved}", fen=OPEN)
    lifted = "1:w 4:-c4 6:+B@c4 "
    for name, then in {
        "the same": "8:-c4 8.5:+B@b5 9:b",
        "castled": "8:-e1 8.25:-h1 8.5:+K@g1 8.75:+R@f1 9:b",
        "it took": "8:-f3 8.25:-e5 8.5:+N@e5 9:b",
        "a second one": "7:-b1 9:+N@b1 10:-d2 10.5:+P@d3 11:b",
        "no press": "8:-d2 8.5:+P@d3 10:-d7 10.5:+p@d6 11:w",
        "put elsewhere on the way": "7:-c4 7.5:+B@b5 8:-b5 8.5:+B@c4 9:-d2 9.5:+P@d3 10:b",
        "pressed back": "7:b 7.5:w 8:-d2 8.5:+P@d3 9:b",
        "the clocks stopped": "7:0 8:-d2 8.5:+P@d3 9:b",
        "against the rules": "8:-b1 8.5:+N@b3 9:b",
    }.items():
        yield Scene(f"touched, then {name}", lifted + then, fen=OPEN, tail=12)
    yield Scene("touched before the press of the other", "1:b 2:-c4 4:+B@c4 5:-d7 5.5:+p@d6 6:w 8:-d2 8.5:+P@d3 9:b",
                fen=OPEN.replace(" w ", " b "))  # fmt: skip
    for held, taken in product((1.25, 1.5, 2.0), (False, True)):
        then = "8:-c4 8.25:-f7 8.5:+B@f7 9:b" if taken else "8:-d2 8.5:+P@d3 9:b"
        yield Scene(f"touched f7 for {held}, taken {taken}", f"1:w 4:-f7 {4 + held}:+p@f7 {then}", fen=OPEN)


def castlings() -> Iterator[Scene]:
    """King and rook of a castling, in every order and at several paces."""
    wings = {"g1": ("h1", "f1"), "c1": ("a1", "d1"), "g8": ("h8", "f8"), "c8": ("a8", "d8")}
    for target, (rook, beside) in wings.items():
        white = target[1] == "1"
        king, letters, run, other = ("e1", "KR", "w", "b") if white else ("e8", "kr", "b", "w")
        fen = BARE if white else BARE.replace(" w ", " b ")
        for name, (king_up, king_down, rook_up, rook_down) in {
            "king first": (4, 4.5, 5, 5.5),
            "rook first": (5, 5.5, 4, 4.5),
            "rook first, at once": (4.25, 5, 4, 4.25),
            "rook first, just": (4.5, 5, 4, 4.5),
            "rook up first": (4.25, 5, 4, 5.25),
            "both up": (4, 4.75, 4.25, 5),
            "both up for long": (4, 6, 4.5, 5.5),
            "both up in a scan": (4, 4.75, 4.03125, 5),
        }.items():
            acts = sorted([(king_up, f"-{king}"), (king_down, f"+{letters[0]}@{target}"), (rook_up, f"-{rook}"),
                           (rook_down, f"+{letters[1]}@{beside}")])  # fmt: skip
            words = " ".join(f"{at}:{act}" for at, act in acts)
            yield Scene(f"castling to {target}, {name}", f"1:{run} {words} 7:{other}", fen=fen,
                        rules={"enable": ["castling_rook_first", "two_hands"]})  # fmt: skip


def hands() -> Iterator[Scene]:
    """The press comes as the piece comes down, near the clock or far from it."""
    for name, (fen, lift, place, run, other) in {
        "far": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 20", "a1", "R@a7", "w", "b"),
        "half": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 20", "a1", "R@a5", "w", "b"),
        "near": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 20", "a1", "R@a4", "w", "b"),
        "black far": ("r3k3/8/8/8/8/8/8/4K3 b - - 0 20", "a8", "r@a3", "b", "w"),
        "black half": ("r3k3/8/8/8/8/8/8/4K3 b - - 0 20", "a8", "r@a4", "b", "w"),
        "black near": ("r3k3/8/8/8/8/8/8/4K3 b - - 0 20", "a8", "r@a5", "b", "w"),
        "man far": ("W:W26,K50:B1", "26", "w@21", "w", "b"),
        "man near": ("W:W31,K50:B1", "31", "w@26", "w", "b"),
        "man of black far": ("B:WK50:B21,K1", "21", "b@26", "b", "w"),
        "man of black near": ("B:WK50:B16,K1", "16", "b@21", "b", "w"),
    }.items():
        for after in (0.0625, 0.125, 0.25):
            yield Scene(f"press {after} after a piece {name}",
                        f"1:{run} 4:-{lift} 4.5:+{place} {4.5 + after}:{other}", fen=fen,
                        rules={"enable": ["two_hands"]})  # fmt: skip


def takebacks() -> Iterator[Scene]:
    """A move stands for a while, is taken back, and the same or another one comes."""
    after = {
        "nothing": "",
        "another": "{0}:-b1 {1}:+N@c3 {2}:b",
        "the same": "{0}:-d2 {1}:+P@d4 {2}:b",
        "another of it": "{0}:-d2 {1}:+P@d3 {2}:b",
    }
    for stood, (name, words), pressed in product((1.25, 1.5, 3.0), after.items(), (False, True)):
        press, back = ("4.75:b 5:w " if pressed else ""), 4.5 + stood
        then = words.format(back + 2, back + 2.5, back + 3)
        yield Scene(
            f"taken back after {stood}, {'pressed' if pressed else 'not pressed'}, then {name}",
            f"1:w 4:-d2 4.5:+P@d4 {press}{back}:-d4 {back + 0.5}:+P@d2 {then}",
            tail=35 if name == "nothing" else 5,
        )
    for stood in (1.25, 1.5, 3.0):
        yield Scene(f"went on after {stood}", f"1:w 4:-d2 4.5:+P@d3 {4.5 + stood}:-d3 {5 + stood}:+P@d4 {6 + stood}:b")
        yield Scene(f"man taken back after {stood}",
                    f"1:w 4:-32 4.5:+w@28 {4.5 + stood}:-28 {5 + stood}:+w@32 {8 + stood}:-33 {8.5 + stood}:+w@29 "
                    f"{9 + stood}:b", fen=DRAUGHTS)  # fmt: skip
    stands = "1:w 4:-d2 4.5:+P@d4 5:b "
    for name, words in {
        "by the opponent's leave": "8:-d4 8.5:+P@d2 12:-g1 12.5:+N@f3 13:w",
        "with the clocks stopped": "7:0 8:-d4 8.5:+P@d2 12:w 14:-g1 14.5:+N@f3 15:b",
        "two plies": "8:-d7 8.5:+p@d5 9:w 12:-d5 12.5:+p@d7 13:-d4 13.5:+P@d2 16:-e2 16.5:+P@e4 17:b",
    }.items():
        yield Scene(f"taken back {name}", stands + words, tail=20)


def adjustings() -> Iterator[Scene]:
    """Pieces are lifted and put back in the other's time."""
    enable = {"enable": ["adjusting_out_of_turn"]}
    for count, first, step in product((2, 3, 4), (3.0, 3.25), (1.5, 30.0)):
        squares = ("a7p", "b7p", "c7p", "d7p")[:count]
        words = " ".join(
            f"{first + step * n}:-{s[:2]} {first + step * n + 1}:+{s[2]}@{s[:2]}" for n, s in enumerate(squares)
        )
        yield Scene(f"adjusted {count} from {first} every {step}", f"1:w {words}", rules=enable)
    for name, words in {
        "together": "3.5:-a7 3.75:-b7 4:-c7 5:+p@a7 5.25:+p@b7 5.5:+p@c7",
        "touching ends": "3.5:-a7 4.5:+p@a7 4.5:-b7 5.5:+p@b7 5.5:-c7 6.5:+p@c7",
        "of both": "3.5:-a7 4.5:+p@a7 5:-a2 6:+P@a2 6.5:-c7 7.5:+p@c7 8:-d7 9:+p@d7",
        "in the own time": "3.5:-a2 4.5:+P@a2 5:-b2 6:+P@b2 6.5:-c2 7.5:+P@c2",
    }.items():
        yield Scene(f"adjusted {name}", f"1:w {words}", rules=enable)


def readings() -> Iterator[Scene]:
    """What a clock shows is changed: by how much, for whom, and when."""
    for control, regulations in (("5400+30", "fide-standard"), ("900+10", "fide-rapid"), ("300d3", "fide-blitz")):
        base = int(control.partition("+")[0].partition("d")[0])
        for white, black in product((0, 2, 3, 30, 60, 120, -2, -3, -60), (0, 3)):
            after = f"{base - 10 + white},{base + black}"
            name = f"{control}: {white:+d} and {black:+d}"
            yield Scene(f"{name} while it runs", f"0:set={base},{base},w 10:set={after},w",
                        control=control, regulations=regulations)  # fmt: skip
            stops = f"0:set={base},{base},w 10:set={base - 10},{base},0"
            yield Scene(f"{name} while it stands", f"{stops} 14:set={after},0 18:set={after},w",
                        control=control, regulations=regulations)  # fmt: skip
    fault = "0:set=900,900,w 4:-c1 4.5:+B@f4 5:set=905,900,b 8:set=905,897,0 "
    for white, black in ((0, 60), (0, 120), (60, 0), (0, 58), (0, 62), (0, 63), (60, 60), (0, -60)):
        given = f"{905 + white},{897 + black}"
        yield Scene(f"after a fault {white:+d} and {black:+d}",
                    fault + f"12:set={given},0 14:-f4 14.5:+B@c1 18:set={given},w",
                    control="900+10", regulations="fide-rapid")  # fmt: skip
        yield Scene(f"after a fault, minute by minute {white:+d} and {black:+d}",
                    fault + f"12:set={905 + white // 2},{897 + black // 2},0 15:set={905 + white},{897 + black},0 ",
                    control="900+10", regulations="fide-rapid")  # fmt: skip
    for shown in ((900, 900), (903, 900), (902, 902), (910, 900), (910, 910), (960, 960), (600, 900), (0, 0)):
        yield Scene(f"starts at {shown}", f"0:set={shown[0]},{shown[1]},0 3:set={shown[0]},{shown[1]},w",
                    control="900+10", regulations="fide-rapid")  # fmt: skip


SPANISH = "-e2 +P@e4 -e7 +p@e5 -g1 +N@f3 -b8 +n@c6 -f1 +B@b5 -a7 +p@a6 -b5 +B@a4 -g8 +n@f6 -d2 +P@d3 -d7 +p@d6"


def edited() -> Iterator[Scene]:
    """Readings are set in two goes, or seen only now and then."""
    stops = "0:set=900,900,w 10:set=890,900,0 "
    for then, after, running in product((0, 2, 3, 30), (2, 3, 4), ("0", "w")):
        yield Scene(f"set by 30, after {after} by {then}, {running}",
                    stops + f"12:set=920,900,0 {12 + after}:set={890 + then},900,{running}",
                    control="900+10", regulations="fide-rapid")  # fmt: skip
    for gap, more in product((4, 5, 6), (0, 10, 12, 13, 60)):
        yield Scene(f"silent for {gap}, then {more} more",
                    f"0:set=900,900,w 1:set=899,900,w {1 + gap}:set={899 - gap + more},900,w "
                    f"{2 + gap}:set={898 - gap + more},900,w",
                    control="900+10", regulations="fide-rapid", polled=False)  # fmt: skip
        yield Scene(f"silent for {gap}, then {more} more and a press",
                    f"0:set=900,900,w 1:set=899,900,w 1.5:-e2 2:+P@e4 {1 + gap}:set={899 - gap + more},900,b "
                    f"{2 + gap}:set={899 - gap + more},899,b",
                    control="900+10", regulations="fide-rapid", polled=False)  # fmt: skip
    for credit, turns in product((0, 8, 9, 11, 12, 30), (3, 4, 5)):
        words, left, at = ["0:set=900,900,w"], {"w": 900, "b": 900}, 0
        for ply, act in enumerate(SPANISH.split()[: 4 * turns]):
            mover, other = ("w", "b") if ply // 2 % 2 == 0 else ("b", "w")
            at += 2 if ply % 2 == 0 else 1
            words.append(f"{at}:{act}")
            if ply % 2:
                at += 1
                left[mover] += credit - 4
                words.append(f"{at}:set={left['w']},{left['b']},{other}")
        yield Scene(f"{credit} s for {turns} moves each", " ".join(words), control="900+10", regulations="fide-rapid")


def defects() -> Iterator[Scene]:
    """A clock that stands still, runs too fast or too slow, or whose battery is low."""
    for stands in (9, 10, 11, 70, 71):
        for shown in (5400, 5395, 120, 121, 100, 1):
            words = " ".join(f"{at}:set={shown},5400,w" for at in range(stands + 1))
            words = f"0:set={shown},{shown},0 " + words.replace("0:", "0.5:", 1)
            yield Scene(f"stands at {shown} for {stands}", words, tail=1, polled=False)  # fmt: skip
    for presses in (2, 8):
        # A reply before the press, and both presses between two reports: each clock has its increment.
        left, words = [180, 180], ["0:set=180,180,w"]
        for at in range(1, 141):
            left = [left[0] + 2, left[1] + 2] if at % (140 // presses) == 5 else [left[0] - 1, left[1]]
            words.append(f"{at}:set={left[0]},{left[1]},w")
        yield Scene(f"keeps time, pressed twice at once {presses} times", " ".join(words), tail=1, polled=False,
                    control="180+2", regulations="fide-blitz")  # fmt: skip
    for speed in (0.94, 0.96, 0.98, 1.02, 1.03, 1.04):
        words = " ".join(f"{at}:set={5399 - int(at * speed)},5400,w" for at in range(1, 141))
        yield Scene(f"runs at {speed}", "0:set=5399,5400,w " + words, tail=1, polled=False)


COMPLETED = {
    "clean": (OPEN, "4:-d2 4.5:+P@d4"),
    "illegal": (OPEN, "4:-b1 4.5:+N@b3"),
    "illegal capture": (OPEN, "4:-h1 4.25:-g7 4.5:+R@g7"),
    "in check": ("4k3/7p/8/8/4r3/8/4B3/4K3 w - - 0 20", "4:-e2 4.5:+B@d3"),
    "castling half": (OPEN, "4:-e1 4.5:+K@g1"),
    "pawn on the last rank": ("4k3/P6p/8/8/8/8/8/4K3 w - - 0 20", "4:-a7 4.5:+P@a8"),
    "wrong promotion": ("4k3/P6p/8/8/8/8/8/4K3 w - - 0 20", "4:-a7 4.5:+q@a8"),
    "promotion sideways": ("4k3/P6p/8/8/8/8/8/4K3 w - - 0 20", "4:-a7 4.5:+Q@b8"),
    "king promoted": ("4k3/P6p/8/8/8/8/8/4K3 w - - 0 20", "4:-a7 4.5:+K@a8"),
    "two moved": (OPEN, "4:-d2 4.5:+P@d4 5:-b1 5.5:+N@c3"),
    "two of a kind moved": (OPEN, "4:-d2 4.5:+P@d4 5:-a2 5.5:+P@a5"),
    "one gone": (OPEN, "4:-d2 4.5:+P@d4 5:-a2"),
    "one of theirs gone": (OPEN, "4:-d2 4.5:+P@d4 5:-a7"),
    "one too many": (OPEN, "4:-d2 4.5:+P@d4 5:+Q@d3"),
    "theirs moved": (OPEN, "4:-a7 4.5:+p@a5"),
    "theirs moved wrongly": (OPEN, "4:-a7 4.5:+p@b3"),
    "theirs moved besides": (OPEN, "4:-d2 4.5:+P@d4 5:-a7 5.5:+p@a5"),
    "victim beside": ("4k3/7p/8/3p4/4P3/8/8/4K3 w - - 0 20", "4:-e4 4.25:-d5 4.5:+P@d5 5:+p@c5"),
    "en passant half": ("4k3/7p/8/3pP3/8/8/8/4K3 w - d6 0 20", "4:-e5 4.5:+P@d6"),
    "nothing": (OPEN, ""),
    "in the hand": (OPEN, "4:-d2"),
    "displaced": (OPEN, "4:-d2 4.5:+P@d4 5:-a7 5.5:+p@b6 6:-h2 6.5:+P@g5"),
    "kings adjacent": ("8/7p/8/5k2/8/5K2/8/8 w - - 0 20", "4:-f3 4.5:+K@f4"),
    "man: capture ignored": ("W:W32,37:B28,19,2", "4:-37 4.5:+w@31"),
    "man: stopped early": ("W:W32,37:B28,19,2", "4:-32 4.5:+w@23 5:-28"),
    "man: not removed": ("W:W32,37:B28,19,2", "4:-32 4.5:+w@23 5:-23 5.25:+w@14 5.5:-28"),
    "man: one too many removed": ("W:W32,37:B28,19,1,2", "4:-32 4.5:+w@14 5:-28 5.25:-19 5.5:-1"),
    "man: wrong one removed": ("W:W32,37:B28,1,2", "4:-32 4.5:+w@23 5:-1"),
    "man: lesser capture": ("W:W32,36:B28,19,31,2", "4:-36 4.5:+w@27 5:-31"),
    "man: backwards": ("W:W32,37:B1,2", "4:-32 4.5:+w@38"),
    "man: two moved": ("W:W32,37:B1,2", "4:-32 4.5:+w@28 5:-37 5.5:+w@31"),
    "man: uncrowned": ("W:W7,37:B45,2", "4:-7 4.5:+w@1"),
    "man: one gone": ("W:W32,37,48:B1,2", "4:-32 4.5:+w@28 5:-48"),
    "man: theirs moved": ("W:W32,37:B12,13,2", "4:-12 4.5:+b@17"),
    "man: king through": ("W:WK46,37:B28,22,2", "4:-46 4.5:+W@10"),
}
"""What White leaves on the board when he presses: the position before, and what his hands do."""
REPLY = {"e": "{0}:-h7 {1}:+p@h6 {2}:w", "m": "{0}:-2 {1}:+b@8 {2}:w"}
AFTERWARDS = {
    "nobody moves": "",
    "the reply at once": (6.75, 7.0, 7.25),
    "the reply": (9.0, 9.5, 10.0),
    "pressed back": "9:w",
    "the clocks are stopped": "9:0",
    "it is acknowledged": "9:!acknowledge={kind} 12:-h7 12.5:+p@h6 13:w",
    "the link goes": "8:down 12:up",
}


def completed() -> Iterator[Scene]:
    """A turn with something wrong is pressed on, or not; then several things may happen."""
    for (name, (fen, words)), (then, told), regulations in product(
        COMPLETED.items(), AFTERWARDS.items(), ("standard", "rapid")
    ):
        men = name.startswith("man")
        if men and told == AFTERWARDS["it is acknowledged"]:
            continue
        reply = REPLY["m" if men else "e"]
        after = reply.format(*told) if isinstance(told, tuple) else told.format(kind="illegal_move")
        if not name.startswith(("man", "illegal")) and "acknowledge" in after:
            continue
        yield Scene(
            f"{name}, {then}, {regulations}",
            f"1:w {words} 6.5:b {after}",
            fen=fen,
            regulations=f"{'fmjd' if men else 'fide'}-{regulations}",
            tail=12,
        )
    for name, (fen, words) in COMPLETED.items():
        yield Scene(f"{name}, not pressed", f"1:w {words}", fen=fen, tail=35)
        yield Scene(f"{name}, no clock", words or "1:-a1 1.5:+R@a1", fen=fen, tail=35)
        yield Scene(f"{name}, pressed, no pieces known", f"1:w {words} 6.5:b", fen=fen, tail=12, senses="occupancy")


def mirrored(scene: Scene) -> Scene:
    """The same with the colours changed: what is told of White must then be told of Black."""
    words = " ".join(_mirrored(word) for word in scene.words.split())
    fen = scene.fen
    if scene.game == "draughts":
        turn, *sides = fen.split(":")
        men = {side[0]: ",".join(re.sub(r"\d+", _turned, man) for man in side[1:].split(",")) for side in sides}
        fen = f"{'B' if turn == 'W' else 'W'}:W{men['B']}:B{men['W']}"
    else:
        fen = chess.Board(fen).mirror().fen()
    return replace(scene, name=f"{scene.name}, mirrored", words=words, fen=fen)


def _mirrored(word: str) -> str:
    at, _, what = word.partition(":")
    if what in ("w", "b"):
        return f"{at}:{'b' if what == 'w' else 'w'}"
    piece, _, square = what[1:].rpartition("@")
    if square.isdigit():
        other = {"w": "b", "b": "w", "W": "B", "B": "W", "": ""}[piece]
        square = _turned(re.match(r"\d+", square))
    else:
        other, square = piece.swapcase(), square[0] + str(9 - int(square[1]))
    return f"{at}:{what[0]}{other}{'@' if piece else ''}{square}"


def _turned(number: re.Match[str] | None) -> str:
    assert number is not None
    return str(51 - int(number[0]))


def of_black() -> Iterator[Scene]:
    """Turns with something wrong, made by Black."""
    for scene in completed():
        if scene.name.endswith((", nobody moves, standard", ", the reply, rapid", ", not pressed")):
            yield mirrored(scene)


def lost_before() -> Iterator[Scene]:
    """Something is wrong with a turn, and a report of White's turn before had been lost."""
    words = ["4:-d2", "4.5:+P@d4", "5:b", "7:-d7", "7.5:+p@d6", "8:w"]
    faults = {
        "nothing": "10:-b1 10.5:+N@c3",
        "against the rules": "10:-b1 10.5:+N@b3",
        "two moved": "10:-b1 10.5:+N@c3 11:-a2 11.5:+P@a3",
        "one gone": "10:-b1 10.5:+N@c3 11:-a2",
        "one of theirs gone": "10:-b1 10.5:+N@c3 11:-a7",
        "one too many": "10:-b1 10.5:+N@c3 11:+Q@d3",
        "theirs moved": "10:-a7 10.5:+p@a5",
        "theirs put wrongly": "10:-a7 10.5:+p@b3",
        "castling half": "10:-e1 10.5:+K@g1",
        "the same piece back": "10:-d4 10.5:+P@d2",
        "nothing moved": "",
    }
    for (name, text), number in product(faults.items(), (0, 1, 3, 4)):
        left = " ".join([*words[:number], *words[number + 1 :]])
        yield Scene(f"{words[number]} lost, then {name}", f"1:w {left} {text} 12:b 15:-h7 15.5:+p@h6 16:w", fen=OPEN,
                    tail=12)  # fmt: skip


PLAYED = {
    "quiet": (OPEN, "4:-d2 4.5:+P@d4 5:b 7:-d7 7.5:+p@d6 8:w 10:-b1 10.5:+N@c3 11:b 13:-h7 13.5:+p@h6 14:w"),
    "taking": (OPEN, "4:-c4 4.25:-f7 4.5:+B@f7 5:b 7:-e8 7.25:-f7 7.5:+k@f7 8:w 10:-f3 10.25:-e5 10.5:+N@e5 11:b "
               "13:-c6 13.25:-e5 13.5:+n@e5 14:w"),
    "castling": (OPEN, "4:-e1 4.5:+K@g1 4.75:-h1 5:+R@f1 5.5:b 7:-d7 7.5:+p@d6 8:w 10:-d2 10.5:+P@d3 11:b"),
    "of Black": (OPEN_BLACK, "4:-e8 4.5:+k@g8 4.75:-h8 5:+r@f8 5.5:w 7:-d2 7.5:+P@d3 8:b 10:-d7 10.5:+p@d6 11:w"),
    "men": ("W:W32,37,41,42:B19,9,14,10", "4:-32 4.5:+w@28 5:b 7:-19 7.5:+b@23 8:w 10:-28 10.5:+w@19 11:-23 11.25:b "
            "13:-14 13.5:+b@23 14:-19 14.25:w"),
}  # fmt: skip


def lost() -> Iterator[Scene]:
    """One report of the board is lost, or comes late."""
    for name, (fen, text) in PLAYED.items():
        words = text.split()
        for number, word in enumerate(words):
            at, _, what = word.partition(":")
            if what in ("w", "b"):
                continue
            left = " ".join(["1:" + _first(fen), *words[:number], *words[number + 1 :]])
            yield Scene(f"{name}: {word} is lost", left, fen=fen, tail=15)
            late = sorted([*words[:number], f"{float(at) + 1.25}:{what}", *words[number + 1 :]], key=_moment)
            yield Scene(f"{name}: {word} comes late", " ".join(["1:" + _first(fen), *late]), fen=fen, tail=15)


def _moment(word: str) -> float:
    return float(word.partition(":")[0])


def _first(fen: str) -> str:
    return "b" if " b " in fen else "w"


def interrupted() -> Iterator[Scene]:
    """A game is suspended and resumed: what was sealed, what the clock shows then, what stands."""
    plies = "1:w 4:-d2 4.5:+P@d4 5:b 7:0 8:!suspend=reason~adjournment{} 10:!resume "
    for sealed, made in product(("", ",sealed_move~d7d6", ",sealed_move~e5e3"), ("", "d6", "d5", "e4")):
        origin = {"": "", "d6": "d7", "d5": "d7", "e4": "e5"}[made]
        reply = f"14:-{origin} 14.5:+p@{made} 15:w" if made else ""
        yield Scene(
            f"resumed{sealed}, then {made or 'nothing'}", plies.format(sealed) + f"12:b {reply}", fen=OPEN, tail=12
        )
    for white, black in product((0, 2, 3, 4), (0, -2, -3, -4)):
        yield Scene(f"resumed with {white:+d} and {black:+d}",
                    plies.format("") + f"12:set={5426 + white},{5398 + black},b", fen=OPEN, tail=12)  # fmt: skip
    for name, words in {
        "another position": "9:-g1 9.5:+N@e2 12:b",
        "a piece in the hand": "9:-d7 12:b 13:+p@d6 14:w",
        "the sealed move made before": "9:-d7 9.5:+p@d6 12:w",
        "the other clock": "12:w",
        "a press back": "12:w 13:b",
    }.items():
        yield Scene(f"resumed over {name}", plies.format(",sealed_move~d7d6") + words, fen=OPEN, tail=20)
    stands = "r1bqkbnr/pppp1ppp/2n5/4p3/2BPP3/5N2/PPP2PPP/RNBQK2R"
    for name, board in {
        "the same": stands,
        "one piece less": stands.replace("PPP2PPP", "PPP2PP1"),
        "one piece more": stands.replace("5N2", "5N1Q"),
        "one piece elsewhere": stands.replace("5N2", "4N3"),
        "another ply": stands.replace("/pppp1ppp/2n5/", "/pppp1pp1/2n4p/"),
        "two plies": stands.replace("/pppp1ppp/2n5/", "/pppp1pp1/2n4p/").replace("RNBQK2R", "RNBQ1RK1"),
    }.items():
        for away in (2, 30):
            yield Scene(f"away for {away}, then {name}",
                        f"1:w 4:-d2 4.5:+P@d4 5:b 8:down {8 + away}:up {8.25 + away}:board={board}", fen=OPEN,
                        tail=40)  # fmt: skip


GRIDS = [
    *lost(), *interrupted(),
    *edited(),
    *of_black(),
    *lost_before(),
    *touches(), *castlings(), *hands(), *takebacks(), *adjustings(), *readings(), *defects(), *completed(),
]  # fmt: skip
