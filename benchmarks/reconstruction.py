"""How well the games are followed: simulated hands over real games, one row per pace and kind of trouble.

    python -m benchmarks.reconstruction                 a quick look
    python -m benchmarks.reconstruction --games 1000    the real thing
    python -m benchmarks.reconstruction --only "chess blitz" --show 17      the first error of one game, all around it

Beside each row stands a settle-then-match reader, the best of four waits for each game.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Protocol

from benchmarks.games import NoGamesError, chess960_game, chess_game, draughts_game, with_takeback
from benchmarks.settle import WAITS, Settle
from gateway.arbiter import Arbiter
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.events import (
    Alert,
    BoardDump,
    ClockTimes,
    Command,
    Event,
    FieldUpdate,
    GameEnded,
    GameStarted,
    Move,
    MoveConfirmed,
    MoveRetracted,
    Numbered,
    Observation,
    PositionSet,
)
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, OCCUPANCY, WHOLE, Board, BoardModel, Trace, drawn_board
from gateway.simulate.gesture import Mishap
from gateway.simulate.habits import BLITZ, DRAUGHTS_BLITZ, RAPID, SCRAMBLE, STANDARD, Habits, Pace
from gateway.simulate.hand import Performance, Takeback, Truth
from gateway.simulate.score import Score, draughts_name
from gateway.simulate.session import Evening
from gateway.table import Table

EPOCH = 1_780_000_000.0
LINGER = 20.0
"""Seconds that a trace goes on after the last act."""


class Reader(Protocol):
    """Whatever can follow a game."""

    @property
    def deadline(self) -> float | None: ...
    def observe(self, observation: Observation, at: float, /) -> list[Numbered]: ...
    def tick(self, at: float, /) -> list[Numbered]: ...


# --- rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One game, or an evening of them, with its hands and its board."""

    scores: tuple[Score, ...]
    performance: Performance
    trace: Trace
    table: TableConfig
    begin: Command | None = None
    """What an arbiter must say first, because the game starts from a position of its own."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    goal: str
    pace: Pace
    game: Callable[[int], Score] = chess_game
    board: BoardModel = CLASSIC
    habits: Habits = field(default_factory=Habits)
    takebacks: float = 0.0
    cable_out: bool = False
    evening: int = 1
    """Games in a row, with analysis and set-up between."""
    set_up: bool = False
    """The games start from positions that an arbiter must name."""

    def case(self, seed: int) -> Case:
        """The game of this seed; the same for ever."""
        rng = Random(f"{self.name}/{seed}")
        scores = []
        for number in range(self.evening):
            score = self.game(seed * self.evening + number)
            scores.append(with_takeback(score, seed) if rng.random() < self.takebacks else score)
        performance = Evening(scores, self.pace, self.habits, rng).perform(LINGER)
        # an occupancy board cannot tell how it lies
        rotated = self.board.senses == "pieces" and rng.random() < 0.2
        board = drawn_board(replace(self.board, rotated=rotated), rng)
        if self.cable_out:
            off, on = _outage(performance.games[0], rng)
            performance.games[0].mishaps.append(Mishap("cable_out", off, on))
            board = replace(board, out=(off, on))
        clock = ClockModel(self.pace.base, self.pace.increment, credited_at_start=rng.random() < 0.5)
        trace = Board(board, performance, scores[0].game, rng).trace(clock)
        begin = Command("start_game", "start", "arbiter", {"start_fen": scores[0].start_fen}) if self.set_up else None
        return Case(tuple(scores), performance, trace, self._table(scores[0]), begin)

    def _table(self, score: Score) -> TableConfig:
        speed = {"standard": "standard", "rapid": "rapid"}.get(self.pace.name, "blitz")
        return TableConfig(
            id="1",
            game=score.game,
            board=BoardConfig(
                "generic" if self.board.senses == "occupancy" else "dgt",
                options={"eeprom_recovery": True} if self.board.log else {},
            ),
            clock=ClockConfig(),
            regulations=f"{'fmjd' if score.game == 'draughts' else 'fide'}-{speed}",
            time_control=f"{self.pace.base:g}+{self.pace.increment:g}",
        )


def _outage(truth: Truth, rng: Random) -> tuple[float, float]:
    """A cable that is out while one to four plies are made."""
    plies = rng.randint(1, 4)
    first = rng.randrange(4, max(5, len(truth.plies) - plies - 2))
    last = min(first + plies - 1, len(truth.plies) - 1)
    before = truth.plies[first - 1].placed
    off = before + (truth.plies[first].placed - before) * rng.uniform(0.1, 0.9)
    return off, truth.plies[last].placed + rng.uniform(0.2, 2.0)


RAPID_DRAUGHTS = replace(RAPID, name="rapid", base=1200.0, increment=5.0)
NOISY = Habits().noisy(5)
DUMPS = 10.0
"""Seconds between the whole dumps for which the DGT driver asks (`dump_s`)."""

ROWS = (
    Row("chess standard", "100 / 99.8 %", STANDARD),
    Row("chess rapid", "100 / 99.8 %", RAPID),
    Row("chess rapid, noise x5", "100 / 99.8 %", RAPID, habits=NOISY),
    Row("chess blitz", "99.95 / 99.5 %", BLITZ),
    Row(
        "chess blitz, noise x5, lost, misread", "99.5 / 98 %", BLITZ, habits=NOISY,
        board=replace(CLASSIC, lost=0.005, misread=0.002, dump_every=DUMPS),
    ),
    Row(
        "the same, never asked for a dump", "-", BLITZ, habits=NOISY,
        board=replace(CLASSIC, lost=0.005, misread=0.002),
    ),
    Row("chess rapid, takebacks", "99.9 / 99 %", RAPID, takebacks=0.5),
    Row("chess960 rapid", "99.9 / 99 %", RAPID, game=chess960_game, takebacks=0.1),
    Row("five games in a row, blitz", "99.9 / 99 %", BLITZ, takebacks=0.1, evening=5),
    Row("chess scramble", "99.3 / 95 %", SCRAMBLE),
    Row("draughts standard", "100 / 99.8 %", STANDARD, game=draughts_game),
    Row("draughts rapid", "100 / 99.8 %", RAPID_DRAUGHTS, game=draughts_game),
    Row("draughts blitz", "99.9 / 99 %", DRAUGHTS_BLITZ, game=draughts_game),
    Row("draughts problems", "-", DRAUGHTS_BLITZ, game=partial(draughts_game, problems=True), set_up=True),
    Row("occupancy rapid", "99.98 / 99.5 %", RAPID, board=OCCUPANCY),
    Row("occupancy blitz", "99 / 95 %", BLITZ, board=OCCUPANCY),
    Row("cable out, rapid", "99.8 / 97 %", RAPID, board=replace(CLASSIC, log=True), cable_out=True),
    Row("the same, without the board's log", "-", RAPID, cable_out=True),
    Row("whole positions, rapid", "-", RAPID, board=WHOLE),
    Row("whole positions, blitz", "-", BLITZ, board=WHOLE),
    Row("Bluetooth board, blitz", "-", BLITZ, board=replace(CLASSIC, period=0.45)),
)  # fmt: skip


# --- following one game -----------------------------------------------------------------------------------------


@dataclass
class Followed:
    """What a reader made of a trace."""

    published: list[tuple[float, Numbered]] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    """Seconds of processor time per sensor update."""


def follow(reader: Reader, trace: Trace) -> Followed:
    """Feed a trace to a reader, ticking it as its deadlines come."""
    followed = Followed()
    for at, observation in trace.observations:
        _ticks(reader, at, followed)
        begin = time.thread_time()
        events = reader.observe(observation, at)
        if isinstance(observation, FieldUpdate | BoardDump):
            followed.costs.append(time.thread_time() - begin)
        followed.published += [(at, numbered) for numbered in events]
    _ticks(reader, trace.end, followed)
    return followed


def _ticks(reader: Reader, until: float, followed: Followed) -> None:
    """Fire what is due at or before a moment."""
    for _ in range(100_000):
        due = reader.deadline
        if due is None or due > until:
            return
        followed.published += [(due, numbered) for numbered in reader.tick(due)]
    raise RuntimeError(f"the reader's deadline {reader.deadline} does not move on")


@dataclass
class Line:
    """A game as the published events give it."""

    plies: list[str | None] = field(default_factory=list)
    confirmed: set[int] = field(default_factory=set)


def ply_name(move: Move) -> str:
    """What makes a ply itself, as the truth names it."""
    if move.squares:
        return draughts_name(move.squares[0], move.squares[-1], move.captured or ())
    return move.uci or move.notation


def apply(line: Line, event: Event) -> None:
    """Let an event change the game, as any subscriber does."""
    match event:
        case Move(ply=ply):
            del line.plies[ply - 1 :]
            line.plies += [None] * (ply - 1 - len(line.plies))
            line.plies.append(ply_name(event))
        case MoveRetracted(from_ply=ply):
            del line.plies[ply - 1 :]
            line.confirmed -= {n for n in line.confirmed if n >= ply}
        case MoveConfirmed(ply=ply):
            line.confirmed.add(ply)
        case PositionSet(ply=ply):
            del line.plies[ply:]
            line.plies += [None] * (ply - len(line.plies))


# --- judging it -------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    """The figures of one game, and of many when added up."""

    games: int = 0
    perfect: int = 0
    plies: int = 0
    prefix: int = 0
    """Plies right up to the first error."""
    right: int = 0
    """Plies that are right at their number, also after an error."""
    changed: int = 0
    """Confirmed plies later retracted that nobody took back."""
    wrong: int = 0
    results: int = 0
    """Games that showed a result on the board."""
    results_right: int = 0
    shown: int = 0
    """Of the wrong ones: the piece did stand there, because a hand set it down and went on."""
    delays: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    alerts: Counter[str] = field(default_factory=Counter)
    """Alerts and notices that the hands did not deserve."""
    failed: list[int] = field(default_factory=list)

    def add(self, other: Verdict) -> None:
        for name in (
            "games",
            "perfect",
            "plies",
            "prefix",
            "right",
            "changed",
            "wrong",
            "shown",
            "results",
            "results_right",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.delays += other.delays
        self.costs += other.costs
        self.alerts += other.alerts
        self.failed += other.failed


def judge(case: Case, followed: Followed, seed: int) -> Verdict:
    """Compare what was published with what was played."""
    verdict = Verdict(costs=followed.costs)
    flags = [at for at, told in case.trace.observations if isinstance(told, ClockTimes) and told.flags]
    for truth, published in zip(case.performance.games, by_game(case.performance.games, followed), strict=True):
        seen = case.trace.seen if len(case.scores) == 1 else {}
        fallen = next((at for at in flags if truth.started <= at <= truth.ended), None)
        verdict.add(judge_game(truth, published, seen, fallen))
    verdict.failed = [] if verdict.perfect == verdict.games else [seed]
    return verdict


def by_game(games: Sequence[Truth], followed: Followed) -> list[list[tuple[float, Event]]]:
    """The published events of each game that was played.

    A published game belongs to the last one whose clock had been started when it began. So what a reader makes of the
    analysis is held against the game before, and a game closed and opened again in the middle begins anew.
    """
    shares: list[list[tuple[float, Event]]] = [[] for _ in games]
    of_id: dict[str | None, int] = {}
    for at, numbered in followed.published:
        started = max(0, sum(truth.started <= at for truth in games) - 1)
        index = of_id.setdefault(numbered.game_id, started) if numbered.game_id else started
        shares[index].append((at, numbered.event))
    return shares


def judge_game(
    truth: Truth, published: list[tuple[float, Event]], seen: dict[int, float], fallen: float | None = None
) -> Verdict:
    """One game's figures; `fallen` is when a flag fell before its end."""
    names = [ply.name for ply in truth.plies]
    line = Line()
    verdict = Verdict(games=1, plies=len(names))
    passing = {(t.from_ply + i, name) for t in truth.takebacks for i, name in enumerate(t.names)}
    first_right: dict[int, float] = {}
    result: str | None = None
    for at, event in published:
        if isinstance(event, GameStarted):
            line = Line()
        elif isinstance(event, Move):
            name = ply_name(event)
            if event.ply <= len(names) and name in (names[event.ply - 1], truth.plies[event.ply - 1].also):
                first_right.setdefault(event.ply, at)
            elif (event.ply, name) not in passing:
                verdict.wrong += 1
                verdict.shown += _was_shown(truth, name, at)
        elif isinstance(event, MoveRetracted):
            lost = [n for n in line.confirmed if n >= event.from_ply]
            first = min(lost, default=0)
            excused = any(t.played <= at <= _played_on(truth, t) and first >= t.from_ply for t in truth.takebacks)
            verdict.changed += 0 if excused else len(lost)
        elif isinstance(event, GameEnded):
            result = event.result
        elif isinstance(event, Alert):
            raised = event.state == "raised" and event.severity != "info"
            flag = fallen is not None and at >= fallen - 1.0 and event.irregularity in AFTER_FLAG
            if raised and not flag and not deserved(event.irregularity, at, truth):
                verdict.alerts[f"{event.severity} {event.irregularity}"] += 1
        apply(line, event)
    also = {ply.ply: ply.also for ply in truth.plies if ply.also}
    found = [names[n - 1] if n in also and name == also[n] else name for n, name in enumerate(line.plies, 1)]
    verdict.prefix = prefix(found, names)
    verdict.right = sum(a == b for a, b in zip(found, names, strict=False))
    verdict.perfect = int(found == names)
    if truth.shown:
        verdict.results, verdict.results_right = 1, int(result == truth.shown)
    verdict.delays = [max(0.0, first_right[ply] - moment) for ply, moment in seen.items() if ply in first_right]
    return verdict


def _played_on(truth: Truth, takeback: Takeback) -> float:
    """Until when a takeback may be published: play has gone on without what was taken back."""
    reply = min(takeback.from_ply, len(truth.plies) - 1)
    return max(takeback.end, truth.plies[reply].placed) + 10.0


def prefix(found: Sequence[str | None], names: Sequence[str]) -> int:
    """How many plies are right before the first that is not."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(found, names, strict=False)))


def _was_shown(truth: Truth, name: str, at: float) -> bool:
    """Whether a hand had really set the piece down where the wrong ply says."""
    square = name[2:4] if name[:1].isalpha() else name.partition(":")[0].replace("x", "-").partition("-")[2]
    kinds = ("hesitation", "slide", "hover")
    return any(m.kind in kinds and square in m.squares and m.start - 0.1 <= at <= m.end + 1.0 for m in truth.mishaps)


ALWAYS_DESERVED = {
    "threefold", "fivefold", "fifty_moves", "seventy_five_moves", "dead_position", "twenty_five_moves",
    "sixteen_moves", "five_moves", "forced_draw_1_vs_3",
}  # fmt: skip
"""What the game itself brings about."""

DESERVED = {
    "knocked": ("displaced_piece", "piece_removed_without_capture", "extra_piece", "opponent_piece_moved",
                "two_pieces_moved", "illegal_move", "moved_out_of_turn", "captured_piece_not_removed"),
    "forgotten_press": ("wrong_clock_running", "move_without_clock_press"),
    "unpromoted": ("unpromoted_pawn", "promotion_piece_wrong", "illegal_move", "second_illegal_move"),
    "uncrowned": ("uncrowned_man", "uncrowned_king_played", "wrongly_crowned"),
    "victim_late": ("captured_piece_not_removed",),
    "cable_out": ("record_gap",),
}  # fmt: skip
"""Mishap -> irregularities that may be raised while it lasts and for some seconds after."""

AFTER_TAKEBACK = (
    "move_taken_back", "touch_move", "moved_out_of_turn", "wrong_clock_running", "clock_pressed_without_move",
    "both_clocks_stopped", "clock_times_changed", "displaced_piece",
)  # fmt: skip
AFTER_FLAG = ("flag_fall", "flag_fall_opponent_cannot_win", "play_after_flag_fall", "both_clocks_stopped")
AFTER_END = ("flag_fall", "result_missing", "both_clocks_stopped", "clock_running_after_end", "wrong_clock_running")


def deserved(irregularity: str, at: float, truth: Truth) -> bool:
    """Whether something that the hands did is what the alert speaks of."""
    if irregularity in ALWAYS_DESERVED or (at >= truth.ended - 1.0 and irregularity in AFTER_END):
        return True
    if any(t.played <= at <= t.end + 30.0 and irregularity in AFTER_TAKEBACK for t in truth.takebacks):
        return True
    return any(m.start <= at <= m.end + 15.0 and irregularity in DESERVED.get(m.kind, ()) for m in truth.mishaps)


# --- running rows -----------------------------------------------------------------------------------------------


def table_reader(case: Case) -> Reader:
    """The reader of the gateway."""
    table = Table(case.table, "bench", EPOCH)
    if case.begin:
        Arbiter(table).command(case.begin, 0.0)
    return table


def run_one(task: tuple[int, int, bool, bool]) -> tuple[int, Verdict, Verdict]:
    """One game of one row, by both readers."""
    index, seed, own, settle = task
    case = ROWS[index].case(seed)
    mine = judge(case, follow(table_reader(case), case.trace), seed) if own else Verdict()
    theirs = Verdict()
    if settle:
        theirs = max(
            (judge(case, follow(Settle(case.scores[0], wait), case.trace), seed) for wait in WAITS),
            key=lambda verdict: (verdict.prefix, -verdict.wrong),
        )
    return index, mine, theirs


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if of == 0:
        return 0.0, 1.0
    z, p = 1.96, hits / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(hits: int, of: int) -> str:
    """A share with its interval, in percent."""
    if of == 0:
        return "-"
    low, high = wilson(hits, of)
    return f"{100 * hits / of:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def quantile(values: Iterable[float], q: float) -> float:
    """A quantile by nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else 0.0


HEADER = (
    "row", "goal", "games", "plies", "right to first error %", "right %", "perfect %", "confirmed changed",
    "wrong /1000 (of these shown)", "delay ms median p95", "cost ms median p99 max",
    "undeserved alert, notice /100 games", "results %", "settle: plies %, perfect %",
)  # fmt: skip


def cells(row: Row, mine: Verdict, theirs: Verdict) -> list[str]:
    """One line of the table."""
    plies = max(1, mine.plies)
    games = max(1, mine.games)
    alerts = sum(count for name, count in mine.alerts.items() if name.startswith("alert"))
    notices = sum(count for name, count in mine.alerts.items() if name.startswith("notice"))
    return [
        row.name,
        row.goal,
        str(mine.games or theirs.games),
        str(mine.plies or theirs.plies),
        share(mine.prefix, mine.plies),
        share(mine.right, mine.plies),
        share(mine.perfect, mine.games),
        str(mine.changed),
        f"{1000 * mine.wrong / plies:.1f} ({1000 * mine.shown / plies:.1f})",
        f"{1000 * quantile(mine.delays, 0.5):.0f} {1000 * quantile(mine.delays, 0.95):.0f}",
        f"{1000 * quantile(mine.costs, 0.5):.3f} {1000 * quantile(mine.costs, 0.99):.2f} "
        f"{1000 * max(mine.costs, default=0.0):.1f}",
        f"{100 * alerts / games:.1f}, {100 * notices / games:.1f}",
        f"{100 * mine.results_right / mine.results:.1f}" if mine.results else "-",
        f"{100 * theirs.prefix / theirs.plies:.1f}, {100 * theirs.perfect / theirs.games:.1f}" if theirs.games else "-",
    ]


def run(rows: Sequence[int], games: int, first: int, jobs: int, own: bool, settle: bool) -> None:
    """Play the rows and print the table, a line as soon as it is known."""
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER), flush=True)
    notes: list[str] = []
    with ProcessPoolExecutor(jobs) as pool:
        for index in rows:
            mine, theirs = Verdict(), Verdict()
            tasks = [(index, seed, own, settle) for seed in range(first, first + games)]
            for _, one, other in pool.map(run_one, tasks, chunksize=4):
                mine.add(one)
                theirs.add(other)
            print("| " + " | ".join(cells(ROWS[index], mine, theirs)) + " |", flush=True)
            if mine.failed:
                notes.append(f"{ROWS[index].name}: flaws in seeds {sorted(mine.failed)[:20]}")
            if mine.alerts:
                notes.append(f"{ROWS[index].name}: undeserved {dict(mine.alerts.most_common(8))}")
    print("\n" + "\n".join(notes))


# --- looking at one game ----------------------------------------------------------------------------------------


def show(row: Row, seed: int, reader: Callable[[Case], Reader], window: float) -> None:
    """Print truth, sensor changes and published events around the first error of one game."""
    case = row.case(seed)
    followed = follow(reader(case), case.trace)
    shares = by_game(case.performance.games, followed)
    verdicts = [judge_game(t, share, {}) for t, share in zip(case.performance.games, shares, strict=True)]
    number = next((i for i, verdict in enumerate(verdicts) if not verdict.perfect), 0)
    truth, verdict = case.performance.games[number], verdicts[number]
    line = Line()
    for _, event in shares[number]:
        line = Line() if isinstance(event, GameStarted) else line
        apply(line, event)
    names = [ply.name for ply in truth.plies]
    good = prefix(line.plies, names)
    print(f"{row.name} {seed}: {case.scores[number].name}, {len(names)} plies, right until ply {good}, "
          f"wrong {verdict.wrong} (shown {verdict.shown}), confirmed changed {verdict.changed}")  # fmt: skip
    if verdict.perfect:
        print("no flaw at the end")
    middle = truth.plies[good].placed if good < len(names) else truth.ended
    print(f"position before: {truth.plies[good - 1].fen if good else truth.start_fen}")
    print(f"expected {names[good : good + 6]}, published {line.plies[good : good + 6]}")
    lines: list[tuple[float, int, str]] = []
    for change in case.performance.changes():
        what = f"place {change.piece}@{change.square}" if change.piece else f"lift {change.square}"
        lines.append((change.at, 0, f"  hand   {what}" + (f"   (ply {change.ply})" if change.ply else "")))
    for act in case.performance.acts:
        if not hasattr(act, "square"):
            lines.append((act.at, 1, f"  clock  {act}"))
    lines += [(p.placed, 2, f"TRUTH    {p.ply} {p.name}") for p in truth.plies]
    lines += [(m.start, 3, f"TRUTH    {m.kind} {m.squares} until {m.end:.2f}") for m in truth.mishaps]
    for t in truth.takebacks:
        lines.append((t.start, 3, f"TRUTH    takeback {t.names} played {t.played:.2f} until {t.end:.2f}"))
    lines += [(at, 4, f"      sensor {said}") for at, said in case.trace.observations]
    for at, numbered in followed.published:
        lines.append((at, 5, f"            => {numbered.event}"))
    for at, _, text in sorted(lines):
        if middle - window <= at <= middle + window:
            print(f"{at:9.3f} {text}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20, help="games per row")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--only", help="rows whose name begins with this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-settle", action="store_true", help="leave the other reader out")
    parser.add_argument("--settle-only", action="store_true", help="leave our own reader out")
    parser.add_argument("--show", type=int, metavar="SEED", help="print one game around its first error")
    parser.add_argument("--window", type=float, default=6.0, help="seconds before and after, with --show")
    arguments = parser.parse_args()
    wanted = [i for i, row in enumerate(ROWS) if row.name.startswith(arguments.only or "")]
    exact = [i for i in wanted if ROWS[i].name == arguments.only]
    rows = exact or wanted
    if not rows:
        parser.error(f"no row begins with {arguments.only!r}; there are: {', '.join(row.name for row in ROWS)}")
    try:
        if arguments.show is not None:
            reader = (lambda case: Settle(case.scores[0], 0.25)) if arguments.settle_only else table_reader
            show(ROWS[rows[0]], arguments.show, reader, arguments.window)
        else:
            own, settle = not arguments.settle_only, not arguments.no_settle
            run(rows, arguments.games, arguments.first, arguments.jobs, own, settle)
    except NoGamesError as error:
        parser.exit(66, f"{error}\n")


if __name__ == "__main__":
    main()
