"""International draughts: proved by perft, by another generator, by published problems and by the articles."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import pdn
from gateway.draughts import (
    AmbiguousPlyError,
    Counters,
    IllegalPlyError,
    InvalidPlyError,
    Ply,
    Position,
    perft,
)

PROBLEMS = Path(__file__).parents[2] / "shared" / "data" / "draughts_pdn"
START = (
    "W:W31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50:B1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"
)


def fen(text: str) -> Position:
    return Position.from_fen(text)


def notations(position: Position) -> list[str]:
    return sorted(position.notation(ply) for ply in position.legal_plies())


def key(ply: Ply) -> tuple[int, int, frozenset[int]]:
    return ply.departure, ply.arrival, frozenset(ply.captured)


def scattered(rng: random.Random) -> Position:
    """Pieces thrown on the board, kings rare or many."""
    white, black = rng.randint(1, 20), rng.randint(1, 20)
    kings = rng.choice([0, 0.1, 0.5])
    pieces = {}
    for index, square in enumerate(rng.sample(range(1, 51), white + black)):
        piece = "w" if index < white else "b"
        far = square <= 5 if piece == "w" else square >= 46
        pieces[str(square)] = piece.upper() if far or rng.random() < kings else piece
    return Position.from_pieces(pieces, rng.choice(["white", "black"]))


def played(rng: random.Random, length: int) -> list[Position]:
    """The positions of a random game."""
    positions = [Position.start()]
    while len(positions) < length and (plies := positions[-1].legal_plies()):
        positions.append(positions[-1].after(rng.choice(plies)))
    return positions


games = st.builds(lambda seed, length: played(random.Random(seed), length), st.integers(0, 2**32), st.integers(1, 90))
any_position = st.builds(lambda seed: scattered(random.Random(seed)), st.integers(0, 2**32))


# --- legality ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "leaves"), list(enumerate([1, 9, 81, 658, 4265, 27117, 167140])))
def test_perft(depth: int, leaves: int) -> None:
    """The tree of legal plies from the start has the published size."""
    assert perft(Position.start(), depth) == leaves


def test_same_plies_as_another_generator() -> None:
    """On 20,000 positions, half of them from games, the legal plies are those of dame-rs."""
    dame = pytest.importorskip("dame", reason="dame-rs is built for x86-64 and aarch64 only")
    rng = random.Random(20)
    positions = [scattered(rng) for _ in range(10_000)]
    while len(positions) < 20_000:
        positions += played(rng, 100)
    for position in positions:
        expected = sorted(
            (m.from_square, m.to_square, tuple(m.captured)) for m in dame.Board(position.fen()).legal_moves
        )
        found = sorted((p.departure, p.arrival, tuple(sorted(p.captured))) for p in position.legal_plies())

        assert found == expected, position.fen()


@pytest.mark.skipif(not PROBLEMS.is_dir(), reason="the collection of PDN files is not beside this checkout")
@pytest.mark.parametrize("name", ["problems_a", "problems_c", "problems_d", "problems_pwcp"])
def test_published_problems(name: str) -> None:
    """Solutions of composed problems, full of long captures, are legal from beginning to end."""
    problems = list(pdn.read((PROBLEMS / f"{name}.pdn").read_text(encoding="utf-8")))

    assert [p.fault for p in problems] == [None] * len(problems)
    assert sum(len(p.moves) for p in problems) > 180


def test_capture_is_compulsory_and_takes_the_most() -> None:
    """A1 4.2, 4.13, 5.4.8: what would be a quiet ply or a smaller capture is not legal, but the rules can name it."""
    position = fen("W:W28,33:B22,8,7,20,23,24")
    right = Ply((28, 19, 30), (23, 24))
    smaller = Ply((28, 17), (22,))

    assert position.legal_plies() == [right]
    assert set(position.captures()) == {right, smaller}
    assert {key(p)[:2] for p in position.quiet_plies()} == {(33, 29)}


def test_unfinished_captures() -> None:
    """A1 5.4.9: what is left when a capture is broken off can be named, and that it could go on."""
    position = fen("W:W28,33:B22,8,7,20,23,24")
    broken_off = Ply((28, 19), (23,))

    assert position.unfinished_captures() == [broken_off]
    assert position.goes_on(broken_off)
    assert not any(position.goes_on(ply) for ply in position.captures())


def test_king_moves_and_captures_along_its_lines() -> None:
    """A1 3.9, 4.3: any distance, and any empty square behind the piece; not over two pieces, not over its own."""
    assert notations(fen("W:WK46:BK5")) == [f"46-{s}" for s in (10, 14, 19, 23, 28, 32, 37, 41)]
    assert notations(fen("W:WK46:B32")) == [f"46x{s}" for s in (10, 14, 19, 23, 28, 5)]
    assert notations(fen("W:WK46:B32,28")) == ["46-37", "46-41"]
    assert notations(fen("W:WK46,32:B28")) == ["32x23"]


def test_jumped_pieces_stand_until_the_end() -> None:
    """A1 4.6, 4.9: after 27x36 the piece on 31 still blocks the line on which 9 could be taken."""
    assert notations(fen("W:WK27:B9,31")) == ["27x36", "27x4"]


def test_loops() -> None:
    """A capture may come back to its departure, and pass an empty square twice (A1 4.6)."""
    loop = fen("W:W32:B17,18,27,28,40").legal_plies()
    twice = fen("W:W11,37:B4,12,13,16,22,23,32,41,K47").legal_plies()

    assert [key(p) for p in loop] == [(32, 32, frozenset({17, 18, 27, 28}))]
    assert [p.path for p in twice] == [(37, 28, 17, 8, 19, 28)]
    assert fen("W:W32:B17,18,27,28,40").after(loop[0]).fen() == "B:W32:B40"


def test_one_ply_by_several_paths() -> None:
    """The same pieces taken on the way to the same square count once; all paths can be had."""
    position = fen("W:WK11:B22,39")

    assert [p.path for p in position.legal_plies()] == [(11, 28, 44), (11, 28, 50)]
    assert {p.path for p in position.capture_paths()} == {(11, m, e) for m in (28, 33) for e in (44, 50)}


def test_promotion() -> None:
    """A man that stops on the far row is a king; one that only passes it is not (A1 3.5, 4.15)."""
    stops = fen("W:W14:B9,29")
    passes = fen("W:W13:B7,8")
    black = fen("B:W1:B42")

    assert stops.legal_plies() == [Ply((14, 3), (9,), promotes=True)]
    assert stops.after(stops.legal_plies()[0]).fen() == "B:WK3:B29"
    assert passes.legal_plies() == [Ply((13, 2, 11), (8, 7))]
    assert passes.after(passes.legal_plies()[0]).fen() == "B:W11:B"
    assert black.after(black.parse("42-48")).fen() == "W:W1:BK48"


def test_no_plies() -> None:
    """Without pieces, or with all of them blocked, there is no ply (A1 7.2.2, 7.2.3)."""
    assert fen("W:W:B5").legal_plies() == []
    assert fen("W:W46:B41,37").legal_plies() == []


@given(any_position)
@settings(deadline=None)
def test_states_agree_with_paths(position: Position) -> None:
    """Searching states finds exactly the captures that searching every path finds."""
    plies = position.captures()

    assert {key(p) for p in plies} == {key(p) for p in position.capture_paths()}
    assert len({key(p) for p in plies}) == len(plies)


def test_after_an_illegal_ply() -> None:
    """A ply that breaks the rules is carried out as it stands; whatever was in its way is gone."""
    position = fen("W:W31,32:B21,27")

    assert position.after(Ply((31, 21))).fen() == "B:W21,32:B27"
    assert position.after(Ply((31, 26), (27, 32))).fen() == "B:W26:B21"
    with pytest.raises(ValueError, match="no piece of white stands on 27"):
        position.after(Ply((27, 31)))


# --- FEN --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("W:W31,32,K46:B1,K5", "W:W31,32,K46:B1,K5"),
        ("W:W31-50:B1-20", START),
        ("B:B20,K1,3:WK50,49.", "B:W49,K50:BK1,3,20"),
        (" w : W 31 , k46 :B 1 ", "W:W31,K46:B1"),
        ("W:WK46-48:B", "W:WK46,K47,K48:B"),
    ],
)
def test_reads_fen(text: str, written: str) -> None:
    """Ranges, blanks, any order and a dot are read; squares are written ascending, without ranges."""
    assert fen(text).fen() == written
    assert fen(text).placement() == written[2:]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no FEN of draughts"),
        ("W31:B1", "no FEN of draughts"),
        ("W:W31:W1", "no FEN of draughts"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "no FEN of draughts"),
        ("W:W51:B1", "51 is no square between 1 and 50"),
        ("W:W0:B1", "0 is no square"),
        ("W:W31:B31", "square 31 is taken twice"),
        ("W:Wa3:B1", "'A3' is no square, king or range"),
        ("W:W50-31:B1", "the range 50-31 runs backwards"),
    ],
)
def test_refuses_fen(text: str, sentence: str) -> None:
    """What is wrong with a FEN is said in a sentence."""
    with pytest.raises(ValueError, match=sentence):
        fen(text)


@given(any_position)
@settings(deadline=None)
def test_fen_and_pieces_round_trip(position: Position) -> None:
    """FEN and the mapping of pieces hold all of a position."""
    assert fen(position.fen()) == position
    assert Position.from_pieces(position.pieces(), position.turn) == position
    assert all(position.piece_at(int(square)) == piece for square, piece in position.pieces().items())


def test_faults() -> None:
    """Impossible positions can be held, and say what is wrong."""
    assert Position.start().fault() is None
    assert fen("W:W3,31:B10").fault() == "White's man on 3 would be a king (A1 3.5)."
    assert fen("W:W31:B1-21").fault() == "Black has more than 20 pieces."
    assert fen("W:W:B").fault() == "The board is empty."


# --- notation ---------------------------------------------------------------------------------------------------


def test_notation() -> None:
    """The full path is written only where two captures would read alike."""
    alike = fen("W:WK12:B14,18,24,30")

    assert Position.start().notation(Ply((32, 28))) == "32-28"
    assert notations(fen("W:W28,33:B22,8,7,20,23,24")) == ["28x30"]
    assert {"12x34x25x3", "12x29x20x3"} <= set(notations(alike))


def test_parse() -> None:
    """All the ways in which files write a capture are read, and the path they name is kept."""
    position = fen("W:WK11:B22,39")
    near = Ply((11, 28, 50), (22, 39))

    for text in ("11x50", "11:50", "11-50", "11x28x50", "11x22x39x50", "11x50x22x39", "11x50x39x22"):
        assert position.parse(text) == near
    assert position.parse("11x33x50") == Ply((11, 33, 50), (22, 39))
    assert Position.start().parse("32-28") == Ply((32, 28))


def test_parse_part_of_a_path() -> None:
    """As many squares of the path as are needed are enough."""
    position = fen("W:WK12:B14,18,24,30")

    assert position.parse("12x20x3").captured == (18, 24, 14)
    assert position.parse("12x34x3").captured == (18, 30, 14)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", InvalidPlyError),
        ("e2e4", InvalidPlyError),
        ("12", InvalidPlyError),
        ("12x51", InvalidPlyError),
        ("12-3-20-9x", InvalidPlyError),
        ("12-8", IllegalPlyError),
        ("12x8", IllegalPlyError),
        ("13x3", IllegalPlyError),
        ("12x30x3", IllegalPlyError),
        ("12x3", AmbiguousPlyError),
    ],
)
def test_parse_refuses(text: str, error: type[ValueError]) -> None:
    """Whether a text is no ply, an illegal or an ambiguous one are three answers."""
    with pytest.raises(error):
        fen("W:WK12:B14,18,24,30").parse(text)


def test_quiet_ply_is_not_written_as_a_capture() -> None:
    """`32x28` claims a capture where there is none."""
    with pytest.raises(IllegalPlyError):
        Position.start().parse("32x28")


@given(games)
@settings(deadline=None)
def test_notation_is_read_back(positions: list[Position]) -> None:
    """Parsing the notation of a legal ply gives the ply."""
    for position in positions:
        for ply in position.legal_plies():
            assert position.parse(position.notation(ply)) == ply


# --- counts -----------------------------------------------------------------------------------------------------


def counted(position: Position, texts: str, counters: Counters | None = None) -> list[Counters]:
    """The counts after each of the plies."""
    found = [counters or Counters.start(position)]
    for text in texts.split():
        ply = position.parse(text)
        after = position.after(ply)
        found.append(found[-1].after(position, ply, after))
        position = after
    return found[1:]


def test_twenty_five_moves() -> None:
    """A man's move and a capture start the count again, a king's move adds to it (A1 6.2)."""
    position = fen("W:WK46,36:BK4,15")
    counters = Counters.start(position, {"plies_since_man_move_or_capture": 48})

    assert [c.since_man_move_or_capture for c in counted(position, "46-41 4-9 36-31", counters)] == [49, 50, 0]


def test_sixteen_moves_start_after_the_capture_that_made_the_material() -> None:
    """Neither a man's move nor a promotion starts the 16 moves again (A1 6.3)."""
    position = fen("B:W6,23,K48,K49:BK5")

    assert [c.since_3_v_1 for c in counted(position, "5x46 6-1 46-41")] == [0, 1, 2]


def test_both_counts_run_on_after_three_became_two() -> None:
    """The capture that leaves two against one starts the 5 moves, and the 16 run on (A1 6.3, 6.4)."""
    position = fen("B:WK26,K49,19:BK5")
    after = counted(position, "5x46 49-40", Counters.start(position, {"plies_since_material_3_v_1": 20}))

    assert [(c.since_3_v_1, c.since_2_v_1) for c in after] == [(21, 0), (22, 1)]


def test_counts_end_with_the_lone_king() -> None:
    """The win on the last counted ply is a win: there is no count any more."""
    position = fen("W:WK46,K47,K2:BK33")
    last = counted(position, "47x29", Counters.start(position, {"plies_since_material_3_v_1": 31}))[0]

    assert last == Counters(0, None, None)


def test_material_that_needs_a_king() -> None:
    """Three men against a king are not counted until one is crowned; one king against one is five moves."""
    assert Counters.start(fen("W:W46,47,48:BK5")) == Counters(0, None, None)
    assert Counters.start(fen("W:WK46,47,48:BK5")) == Counters(0, 0, None)
    assert Counters.start(fen("W:WK46:BK6,45")) == Counters(0, None, 0)
    assert Counters.start(fen("W:WK46:BK6")) == Counters(0, None, 0)
    assert Counters.start(fen("W:WK46,K47,K48,K49:BK6")) == Counters(0, None, None)
    assert Counters.start(Position.start(), {"plies_since_man_move_or_capture": 7}) == Counters(7, None, None)
