"""Innocent play, one row for each guard of the kinds about moves, pieces, presses and touches.

Kind, guard in a few words, and a script (see `script.py`) during which the kind must not be raised.
"""

from __future__ import annotations

from script import START, Script

from gateway.draughts import Position

CASTLE = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
PROMOTE = "7k/4P3/8/8/8/8/8/K7 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
CHECKED = "4r1k1/5ppp/8/8/8/8/5PPP/4K3 w - - 0 1"
TAKE = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
MEN = Position.start().fen()
TWO = "W:W32:B28,19,1"
LAST = "W:W7:B30"
E4 = "0.1:w 4:-e2 4.7:+P@e4 5.3:b "


def chess(words: str, fen: str = START, **rest: object) -> Script:
    """A game of chess under the standard rules, unless told otherwise."""
    return Script(fen, words, **rest)  # type: ignore[arg-type]


def men(words: str, fen: str = MEN, **rest: object) -> Script:
    """A game of draughts under the standard rules, unless told otherwise."""
    return Script(fen, words, **{"regulations": "fmjd-standard", **rest})  # type: ignore[arg-type]


INNOCENT: list[tuple[str, str, Script]] = [
    # illegal moves
    ("illegal_move", "nothing before the press", chess("0.1:w 4:-g1 4.7:+N@g3", tail=15)),
    ("illegal_move", "sliding through squares", chess("0.1:w 3:-f1 3.1:+B@d3 3.2:-d3 3.3:+B@f1 5:-e2 5.5:+P@e4 6:b")),
    ("illegal_move", "captured piece taken off afterwards", chess("0.1:w 4:-e5 4.7:+P@d6 8:-d5 8.5:b", EN_PASSANT)),
    ("illegal_move", "put back before the press", chess("0.1:w 4:-c1 4.7:+B@f4 7:-f4 7.5:+B@c1 9:-e2 9.6:+P@e4 10:b")),
    ("illegal_move", "adjusting", chess("0.1:w 4:-c1 4.7:+B@c1 9:-e2 9.6:+P@e4 10:b")),
    ("illegal_move", "kings in the centre, clocks stopped", chess("0.1:w 3:0 4:-e1 4.5:+K@e4 5:-e8 5.6:+k@d5", tail=8)),
    ("illegal_move", "a sensor that loses a piece", chess("0.1:w 4:-a2 4.2:+P@a2 5:-e2 5.6:+P@e4 6:b")),
    (
        "second_illegal_move",
        "the first was not ruled on",
        chess("0.1:w 4:-c1 4.7:+B@f4 5.3:b 8:-f4 8.5:+B@c1 12:w 14:-c1 14.7:+B@f4 15.3:b"),
    ),
    (
        "second_illegal_move",
        "by the other player",
        chess(
            "0.1:w 4:-c1 4.7:+B@f4 5.3:b 7:!acknowledge=illegal_move 8:-f4 8.5:+B@c1 12:w 14:-e2 14.7:+P@e4 15.3:b "
            "18:-c8 18.6:+b@f5 19:w"
        ),
    ),
    (
        "illegal_move_accepted",
        "pieces put back are no reply",
        men("0.1:w 5:-36 5.7:+w@31 6.3:b 9:-31 9.6:+w@36", "W:W32,36:B28,1"),
    ),
    (
        "illegal_move_accepted",
        "clocks stopped",
        men("0.1:w 5:-36 5.7:+w@31 6.3:b 9:0 12:-1 12.6:+b@7", "W:W32,36:B28,1"),
    ),
    # named faults of chess
    (
        "king_left_in_check",
        "seen before the press",
        chess("0.1:w 4:-g2 4.7:+P@g3 6:-g3 6.6:+P@g2 8:-e1 8.6:+K@d1 9:b", CHECKED),
    ),
    ("king_left_in_check", "castling half way", chess("0.1:w 4:-e1 4.6:+K@g1 9:-h1 9.6:+R@f1 10:b", CASTLE)),
    ("king_left_in_check", "promotion half way", chess("0.1:w 4:-e7 4.6:+P@e8 9:-e8 9.6:+Q@e8 10:b", PROMOTE)),
    ("both_kings_in_check", "kings on the centre squares", chess("0.1:w 3:0 4:-e1 4.5:+K@e4 5:-e8 5.6:+k@d5", tail=8)),
    ("king_captured", "clocks stopped for long", chess("0.1:w 3:0 12:-e1 12.5:-e8 13:+r@e1", CHECKED, tail=5)),
    ("king_captured", "king lifted for castling", chess("0.1:w 4:-e1 8:+K@g1 9:-h1 9.6:+R@f1 10:b", CASTLE)),
    ("king_captured", "king knocked over and set up", chess("0.1:w 4:-e1 6:+K@e1 8:-g2 8.6:+P@g3", CHECKED)),
    ("unpromoted_pawn", "fetching a queen", chess("0.1:w 4:-e7 4.7:+P@e8", PROMOTE, tail=40)),
    ("unpromoted_pawn", "both clocks stopped for a piece", chess("0.1:w 4:-e7 4.7:+P@e8 6:0", PROMOTE, tail=9)),
    ("unpromoted_pawn", "queen put down without the pawn", chess("0.1:w 4:-e7 6:+Q@e8 6.6:b", PROMOTE)),
    ("unpromoted_pawn", "pawn reported for a moment", chess("0.1:w 4:-e7 4.6:+P@e8 5.2:b 5.4:+Q@e8", PROMOTE)),
    ("promotion_piece_wrong", "exchange still going on", chess("0.1:w 4:-e7 4.6:+q@e8 7:-e8 7.6:+Q@e8 8:b", PROMOTE)),
    ("castling_incomplete", "any pause on the own clock", chess("0.1:w 4:-e1 4.6:+K@g1", CASTLE, tail=30)),
    (
        "castling_incomplete",
        "rook moved just after the press",
        chess("0.1:w 4:-e1 4.6:+K@g1 5.2:b 5.5:-h1 6:+R@f1", CASTLE),
    ),
    (
        "castling_rook_first",
        "lifts closer than half a second",
        chess("0.1:w 4:-h1 4.2:-e1 4.8:+K@g1 5.2:+R@f1 6:b", CASTLE, enable=("castling_rook_first",)),
    ),
    (
        "castling_rook_first",
        "both in the air",
        chess("0.1:w 4:-h1 5:-e1 5.6:+K@g1 6:+R@f1 7:b", CASTLE, enable=("castling_rook_first",)),
    ),
    ("captured_piece_not_removed", "any order before the press", chess("0.1:w 4:-e5 4.7:+P@d6", EN_PASSANT, tail=15)),
    (
        "captured_piece_not_removed",
        "removed just after the press",
        chess("0.1:w 4:-e5 4.7:+P@d6 5.3:b 6.3:-d5", EN_PASSANT),
    ),
    # turns
    ("moved_out_of_turn", "a pair of legal moves", chess(E4 + "8:-e7 8.1:-d2 8.5:+p@e5 8.6:+P@d4 9:w 9.6:b")),
    (
        "moved_out_of_turn",
        "another move before the press",
        chess("0.1:w 4:-d2 4.6:+P@d4 5.6:-d4 6:+P@d2 7:-c2 7.6:+P@c4", tail=8),
    ),
    (
        "moved_out_of_turn",
        "no press between two moves of one side",
        chess("0.1:w 4:-d2 4.6:+P@d4 5.6:-c2 6.2:+P@c4", tail=8),
    ),
    ("two_pieces_moved", "castling with a pause", chess("0.1:w 4:-e1 4.6:+K@g1 12:-h1 12.6:+R@f1 13:b", CASTLE)),
    (
        "two_pieces_moved",
        "one is back at the press",
        chess("0.1:w 4:-e2 4.6:+P@e4 5:-d2 5.4:+P@d3 6:-d3 6.4:+P@d2 7:b"),
    ),
    ("two_pieces_moved", "both sides moved", chess("0.1:w 4:-e2 4.5:+P@e4 4.9:-e7 5.4:+p@e5 6:b 7:w")),
    ("opponent_piece_moved", "nudged and put back", chess("0.1:w 4:-a7 4.5:+p@b6 7:-b6 7.5:+p@a7", tail=8)),
    ("opponent_piece_moved", "arbiter with clocks stopped", chess("0.1:w 4:0 6:-a7 6.5:+p@b6", tail=15)),
    # pieces
    ("displaced_piece", "a piece in the hand", chess("0.1:w 4:-g1", tail=60)),
    ("displaced_piece", "back within the debounce", chess("0.1:w 4:-a7 4.4:+p@b5 9:-b5 9.4:+p@a7", tail=12)),
    ("displaced_piece", "flicker", chess("0.1:w 3:-a7 3.2:+p@a7 6:-a7 6.2:+p@a7 9:-a7 9.2:+p@a7 12:-a7", tail=40)),
    ("displaced_piece", "arbiter with clocks stopped", chess("0.1:w 4:0 6:-a7 6.5:+p@c3 7:-b2 7.4:+P@h5", tail=30)),
    ("displaced_piece", "after the game", chess("0.1:w 4:!suspend 6:-a7 6.5:+p@c3 7:-b2 7.4:+P@h5", tail=30)),
    ("displaced_piece", "no clock: half a minute", chess("6:-a7 6.5:+p@c3 7:-b2 7.4:+P@h5", clock=False, tail=20)),
    ("piece_removed_without_capture", "in the hand while he thinks", chess("0.1:w 4:-g1", tail=60)),
    ("piece_removed_without_capture", "capturable piece in the hand", chess("0.1:w 4:-d5", TAKE, tail=60)),
    ("piece_removed_without_capture", "own piece in the hand at the press", chess("0.1:w 4:-g1 5:b 8:+N@f3")),
    ("piece_removed_without_capture", "clocks stopped", chess("0.1:w 4:0 6:-a8", tail=60)),
    (
        "piece_removed_without_capture",
        "weak chip",
        chess("0.1:w 1:-a7 1.2:+p@a7 2:-a7 2.2:+p@a7 3:-a7 3.2:+p@a7 4:-e2 4.6:+P@e4 5:-a7 6:b", tail=8),
    ),
    ("piece_removed_without_capture", "king laid down and put up", chess("0.1:w 4:-e1 9:+K@e1", tail=20)),
    (
        "piece_removed_without_capture",
        "the reply is in the hand",
        chess("0.1:w 4:-e2 4.6:+P@e4 4.9:-e7 5.3:b 7.4:+p@e5 8:w"),
    ),
    (
        "piece_removed_without_capture",
        "captured men being collected",
        men("0.1:w 5:-32 5.7:+w@23 6.5:-23 7.2:+w@14 8.2:-28", TWO, tail=60),
    ),
    ("extra_piece", "the new piece before the pawn is off", chess("0.1:w 4:+Q@e8", PROMOTE, tail=40)),
    (
        "extra_piece",
        "captured man on a light square",
        men("0.1:w 5:-32 5.7:+w@23 6.2:-28 6.5:+b@a10 7:b", "W:W32:B28,1", tail=8),
    ),
    # touches
    ("move_taken_back", "sliding", chess("0.1:w 4:-e2 4.2:+P@e3 4.4:-e3 4.6:+P@e4 5:b")),
    (
        "move_taken_back",
        "settled for less than 1.5 s",
        chess("0.1:w 4:-d2 4.6:+P@d4 5.5:-d4 6:+P@d2 7:-c2 7.6:+P@c4 8:b"),
    ),
    ("move_taken_back", "clocks stopped", chess(E4 + "9:0 12:-e4 12.6:+P@e2", tail=8)),
    ("move_taken_back", "the move was illegal", chess("0.1:w 4:-c1 4.7:+B@f4 7:-f4 7.5:+B@c1 9:-e2 9.6:+P@e4 10:b")),
    ("touch_move", "a short lift", chess("0.1:w 2:-g1 3:+N@g1 5:-e2 5.6:+P@e4 6:b")),
    ("touch_move", "several pieces in turn", chess("0.1:w 2:-g1 4:+N@g1 5:-b1 7:+N@b1 8:-e2 8.6:+P@e4 9:b")),
    ("touch_move", "a piece without a move", chess("0.1:w 2:-d1 5:+Q@d1 8:-e2 8.6:+P@e4 9:b")),
    (
        "touch_move",
        "king and rook of a castling",
        chess("0.1:w 2:-h1 5:+R@h1 6:-e1 6.5:+K@g1 7:-h1 7.5:+R@f1 8:b", CASTLE),
    ),
    ("touch_move", "stood elsewhere in between", chess("0.1:w 2:-g1 2.5:+N@f3 5:-f3 5.5:+N@g1 8:-e2 8.6:+P@e4 9:b")),
    (
        "touch_move",
        "no move where a capture is compulsory",
        men("0.1:w 2:-36 5:+w@36 8:-32 8.6:+w@23 9:-28 10:b", "W:W32,36:B28,1"),
    ),
    (
        "adjusting_out_of_turn",
        "the player on move",
        chess(
            "0.1:w 2:-b1 2.5:+N@b1 4:-g1 4.5:+N@g1 6:-d1 6.5:+Q@d1 8:-e1 8.5:+K@e1", enable=("adjusting_out_of_turn",)
        ),
    ),
    (
        "adjusting_out_of_turn",
        "just after the press",
        chess(E4 + "5.6:-e4 6:+P@e4 6.2:-e4 6.5:+P@e4 6.7:-e4 7:+P@e4", enable=("adjusting_out_of_turn",)),
    ),
    (
        "adjusting_out_of_turn",
        "knocked pieces",
        chess("0.1:w 4:-b8 4.1:-c8 4.2:-d8 5:+n@b8 6:+b@c8 7:+q@d8", enable=("adjusting_out_of_turn",)),
    ),
    (
        "two_hands",
        "capturing and captured in one hand",
        chess("0.1:w 4:-d5 4.3:-e4 5:+P@d5 5.6:b", TAKE, enable=("two_hands",)),
    ),
    (
        "two_hands",
        "both lifts in one scan",
        chess("0.1:w 4:-h1 4:-e1 4.8:+K@g1 5.2:+R@f1 6:b", CASTLE, enable=("two_hands",)),
    ),
    # draughts
    ("capture_ignored", "before the press", men("0.1:w 5:-36 5.7:+w@31", "W:W32,36:B28,1", tail=12)),
    ("capture_ignored", "captured man lifted first", men("0.1:w 5:-28 8:-32 8.6:+w@23 9.2:b", "W:W32,36:B28,1")),
    (
        "majority_capture_violation",
        "men still to be lifted",
        men("0.1:w 5:-32 5.6:+w@23 6:-23 6.6:+w@14", TWO, tail=15),
    ),
    ("majority_capture_violation", "equal numbers", men("0.1:w 5:-32 5.6:+w@23 6:-28 6.6:b", "W:WK46,32:B28,41,1")),
    ("capture_stopped_early", "resting on a landing square", men("0.1:w 5:-32 5.7:+w@23", TWO, tail=15)),
    (
        "captured_men_not_removed",
        "no hurry on the own clock",
        men("0.1:w 5:-32 5.7:+w@23 6.5:-23 7.2:+w@14", TWO, tail=40),
    ),
    (
        "captured_men_not_removed",
        "last man lifted after the press",
        men("0.1:w 5:-32 5.7:+w@23 6.5:-23 7.2:+w@14 7.8:-28 8.4:b 9.4:-19", TWO),
    ),
    (
        "wrong_men_removed",
        "the opponent is replying",
        men("0.1:w 5:-32 5.7:+w@23 6.2:-28 6.6:-1 7:b 8.2:+b@7 9:w", "W:W32:B28,1,40"),
    ),
    (
        "captures_lifted_early",
        "man takes one man",
        men("0.1:w 5:-28 5.8:-32 6.5:+w@23 7.1:b", "W:W32,47:B28,1", enable=("captures_lifted_early",)),
    ),
    (
        "capture_not_shown_clearly",
        "shown and cleared in order",
        men(
            "0.1:w 4:-47 4.5:+w@36 4.8:-36 5.3:+w@27 5.6:-27 6:+w@18 6.5:-41 7:-31 7.5:-22 8:b",
            "W:W47:B41,31,22,1",
            enable=("capture_not_shown_clearly",),
        ),
    ),
    (
        "uncrowned_man",
        "the opponent crowns it",
        men("0.1:w 4:-7 4.6:+w@1 5.2:b 8:-1 9:+W@1 13:-30 13.6:+b@35 14:w", LAST),
    ),
    (
        "uncrowned_man",
        "a board that sees no crown",
        men("0.1:w 4:-7 4.6:+w@1 5.2:b 9:-30 9.6:+b@35 10:w", LAST, senses=False, tail=15),
    ),
    (
        "uncrowned_man",
        "passing the row in a capture",
        men("0.1:w 4:-13 4.6:+w@2 5.2:-2 5.8:+w@11 6.2:-8 6.6:-7 7.2:b", "W:W13:B8,7,40", tail=15),
    ),
    (
        "uncrowned_king_played",
        "crowned in the same turn",
        men("0.1:w 4:-7 4.6:+w@1 5.2:b 9:-30 9.6:+b@35 10:w 14:-1 14.5:+W@23 15:b", LAST),
    ),
    ("wrongly_crowned", "waits for the press", men("0.1:w 4:-32 5:+W@32", MEN, tail=15)),
    (
        "piece_on_inactive_square",
        "captured man parked",
        men("0.1:w 5:-28 5.5:+b@a10 6:-32 6.6:+w@23", "W:W32:B28,1", tail=15),
    ),
    # presses
    ("clock_pressed_without_move", "the first press starts White's clock", chess("0.1:b 3:w", tail=6)),
    ("clock_pressed_without_move", "pressed back within 2 s", chess("0.1:w 5:b 6.5:w", tail=6)),
    ("clock_pressed_without_move", "stopped just before", chess("0.1:w 5:0 7:w 8:b", tail=6)),
    ("clock_pressed_without_move", "stopped just after", chess("0.1:w 8:b 9:0", tail=6)),
    ("clock_pressed_without_move", "the board's link is down", chess("0.1:w 6:down 8:b", tail=6)),
    ("clock_pressed_without_move", "a change just before", chess("0.1:w 7:-g1 7.4:+N@g1 8:b", tail=6)),
    (
        "clock_pressed_without_move",
        "the press that was owed",
        chess("0.1:w 4:-e2 4.7:+P@e4 5.2:-e7 5.9:+p@e5 8:b 12:w", tail=6),
    ),
    (
        "clock_pressed_before_move_completed",
        "captured piece in the hand",
        chess("0.1:w 4:-e4 4.4:-d5 5:+P@d5 5.6:b 8:-a7 8.6:+p@a6", TAKE),
    ),
    (
        "clock_pressed_before_move_completed",
        "straightening the piece",
        chess("0.1:w 4:-e2 4.5:+P@e4 5.3:-e4 5.6:b 6.2:+P@e4"),
    ),
    ("clock_pressed_before_move_completed", "board slower than its clock", chess("0.1:w 4:-e2 4.8:b 5:+P@e4")),
    (
        "clock_pressed_before_move_completed",
        "crowning after the press",
        men("0.1:w 4:-7 4.6:+w@1 5.2:b 8:-1 9:+W@1", LAST),
    ),
    ("move_without_clock_press", "the opponent replied", chess("0.1:w 4:-e2 4.7:+P@e4 8:-e7 8.6:+p@e5 9:b", tail=25)),
    ("move_without_clock_press", "no clock", chess("4:-e2 4.7:+P@e4", clock=False, tail=60)),
    ("wrong_clock_running", "draughts before the first move", men("0.1:b", tail=40)),
    ("wrong_clock_running", "the mover forgot to press", chess("0.1:w 4:-e2 4.7:+P@e4", tail=25)),
    ("wrong_clock_running", "a move is in the hand", chess(E4 + "10:w 12:-e7", tail=25)),
]
