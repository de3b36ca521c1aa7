"""Hands: the same seed the same hands, and whatever they do leads to the positions of the game."""

from __future__ import annotations

import itertools
from dataclasses import replace
from random import Random

import chess
import pytest
from random_games import play, random_chess, random_draughts

from gateway.draughts import Position
from gateway.simulate.device import CLASSIC, Board
from gateway.simulate.habits import BLITZ, DRAUGHTS_BLITZ, PACES, RAPID, SCRAMBLE, Habits, Pace
from gateway.simulate.hand import Change, Press
from gateway.simulate.score import chess_ply, chess_score, draughts_ply, draughts_score
from gateway.simulate.session import Evening, Manners


def test_same_seed_same_hands() -> None:
    """A seed gives the same acts, and another seed others."""
    score = random_chess(1)

    assert play(score, BLITZ, Habits(), 5).acts == play(score, BLITZ, Habits(), 5).acts
    assert play(score, BLITZ, Habits(), 5).acts != play(score, BLITZ, Habits(), 6).acts


@pytest.mark.parametrize("pace", PACES.values(), ids=lambda pace: pace.name)
@pytest.mark.parametrize("kind", ["chess", "chess960", "draughts"])
def test_touches_lead_to_the_last_position(pace: Pace, kind: str) -> None:
    """Played in order of time, all touches of a very clumsy game give the position that the game gives."""
    for seed in range(6):
        score = random_draughts(seed) if kind == "draughts" else random_chess(seed, chess960=kind == "chess960")
        performance = play(score, pace, Habits(never_promoted=0.0).noisy(10), seed)

        assert performance.final() == score.plies[-1].after


def test_truth_holds_every_ply() -> None:
    """The truth names the plies of the score, in order, with times that do not go back."""
    score = random_chess(3)
    truth = play(score, RAPID, Habits(), 3).games[0]

    assert [ply.name for ply in truth.plies] == [ply.name for ply in score.plies]
    assert truth.started == 3.0
    assert all(a.placed - 8.0 < b.placed for a, b in zip(truth.plies, truth.plies[1:], strict=False))


def test_takeback_is_undone() -> None:
    """Plies that are taken back leave no trace on the board, and the truth says when."""
    board = chess.Board()
    moves = [chess.Move.from_uci(uci) for uci in ("e2e4", "d7d5", "g1f3", "d5e4", "f3d4", "e7e5")]
    score = chess_score(board, moves)
    for move in moves[:2]:
        board.push(move)
    first = chess_ply(board, chess.Move.from_uci("e4d5"))
    board.push_uci("e4d5")
    detour = (first, chess_ply(board, chess.Move.from_uci("d8d5")))
    for seed in range(20):
        performance = play(replace(score, detours={2: detour}), BLITZ, Habits(), seed)
        takeback = performance.games[0].takebacks[0]

        assert performance.final() == score.plies[-1].after
        assert (takeback.from_ply, takeback.names) == (3, ("e4d5", "d8d5"))
        assert takeback.played < takeback.start < takeback.end


def test_takeback_of_a_draughts_capture() -> None:
    """Captured men come back, too."""
    position = Position.start()
    played = [position.parse("32-28")]
    position = position.after(played[0])
    capture_reply = position.parse("19-23")
    capture = position.after(capture_reply).legal_plies()[0]
    detour = (draughts_ply(position, capture_reply), draughts_ply(position.after(capture_reply), capture))
    played.append(position.parse("20-24"))
    score = replace(draughts_score(Position.start(), played), detours={1: detour})
    for seed in range(20):
        assert play(score, DRAUGHTS_BLITZ, Habits(), seed).final() == score.plies[-1].after


def test_pace_is_as_measured() -> None:
    """At 3+2 the press comes about a second after the last placement; in a scramble a ply takes 0.4 s."""
    waits: list[float] = []
    gaps: list[float] = []
    for seed in range(12):
        plies = play(random_chess(seed), BLITZ, Habits(), seed).games[0].plies
        waits += [ply.pressed - ply.placed for ply in plies if ply.pressed]
        plies = play(random_chess(seed), SCRAMBLE, Habits(), seed).games[0].plies
        gaps += [b.placed - a.placed for a, b in itertools.pairwise(plies)]

    assert 0.8 < sorted(waits)[len(waits) // 2] < 1.2
    assert 0.35 < sum(gaps) / len(gaps) < 0.5


def test_captures_are_seen_as_measured() -> None:
    """About 71 % of captures never show the target empty, and about 14 % show the victim somewhere else."""
    captures = never_empty = elsewhere = 0
    for seed in range(24):
        score = random_chess(seed)
        performance = play(score, BLITZ, Habits(), seed)
        trace = Board(CLASSIC, performance, "chess", Random(seed))
        found: dict[int | None, list[tuple[str, str | None]]] = {}
        for sampled in trace.sampled():
            found.setdefault(sampled.ply, []).append((sampled.square, sampled.piece))
        for number, ply in enumerate(score.plies, 1):
            if ply.victims and ply.victims[0][0] == ply.arrival:
                seen = found.get(number, [])
                captures += 1
                never_empty += (ply.arrival, None) not in seen
                elsewhere += any(p == ply.victims[0][1] and s not in ply.touches() for s, p in seen)

    assert captures > 300
    assert 0.63 < never_empty / captures < 0.79
    assert 0.08 < elsewhere / captures < 0.20


def test_slides_are_as_rare_as_measured() -> None:
    """About five in a hundred moves of pieces that have a path are dragged over it."""
    able = slid = 0
    for seed in range(24):
        score = random_chess(seed)
        truth = play(score, RAPID, Habits(), seed).games[0]
        able += sum(ply.slides and bool(ply.path) and not ply.rook for ply in score.plies)
        starts = [m.start for m in truth.mishaps if m.kind == "slide"]
        slid += sum(not any(0 < s - other < 1.2 for other in starts) for s in starts)

    assert 0.02 < slid / able < 0.09


def test_every_ply_is_pressed_unless_forgotten() -> None:
    """Presses alternate when nobody forgets."""
    acts = play(random_chess(7), BLITZ, Habits(forgotten_press=0.0), 7).acts
    sides = [act.side for act in acts if isinstance(act, Press)]

    assert sides == [("white", "black")[i % 2] for i in range(len(sides))]


def test_evening_sets_up_again() -> None:
    """Between two games the pieces go back to the start position, whatever was done with them; all in order of time."""
    scores = [random_chess(seed, 40) for seed in range(3)]
    for seed in range(10):
        performance = Evening(scores, BLITZ, Habits(), Random(seed), Manners(analysis=1.0)).perform()
        for truth in performance.games:
            pieces = dict(performance.start)
            for act in performance.acts:
                if isinstance(act, Change) and act.at < truth.started:
                    pieces[act.square] = act.piece or ""

            assert {s: p for s, p in pieces.items() if p} == scores[0].start
        times = [act.at for act in performance.acts]
        assert times == sorted(times)
