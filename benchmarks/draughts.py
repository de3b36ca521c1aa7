"""What the move generator of draughts costs in processor time: `python benchmarks/draughts.py`."""

from __future__ import annotations

import random
import time

from gateway.draughts import Position, perft

GAMES = 200
HARDEST = Position.from_fen("W:WK38:B7,10,12,14,18,19,21,28,29,30,31,32,40,41,42,43")
"""1,723 states of capture for one king: the most that a hill climb over positions with a king found."""


def _positions() -> list[Position]:
    """Positions of random games, most of them with captures of one or two pieces."""
    rng = random.Random(1)
    positions = []
    for _ in range(GAMES):
        position = Position.start()
        while len(positions) < 20_000 and (plies := position.legal_plies()):
            positions.append(position)
            position = position.after(rng.choice(plies))
            if not position.white_men | position.black_men:
                break
    return positions


def main() -> None:
    positions = _positions()
    plies = [position.legal_plies() for position in positions]

    start = time.process_time()
    for position in positions:
        position.legal_plies()
    each = (time.process_time() - start) / len(positions)
    print(f"legal_plies      {each * 1e6:8.2f} us   mean of {len(positions)} positions of random games")

    start = time.process_time()
    for position, choices in zip(positions, plies, strict=True):
        for ply in choices:
            position.after(ply)
    each = (time.process_time() - start) / sum(map(len, plies))
    print(f"after            {each * 1e6:8.2f} us")

    start = time.process_time()
    HARDEST.legal_plies()
    print(f"hardest position {(time.process_time() - start) * 1e6:8.0f} us")

    start = time.process_time()
    leaves = perft(Position.start(), 6)
    took = time.process_time() - start
    print(f"perft(6)         {took:8.2f} s    {leaves} leaves, {leaves / took / 1e6:.2f} million a second")


if __name__ == "__main__":
    main()
