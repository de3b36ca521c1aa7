"""What the proof that a side can still mate costs, and how often it is found: random endings and middle games.

python -m benchmarks.winnable               20,000 positions at most for each proof
python -m benchmarks.winnable --nodes 4000  as after a flag
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter

import chess

from gateway.winnable import NODES, can_mate

ENDINGS = [
    "KPvK", "KRvK", "KNvKR", "KNvKP", "KNvKB", "KNvKN", "KNNvK", "KBvKN", "KBvKB", "KBvKP", "KQvKQ", "KRvKR", "KBNvKQ",
    "KPPvKPP", "KNvKRP", "KBvKRP", "KNvKBP",
]  # fmt: skip
EACH = 12
GAMES = 40


def ending(material: str, rng: random.Random) -> chess.Board:
    """A legal position with this material, White's first."""
    while True:
        white, black = material.split("v")
        board = chess.Board(None)
        squares = rng.sample(range(64), len(white) + len(black))
        for letter, square in zip(white + black.lower(), squares, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = rng.random() < 0.5
        if board.is_valid() and any(board.generate_legal_moves()):
            return board


def middle_game(plies: int, rng: random.Random) -> chess.Board:
    """A game of random moves, as far as it goes."""
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
    return board


def main() -> None:
    """Print one row for each kind of position."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    kinds = {name: [ending(name, rng) for _ in range(EACH)] for name in ENDINGS}
    kinds["middle games"] = [middle_game(20 + 3 * number, rng) for number in range(GAMES)]
    print(f"{'position':<14}{'can':>6}{'cannot':>8}{'open':>6}{'mean ms':>10}{'worst ms':>10}")
    for name, boards in kinds.items():
        answers: Counter[str] = Counter()
        times = []
        for board in boards:
            begin = time.process_time()
            answers[can_mate(board, chess.WHITE, arguments.nodes).answer.value] += 1
            times.append(1000 * (time.process_time() - begin))
        row = f"{answers['possible']:>6}{answers['impossible']:>8}{answers['unknown']:>6}"
        print(f"{name:<14}{row}{sum(times) / len(times):>10.1f}{max(times):>10.1f}")


if __name__ == "__main__":
    main()
