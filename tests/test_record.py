"""The record: both games, what is taken back or set, what counts, and the texts that readers must accept."""

from __future__ import annotations

import io
import json
import random

import chess
import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import pdn
from gateway.draughts import AmbiguousPlyError, Counters, IllegalPlyError, InvalidPlyError, Ply, Position
from gateway.events import GameKind, Readings
from gateway.record import ChessPosition, Record, move_payload, notate, parse, position_from_fen

CHESS960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def chess_record(moves: str, game: GameKind = "chess", **arguments: object) -> Record:
    record = Record(game, **arguments)  # type: ignore[arg-type]
    for text in moves.split():
        record.play(record.parse(text))
    return record


def draughts_record(moves: str, fen: str | None = None) -> Record:
    return chess_record(moves, "draughts", start_fen=fen)


def read_pgn(text: str) -> list[chess.pgn.Game]:
    """All games of a text, each without a complaint of the reader."""
    stream = io.StringIO(text)
    games = []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        games.append(game)
    return games


# --- one ply ----------------------------------------------------------------------------------------------------


def test_move_event_of_chess() -> None:
    """A ply of chess has SAN, UCI and the FEN after it."""
    record = Record("chess")
    move = record.play("e2e4", clock=Readings(180, 180), elapsed=3.3)

    assert (move.ply, move.side, move.notation, move.uci, move.legal, move.source) == (
        1,
        "white",
        "e4",
        "e2e4",
        True,
        "board",
    )
    assert move.fen == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert (move.squares, move.captured, move.elapsed) == (None, None, 3.3)
    assert record.turn == "black"


def test_move_event_of_draughts() -> None:
    """A ply of draughts has PDN, the whole path and the captured squares in order."""
    record = Record("draughts", "W:W28,33:B22,8,7,20,23,24")
    move = record.play(record.parse("28x30"))

    assert (move.notation, move.uci, move.squares, move.captured) == ("28x30", None, (28, 19, 30), (23, 24))
    assert move.fen == "B:W30,33:B7,8,20,22"


@pytest.mark.parametrize(
    ("game", "fen", "uci"),
    [("chess", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"), ("chess960", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1h1")],
)
def test_castling_is_read_either_way(game: GameKind, fen: str, uci: str) -> None:
    """Castling is given in three ways, and written king-takes-rook only in Chess960."""
    position = position_from_fen(game, fen)

    for text in ("e1g1", "e1h1", "O-O", "0-0"):
        told = notate(position, parse(position, text))
        assert (told.notation, told.uci, told.after.placement()) == ("O-O", uci, "4k3/8/8/8/8/8/8/5RK1")


@pytest.mark.parametrize(
    ("text", "uci"),
    [("Nf3", "g1f3"), (" g1f3 ", "g1f3"), ("e4", "e2e4"), ("e2e4", "e2e4")],
)
def test_parse_chess(text: str, uci: str) -> None:
    """SAN and UCI are read."""
    assert parse(ChessPosition(chess.Board()), text) == uci


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", InvalidPlyError),
        ("32-28", InvalidPlyError),
        ("--", InvalidPlyError),
        ("0000", InvalidPlyError),
        ("e5", IllegalPlyError),
        ("e2e5", IllegalPlyError),
        ("Nd2", AmbiguousPlyError),
    ],
)
def test_parse_chess_refuses(text: str, error: type[ValueError]) -> None:
    """Invalid, illegal and ambiguous are three answers, as in draughts."""
    board = chess.Board("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1")

    with pytest.raises(error):
        parse(ChessPosition(board), text)


def test_illegal_ply_of_chess_goes_as_it_stands() -> None:
    """One piece goes from a to b; castling rights, en passant and counters are kept sensible."""
    record = chess_record("e4 e5 Nf3 Nc6 Bc4 Bc5")
    move = record.play("e1e3", legal=False)

    assert (move.notation, move.uci, move.legal, move.side) == ("e1e3", "e1e3", False, "white")
    assert move.fen == "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/4KN2/PPPP1PPP/RNBQ3R b kq - 5 4"


def test_illegal_capture_and_promotion() -> None:
    """What stood on the arrival is gone and the count starts again; the piece is what now stands there."""
    position = ChessPosition.from_fen("r3k3/1P6/8/8/8/8/8/4K3 w q - 30 60")

    assert notate(position, "b7a8q", legal=False).after.fen() == "Q3k3/8/8/8/8/8/8/4K3 b - - 0 60"
    assert notate(position, "b7c8n", legal=False).after.fen() == "r1N1k3/8/8/8/8/8/8/4K3 b q - 0 60"
    assert notate(position, "e1e4", legal=False).after.fen() == "r3k3/1P6/8/8/4K3/8/8/8 b q - 31 60"


def test_illegal_ply_of_draughts() -> None:
    """Notation is departure and arrival; `captured` is what is really gone."""
    record = Record("draughts", "W:W31,32:B21,27")
    move = record.play(Ply((31, 26), (27,)), legal=False)

    assert (move.notation, move.squares, move.captured, move.fen) == ("31-26", (31, 26), (27,), "B:W26,32:B21")


@pytest.mark.parametrize(
    ("record", "ply", "legal"),
    [
        (Record("chess"), "e2e5", True),
        (Record("chess"), "e4e5", False),
        (Record("chess"), "e7e5", False),
        (Record("draughts"), Ply((31, 22)), True),
        (Record("draughts"), Ply((27, 22)), False),
    ],
)
def test_refused_plies_change_nothing(record: Record, ply: str | Ply, legal: bool) -> None:
    """A ply said to be legal must be, and one that is carried must be the mover's."""
    with pytest.raises(IllegalPlyError):
        record.play(ply, legal=legal)

    assert record.ply == 0


# --- the record -------------------------------------------------------------------------------------------------


def test_retract_and_correct() -> None:
    """A retracted ply and all later ones are gone; numbering goes on from there."""
    record = chess_record("e4 e5 Nf3 Nc6")
    record.retract(3)
    move = record.play(record.parse("d4"), source="command", confirmed=True)

    assert (move.ply, move.source) == (3, "command")
    assert [entry.move.notation for entry in record.entries] == ["e4", "e5", "d4"]
    assert [entry.confirmed for entry in record.entries] == [False, False, True]
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="there is no ply"):
            record.retract(wrong)


def test_position_at() -> None:
    """Position 0 is the start; there is one after every ply."""
    record = chess_record("e4 e5")

    assert record.position_at(0).fen() == chess.STARTING_FEN
    assert record.position_at(2) == record.position
    with pytest.raises(ValueError, match="no ply 3"):
        record.position_at(3)


def test_set_position() -> None:
    """The record goes on from a position that was set; retracting the ply before takes it back."""
    record = chess_record("e4 e5")
    record.set_position(2, "4k3/8/8/8/8/8/8/4K2R b K - 3 40")
    move = record.play(record.parse("Kd7"))

    assert (move.ply, move.side) == (3, "black")
    assert record.position_at(2).fen() == "4k3/8/8/8/8/8/8/4K2R b K - 3 40"
    assert [placed.ply for placed in record.placed] == [2]
    with pytest.raises(ValueError, match="after ply 3, the last"):
        record.set_position(2, chess.STARTING_FEN)
    record.retract(3)
    assert record.ply == 2
    assert record.turn == "black"
    assert record.halfmove_clock == 3
    record.retract(2)
    assert record.placed == ()
    assert record.position == record.position_at(1)


def test_moves_completed() -> None:
    """They come from the move number of the start, unless given; plies always count from 1."""
    white_first = chess_record("", start_fen="4k3/8/8/8/8/8/8/4K2R w K - 0 31")
    black_first = chess_record("Kd7 Kd2", start_fen="4k3/8/8/8/8/8/8/4K2R b K - 0 31")
    given_ = chess_record("e4 e5 d4", moves_completed={"white": 200, "black": 199})
    draughts_ = draughts_record("32-28 19-23 28x19")

    assert (white_first.moves_completed("white"), white_first.moves_completed("black")) == (30, 30)
    assert (black_first.moves_completed("white"), black_first.moves_completed("black")) == (32, 31)
    assert (given_.moves_completed("white"), given_.moves_completed("black")) == (202, 200)
    assert (draughts_.moves_completed("white"), draughts_.moves_completed("black")) == (2, 1)
    assert given_.ply == 3


def test_repetition_in_chess() -> None:
    """The start comes back after four knight moves; after a king's move castling is lost and it does not."""
    knights = chess_record("Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8")
    kings = chess_record("e4 e5 Ke2 Ke7 Ke1 Ke8 Ke2 Ke7 Ke1 Ke8")

    assert knights.occurrences() == (0, 4, 8)
    assert kings.occurrences() == (6, 10)
    assert knights.find(ChessPosition(chess.Board())) == 8
    assert kings.find(ChessPosition.from_fen("8/8/8/8/8/8/8/K1k5 w - - 0 1")) is None


def test_en_passant_counts_only_if_it_is_legal() -> None:
    """After 1. e4 no capture en passant is possible: the position is the same as without it (FIDE 9.2.3.1)."""
    assert chess_record("e4 Nf6 Nf3 Ng8 Ng1").occurrences() == (1, 5)
    assert chess_record("e4 a6 e5 d5 Nf3 Nf6 Ng1 Ng8").occurrences() == (8,)


def test_repetition_in_draughts() -> None:
    """Pieces and turn make a position (A1 6.1)."""
    record = draughts_record("26-31 1-6 31-26 6-1 26-31 1-6 31-26 6-1", "W:WK26:BK1")

    assert record.occurrences() == (0, 4, 8)


def test_counts() -> None:
    """Chess has its half-move clock, draughts its counters, which a start may bring along."""
    chess_ = chess_record("e4 e5 Nf3 Nc6")
    draughts_ = Record("draughts", "W:WK46,K47,K48:BK45", counted={"plies_since_material_3_v_1": 31})
    draughts_.play(draughts_.parse("47-42"))

    assert (chess_.halfmove_clock, chess_.counters) == (2, None)
    assert (draughts_.halfmove_clock, draughts_.counters) == (None, Counters(1, 32, None))
    draughts_.retract(1)
    assert draughts_.counters == Counters(0, 31, None)
    draughts_.set_position(0, "B:WK46,K47:BK45")
    assert draughts_.counters == Counters(0, None, 0)


def test_positions_speak_alike() -> None:
    """Both games say placement, pieces, turn and what is wrong with them."""
    pawn = position_from_fen("chess", "4k3/8/8/8/8/8/P7/4K3 b - - 0 1")
    man = position_from_fen("draughts", "B:WK46:B1")

    assert (pawn.placement(), pawn.turn) == ("4k3/8/8/8/8/8/P7/4K3", "black")
    assert pawn.pieces() == {"e8": "k", "a2": "P", "e1": "K"}
    assert (man.placement(), man.turn, man.pieces()) == ("WK46:B1", "black", {"1": "b", "46": "W"})
    assert pawn.fault() is None
    assert man.fault() is None
    assert position_from_fen("chess", "8/8/8/8/8/8/P7/4K3 b - - 0 1").fault() == "Black has no king."
    assert (
        position_from_fen("chess", "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1").fault()
        == "The side that is not to move is in check."
    )


@pytest.mark.parametrize(
    ("game", "fen"),
    [("chess", "not a fen"), ("draughts", chess.STARTING_FEN), ("chess", "W:W31:B1"), ("chess960", "")],
)
def test_wrong_start(game: GameKind, fen: str) -> None:
    """A start that cannot be read is refused."""
    with pytest.raises(ValueError, match=r"."):
        Record(game, fen)


# --- what is published ------------------------------------------------------------------------------------------


def test_move_payload_of_chess() -> None:
    """The keys of the contract, and the reading of the press once it is known."""
    record = Record("chess")
    record.play("e2e4", clock=Readings(180, 180), elapsed=3.3)
    record.play("e7e5")
    record.confirm(1, Readings(178, 180))

    assert [move_payload(entry) for entry in record.entries] == [
        {
            "ply": 1,
            "side": "white",
            "notation": "e4",
            "uci": "e2e4",
            "legal": True,
            "confirmed": True,
            "clock": {"white": 178, "black": 180},
            "elapsed": 3.3,
        },
        {
            "ply": 2,
            "side": "black",
            "notation": "e5",
            "uci": "e7e5",
            "legal": True,
            "confirmed": False,
            "clock": None,
            "elapsed": None,
        },
    ]
    with pytest.raises(ValueError, match="no ply 3"):
        record.confirm(3)


def test_move_payload_of_draughts() -> None:
    """Draughts has `squares` and `captured` in place of `uci`."""
    payload = [move_payload(entry) for entry in draughts_record("32-28 19-23 28x19").entries]

    assert [(move["notation"], move["squares"], move["captured"]) for move in payload] == [
        ("32-28", [32, 28], []),
        ("19-23", [19, 23], []),
        ("28x19", [28, 19], [23]),
    ]
    assert all("uci" not in move for move in payload)


def test_pgn() -> None:
    """Tags, moves with the mover's clock, and the result."""
    record = Record("chess", tags={"White": 'Ann "A"', "Round": "3", "TimeControl": "180+2"})
    record.play("e2e4", clock=Readings(180, 175.9))
    record.play("e7e5", clock=Readings(180, 175.9))

    assert record.pgn("1/2-1/2") == (
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "3"]\n[White "Ann \\"A\\""]\n[Black "?"]\n'
        '[Result "1/2-1/2"]\n[TimeControl "180+2"]\n\n'
        "1. e4 {[%clk 0:03:00]} 1... e5 {[%clk 0:02:55]} 1/2-1/2\n"
    )
    (game,) = read_pgn(record.pgn("1/2-1/2"))
    assert [node.clock() for node in game.mainline()] == [180, 175]


def test_pgn_of_chess960() -> None:
    """Variant and FEN let readers castle."""
    record = chess_record("O-O-O Kf7", "chess960", start_fen="5k2/8/8/8/8/8/8/1R2K1R1 w KQ - 0 1")
    (game,) = read_pgn(record.pgn())

    assert game.headers["Variant"] == "Chess960"
    assert game.headers["FEN"] == record.start.fen()
    assert game.end().board().fen() == record.position.fen() == "8/5k2/8/8/8/8/8/2KR2R1 w - - 2 2"


def test_pgn_with_an_illegal_ply() -> None:
    """The text goes on in a second game from the position after it; readers find no fault, and the result in both."""
    record = chess_record("e4 e5")
    record.play("d1h6", legal=False)
    record.play(record.parse("gxh6"))
    record.play(record.parse("Nf3"))
    first, second = read_pgn(record.pgn("0-1"))

    assert [first.headers["Result"], second.headers["Result"]] == ["0-1", "0-1"]
    assert [node.san() for node in first.mainline()] == ["e4", "e5"]
    assert " ".join(first.end().comment.split()) == (
        "Ply 3, d1h6 by white, is illegal and stands. The game goes on in the next part from "
        "rnbqkbnr/pppp1ppp/7Q/4p3/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2"
    )
    assert [node.san() for node in second.mainline()] == ["gxh6", "Nf3"]
    assert second.end().board().fen() == record.position.fen()


def test_pgn_with_the_first_ply_illegal_and_a_position_set() -> None:
    """Parts may be empty: nothing is hidden, and the last part ends at the present position."""
    record = Record("chess")
    record.play("e2e5", legal=False)
    record.set_position(1, "4k3/8/8/8/8/8/8/4K2R w K - 0 9")
    games = read_pgn(record.pgn())

    assert len(games) == 3
    assert games[2].board().fen() == record.position.fen()


def test_pgn_of_a_ply_that_leaves_the_king_in_check() -> None:
    """The commonest illegal ply gives a position that no game can have, and readers still take it."""
    record = chess_record("", start_fen="4k3/4r3/8/8/8/8/4B3/4K3 w - - 0 1")
    record.play("e2d3", legal=False)
    record.play(record.parse("Kd8"))

    assert read_pgn(record.pgn())[1].end().board().fen() == record.position.fen()


def test_pdn() -> None:
    """PDN has GameType 20 and results in points; an illegal ply begins a new part here too."""
    record = draughts_record("32-28 19-23 28x19 14x23")
    record.play(Ply((31, 21)), legal=False)
    record.play(record.parse("17x26"))
    first, second = pdn.read(record.pdn("0-2"))

    assert (first.tags["GameType"], first.result, len(first.moves), first.fault) == ("20", "0-2", 4, None)
    assert first.moves[-1].comment.startswith("Ply 5, 31-21 by white, is illegal and stands.")
    assert "3... 17x26 0-2" in record.pdn("0-2")
    assert (second.start, len(second.moves), second.fault) == (record.position_at(5), 1, None)


# --- properties -------------------------------------------------------------------------------------------------


def random_record(game: GameKind, seed: int) -> Record:
    """A random game with clocks, confirmations, illegal plies and set positions here and there."""
    rng = random.Random(seed)
    record = Record(game, CHESS960 if game == "chess960" else None, {"White": "W"})
    for _ in range(rng.randint(0, 60)):
        position = record.position
        clock = rng.choice([None, Readings(rng.randint(0, 6000), 7.5)])
        if rng.random() < 0.03:
            record.set_position(record.ply, position.fen())
        if isinstance(position, Position):
            choices: list[str | Ply] = list(position.legal_plies())
            illegal: str | Ply = Ply((int(rng.choice(list(position.pieces()))), rng.randint(1, 50)))
        else:
            assert isinstance(position, ChessPosition)
            choices = [position.board.uci(move) for move in position.board.legal_moves]
            illegal = rng.choice(list(position.pieces())) + rng.choice(chess.SQUARE_NAMES)
        try:
            if rng.random() < 0.03:
                record.play(illegal, legal=False, clock=clock)
            elif choices:
                record.play(rng.choice(choices), clock=clock, elapsed=rng.choice([None, 1.5]))
        except (IllegalPlyError, InvalidPlyError):
            continue
        if record.entries and rng.random() < 0.3:
            record.confirm(record.entries[-1].ply, clock)
    return record


records = st.builds(random_record, st.sampled_from(["chess", "chess960", "draughts"]), st.integers(0, 2**32))


@given(records)
@settings(deadline=None)
def test_state_is_json_and_restores_the_record(record: Record) -> None:
    """A record restored from disk says all that the first one said."""
    state = json.loads(json.dumps(record.state()))
    again = Record.restore(state)

    assert again.state() == record.state()
    assert again.entries == record.entries
    assert again.placed == record.placed
    assert again.occurrences() == record.occurrences()
    assert again.pgn("*") == record.pgn("*")


@given(records, st.integers(1, 60))
@settings(deadline=None)
def test_retracting_gives_the_record_of_before(record: Record, from_ply: int) -> None:
    """After a retraction the record is what it was before the ply."""
    if from_ply > record.ply:
        return
    before = record.position_at(from_ply - 1)
    entries = record.entries[: from_ply - 1]
    record.retract(from_ply)

    assert (record.position, record.entries) == (before, entries)


@given(records)
@settings(deadline=None)
def test_texts_are_read_without_fault(record: Record) -> None:
    """Every legal ply is found again by readers of PGN and PDN, and the last part ends where the record is."""
    legal = sum(entry.move.legal for entry in record.entries)
    if record.game == "draughts":
        parts = list(pdn.read(record.pdn()))
        assert [part.fault for part in parts] == [None] * len(parts)
        assert sum(len(part.moves) for part in parts) == legal
    else:
        games = read_pgn(record.pgn())
        assert sum(len(list(game.mainline_moves())) for game in games) == legal
        assert games[-1].end().board().fen() == record.position.fen()
