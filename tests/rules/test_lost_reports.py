"""A report that was lost is no fault of a player's."""

from __future__ import annotations

import pytest
from script import Script

LOST = {
    "the lift": "0.1:w 4:+P@e4 5.3:b 8:-e7 8.7:+p@e5 9.3:w",
    "the lift, the opponent thinks": "0.1:w 4:+P@e4 5.3:b",
    "the landing": "0.1:w 4:-e2 5.3:b 8:-e7 8.7:+p@e5 9.3:w",
    "the lift after a hesitation": "0.1:w 4:-g1 4.5:+N@h3 5:+N@f3 5.6:b 9:-e7 9.7:+p@e5 10.3:w",
    "the lift of the captor": "0.1:w 4:-e2 4.5:+P@e4 5:b 8:-d7 8.5:+p@d5 9:w 12:-d5 12.1:+P@d5 13:b",
    "the lift for a reply before the press": "0.1:w 4:-e2 4.7:+P@e4 5:+p@e5 5.4:b 6.6:w",
    "the lift, and the next move begins": "0.1:w 4:+N@f3 5.3:b 6:-b8 6.6:+n@c6 7.2:w 9:-b1 9.7:+N@c3 10.3:b",
}


@pytest.mark.parametrize("words", LOST.values(), ids=LOST.keys())
def test_nobody_is_accused(words: str) -> None:
    assert [] == [alert.message for _, alert in Script(words=words, tail=12).alerts() if alert.severity != "info"]


def test_what_was_put_there_is_told() -> None:
    """A second queen that stood on no square before, on a square that did report it."""
    words = "0.1:w 4:-e2 4.5:+P@e4 5:b 7:+Q@h5"

    assert ["extra_piece"] == [alert.irregularity for _, alert in Script(words=words, tail=25).alerts()]


def test_what_was_different_before_the_turn_is_not_its_players_doing() -> None:
    """White's illegal move is one piece, though a pawn of his has been standing askew for a while."""
    words = "0.1:w 3:-a2 3.3:+P@a3 3.6:-e2 4.1:+P@e4 5:b 8:-e7 8.7:+p@e5 9.3:w 14:-c1 14.6:+B@c5 15.2:b"
    kinds = [alert.irregularity for _, alert in Script(words=words, tail=5).alerts()]

    assert "illegal_move" in kinds
    assert kinds.count("two_pieces_moved") <= 1
