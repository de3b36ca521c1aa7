"""Cost per DGT frame: our decoder against the least that could be written by hand with `struct`, in the same run.

python benchmarks/decode.py [frames]
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable

from gateway.events import ClockTimes
from gateway.protocol.dgt import CHESS, Dgt, build_board_dump, build_clock_times, build_field_update

START = dict(zip(CHESS.squares, "rnbqkbnrpppppppp" + "." * 32 + "PPPPPPPPRNBQKBNR", strict=True))
FRAMES = {
    "field update": build_field_update("e4", "P"),
    "clock times": build_clock_times(ClockTimes(5399, 5400, "left")),
    "board dump": build_board_dump({square: piece for square, piece in START.items() if piece != "."}),
}


def by_hand(data: bytes) -> list[object]:
    """No check, no state, no refusals: what any decoder must at least do."""
    said: list[object] = []
    at = 0
    while at < len(data):
        id_, high, low = struct.unpack_from("BBB", data, at)
        size = high << 7 | low
        body = data[at + 3 : at + size]
        at += size
        if id_ == 0x8E:
            field, code = struct.unpack("BB", body)
            said.append((CHESS.squares[field], CHESS.pieces[code & 15]))
        elif id_ == 0x8D:
            rh, rm, rs, lh, lm, ls, status = struct.unpack("7B", body)
            right = (rh & 15) * 3600 + ((rm >> 4) * 10 + (rm & 15)) * 60 + (rs >> 4) * 10 + (rs & 15)
            left = (lh & 15) * 3600 + ((lm >> 4) * 10 + (lm & 15)) * 60 + (ls >> 4) * 10 + (ls & 15)
            said.append((left, right, status & 3))
        elif id_ == 0x86:
            said.append({CHESS.squares[i]: CHESS.pieces[code] for i, code in enumerate(body) if code})
    return said


def microseconds(decode: Callable[[bytes], object], chunk: bytes, frames: int) -> float:
    """Best of five, per call."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(frames):
            decode(chunk)
        best = min(best, time.perf_counter() - start)
    return best / frames * 1e6


def main(frames: int = 20000) -> None:
    """Print a table."""
    print(f"{'one frame per chunk':<22}{'decoder':>10}{'by hand':>10}{'ratio':>8}")
    for name, frame in FRAMES.items():
        decoder = Dgt()
        ours = microseconds(lambda data, decoder=decoder: decoder.feed(data, 0.0), frame, frames)  # type: ignore[misc]
        theirs = microseconds(by_hand, frame, frames)
        print(f"{name:<22}{ours:>7.1f} us{theirs:>7.1f} us{ours / theirs:>8.1f}")
    decoder = Dgt()
    update = FRAMES["field update"]
    each = microseconds(lambda data: [decoder.feed(data[i : i + 1], 0.0) for i in range(5)], update, frames)
    print(f"{'update, byte by byte':<22}{each:>7.1f} us")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
