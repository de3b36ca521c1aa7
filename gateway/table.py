"""One playing table: an observation, a command or the passing of time comes in, numbered events go out.

Everything is decided from the times of the observations; no clock is read. The same calls give the same events, live,
in replay and in tests. Order within one call: what the device's state means (link, clock), then what the board shows
(moves), then what the rules say of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from gateway.clock import Change, Clock, ClockChange, Report
from gateway.config import TableConfig
from gateway.events import (
    OTHER,
    Alert,
    Battery,
    BoardDump,
    BoardLog,
    ClockAbsent,
    ClockChanged,
    ClockTimes,
    CommandDone,
    Event,
    FieldUpdate,
    FrameRejected,
    GameEnded,
    GameStarted,
    Identity,
    LinkChanged,
    LinkState,
    LogEntry,
    Move,
    Numbered,
    Observation,
    Piece,
    Senses,
    Side,
    Square,
    Stream,
)
from gateway.events import Device as DeviceName
from gateway.game import Assignment, Game, Orientation
from gateway.reconstruct.follow import LOG_HOLD
from gateway.reconstruct.missed import Away, missed_changes
from gateway.reconstruct.observed import Observed
from gateway.reconstruct.phase import (
    KingsSignal,
    as_it_stands,
    geometry,
    lies_rotated,
    over,
    start_position,
    upside_down,
)
from gateway.record import GamePosition, Record
from gateway.rules import Situation, Touch
from gateway.rules.watch import Watch
from gateway.time_control import TimeControl

START_REST = 1.0
"""Seconds at rest after which a start position ends the game before it (contract, "Start")."""
NEW_GAME_PLIES = 3
"""Plies from which a start position is a new game rather than a takeback."""
KINGS_REST = 3.0
"""Seconds at rest after which two kings in the centre are a result."""
RESUME_AFTER = 5.0
"""Seconds a clock must run over an unknown position before the game is taken up from it."""
STOP_GRACE = 0.4
"""Seconds after both clocks stopped during which a ply may still arrive."""
LOG_PACE = 0.4
"""Seconds between two changes that a board kept: about a gesture's own pace."""
MADE_BY_POSITION = ("checkmate", "stalemate", "no_moves", "no_pieces")
"""Reasons of an end that go with the position that made it."""
DISMANTLED = 4.0
"""Squares of contradiction at which an awaited start position is given up."""


@dataclass(slots=True)
class Link:
    """Whether a device answers, and since when."""

    state: Literal["up", "down", "unconfigured"] = "down"
    since: float | None = None
    detail: str | None = None


@dataclass(slots=True)
class Device:
    """What is known of the board itself."""

    serial: str | None = None
    battery: int | None = None
    last_frame: float | None = None
    link: Link = field(default_factory=Link)


class Table:
    """One table of the hall.

    Args:
        config: its resolved settings.
        gateway: id of the gateway.
        epoch: wall-clock seconds since 1970 at `at` = 0; stamps are made from it and never go back.
    """

    def __init__(self, config: TableConfig, gateway: str, epoch: float = 0.0) -> None:
        self.config = config
        self.gateway = gateway
        self.epoch = epoch
        self.game_kind = config.game
        self.regulations = config.regulations
        self.time_control = config.time_control
        self.assigned = Assignment()
        self.board = Observed(geometry(config.game))
        self.clock = Clock(config.clock.white_side)
        self.device = Device()
        self.orientation: Orientation | None = None if config.board.orientation == "auto" else config.board.orientation
        self.orientation_fixed = self.orientation is not None
        self.clock.follow_orientation(self.orientation)
        self.clock_link: bool | None = None
        """Whether a clock with a port of its own answers; None: not said yet."""
        self.game: Game | None = None
        """The game in play, or the last one."""
        self.next: Game | None = None
        """A game whose start position stands, and which has not begun."""
        self.watch = Watch()
        self.deadline: float | None = None
        self.stamp = float("-inf")
        self.at = 0.0
        self._out: list[Numbered] = []
        self._touched: list[Touch] = []
        self._ticks: list[ClockChange] = []
        self._report_before: Report | None = None
        self._numbering: dict[Stream, int] = {"public": 0, "arbiter": 0}
        self._game_ids: set[str] = set()
        self._raw: dict[Square, Piece] = {}
        """What the board said last, in its own frame."""
        self._start_since: float | None = None
        self._signal = KingsSignal()
        self._running_since: float | None = None
        self._gap = False
        """The board was away: more may have happened than was seen."""
        self._away: Away | None = None
        """What stood when it went away, until its own log tells what it missed."""
        self._log_read: float | None = None

    # --- what comes in ------------------------------------------------------------------------------------------

    def observe(self, observation: Observation, at: float) -> list[Numbered]:
        """Take what a device said at `at`."""
        return self.step(at, lambda: self._take(observation))

    def tick(self, at: float) -> list[Numbered]:
        """The deadline has come."""
        return self.step(at, lambda: None)

    def step(self, at: float, action: Callable[[], None]) -> list[Numbered]:
        """Let `action` happen at `at`, then let board and rules conclude; return what was emitted."""
        self.at = at
        self.deadline = None
        self._out, self._touched, self._ticks = [], [], []
        self._report_before = self.clock.report
        action()
        self._conclude()
        self.emit_all(self.watch.review(self._situation()))
        self.wake(self.watch.deadline)
        return self._out

    def emit(self, event: Event) -> None:
        """Number what was concluded and hand it out at the end of this call."""
        stream: Stream = "arbiter" if isinstance(event, Alert | CommandDone) else "public"
        self._numbering[stream] += 1
        seq = self._numbering[stream]
        identity = f"{self.gateway}.{self.config.id}.{'a' if stream == 'arbiter' else ''}{seq}"
        if isinstance(event, Alert):
            event = self.watch.numbered(event, identity)
        self._out.append(Numbered(identity, seq, self.stamped(self.at), self.config.id, self.game_id, stream, event))

    def emit_all(self, events: list[Event]) -> None:
        """`emit`, in order."""
        for event in events:
            self.emit(event)

    def wake(self, at: float | None) -> None:
        """Ask for a `tick` at `at`, if no earlier one is due."""
        if at is not None:
            self.deadline = at if self.deadline is None else min(self.deadline, at)

    def _take(self, observation: Observation) -> None:
        if not isinstance(observation, LinkState | FrameRejected):
            self.device.last_frame = self.at
        match observation:
            case FieldUpdate(square, piece):
                self._field(square, piece)
            case BoardDump(pieces):
                self._dump(pieces)
            case ClockTimes():
                self._clock_changes(self.clock.take(observation, self.at, self._control))
                self._lever()
            case ClockAbsent():
                self._clock_changes(self.clock.gone())
            case LinkState(device, up, detail):
                self._link(device, up, detail)
            case Senses(pieces=pieces_known):
                self.board.pieces_known = pieces_known
            case Identity(kind="serial" | "long_serial", text=text):
                self.device.serial = text
            case Battery(percent):
                self.device.battery = percent
            case BoardLog(entries, complete):
                self._log(entries, complete)
            case Identity() | FrameRejected():
                pass

    # --- numbers and stamps -------------------------------------------------------------------------------------

    def stamped(self, at: float) -> float:
        """The wall-clock moment of `at`; never earlier than one given before."""
        self.stamp = max(self.stamp, self.epoch + at)
        return self.stamp

    @property
    def game_id(self) -> str | None:
        return self.game.id if self.game else None

    # --- the board ----------------------------------------------------------------------------------------------

    def _field(self, square: Square, piece: Piece | None) -> None:
        if piece is None:
            self._raw.pop(square, None)
        else:
            self._raw[square] = piece
        seen = self._seen(square)
        was = self.board.piece(self.board.geometry.index[seen])
        if self.board.set(seen, piece, self.at):
            self._touched.append(Touch(self.at, seen, was, piece))
            self._board_changed(reported=self.board.geometry.index[seen])
        elif self.game and self.game.phase == "play":
            self.game.follow.echo(self.board.geometry.index[seen], piece, self.at)

    def _dump(self, pieces: Mapping[Square, Piece]) -> None:
        first = not self.board.known
        self._raw = dict(pieces)
        if self.orientation is None and self.game is not None:
            self._settle_orientation()
        before = self.board.pieces()
        lost = self._gap and not first and self.game is not None and self.game.phase == "play"
        changed = self.board.load(self._as_white_sees(pieces), self.at, unseen=first or lost)
        if not first:
            names = [self.board.geometry.squares[bit] for bit in changed]
            now = self.board.pieces()
            self._touched += [Touch(self.at, name, before.get(name), now.get(name)) for name in names]
        self._gap = False
        if lost and self.game:
            self.game.follow.lost(self.at)
            self._look_for_start()
        elif first or changed:
            self._board_changed()

    def _log(self, entries: tuple[LogEntry, ...], complete: bool) -> None:
        """Changes that the board kept while nobody listened, in their order."""
        changes = [(self._seen(entry.square), entry.piece) for entry in entries if entry.square is not None]
        if complete:
            self._missed(changes)
            return
        begin = self.at if self._log_read is None else self._log_read
        self._log_read = self.at
        self._replay(changes, begin)

    def _missed(self, changes: list[tuple[Square, Piece | None]]) -> None:
        """A whole log: read again what came since the board went away, this time in the order in which it came."""
        away, self._away = self._away, None
        game = self.game if self.game and self.game.phase == "play" else None
        missed = None if away is None else missed_changes(away.pieces, changes)
        if game is None or away is None or missed is None:
            return
        now = self.board.pieces()
        self.board.load(away.pieces, away.since, unseen=True)
        self.emit_all(game.rewind(away.rival, away.since))
        self._replay(missed, away.since)
        # What was reported after the log was written is newer than its end.
        for square in sorted(now.keys() | self.board.pieces().keys()):
            if self.board.set(square, now.get(square), self.at, echo=False):
                self._board_changed()

    def _replay(self, changes: list[tuple[Square, Piece | None]], begin: float) -> None:
        """Take changes whose times are not known: evenly from `begin` on, no slower than hands are."""
        pace = min(LOG_PACE, (self.at - begin) / max(1, len(changes)))
        for number, (square, piece) in enumerate(changes, 1):
            at = begin + pace * number
            was = self.board.piece(self.board.geometry.index[square])
            if self.board.set(square, piece, at):
                self._touched.append(Touch(at, square, was, piece))
                self._board_changed(at)

    def _seen(self, square: Square) -> Square:
        """A square of the board's own frame, as White sees it."""
        return self.board.geometry.turned(square) if self.orientation == "rotated" else square

    def _as_white_sees(self, pieces: Mapping[Square, Piece]) -> dict[Square, Piece]:
        if self.orientation != "rotated":
            return dict(pieces)
        return {self.board.geometry.turned(square): piece for square, piece in pieces.items()}

    def _board_changed(self, at: float | None = None, reported: int | None = None) -> None:
        """What stands is another than before; since `at`, or now."""
        for game in (self.game, self.next):
            if game and game.phase in ("play", "setup"):
                game.follow.changed(self.at if at is None else at, reported)
        self._look_for_start()
        if self.game_kind != "draughts" and self.board.pieces_known:
            self._signal.look(self.board, self.at)

    def turn_board(self, orientation: Orientation | None) -> None:
        """Read the board that way round from now on."""
        was, self.orientation = self.orientation, orientation
        if (was == "rotated") != (orientation == "rotated"):
            self.board.turn()
        self.clock.follow_orientation(orientation)

    def _settle_orientation(self) -> None:
        """A game is in play and the board is first seen: it lies as it differs less; a tie is normal."""
        assert self.game is not None
        rotated = lies_rotated(self.board.geometry, self.game.position.pieces(), self._raw)
        self.turn_board("rotated" if rotated else "normal")

    # --- a game begins ------------------------------------------------------------------------------------------

    def _look_for_start(self) -> None:
        """Note whether a start position stands, and since when."""
        if self.next and self.next.follow.rivals.best.rate >= DISMANTLED:
            self.next = None
        start = self._standing_start()
        if start is None:
            self._start_since = None
            return
        if self._start_since is None:
            self._start_since = self.at
        if self.orientation is None and self.board.pieces_known:
            self.turn_board("normal")
        self._await(start)

    def _standing_start(self) -> GamePosition | None:
        """The start position that stands, either way round while that is not settled by a game in play."""
        if self.assigned.start_fen is None and self.board.occupied.bit_count() not in (32, 40):
            return None
        pieces = self.board.pieces()
        found = start_position(self.game_kind, pieces, self.assigned.start_fen)
        if found is not None or self.orientation_fixed or not self._awaits_start():
            return found
        turned = {self.board.geometry.turned(square): piece for square, piece in pieces.items()}
        found = start_position(self.game_kind, turned, self.assigned.start_fen)
        if found is not None:
            self.turn_board("normal" if self.orientation == "rotated" else "rotated")
        return found

    def _awaits_start(self) -> bool:
        """Whether a start position now would be a new game's, also the other way round."""
        return self.game is None or self.game.phase == "ended" or self.game.record.ply >= NEW_GAME_PLIES

    def _await(self, start: GamePosition) -> None:
        """A start position stands: at once, or once it has settled in the middle of a game, a game may begin."""
        if self.game and self.game.phase == "suspended":
            return
        if self.game and self.game.phase == "play":
            if not (self._start_settled() and self._gives_way(self.game)):
                return
            if self.game.position.placement() == start.placement():
                return  # play itself has come back to it
        if self.next and self.next.follow.rivals.best.rate == 0 and self.next.position.fen() == start.fen():
            return
        self.next = self.new_game(start.fen())

    @staticmethod
    def _gives_way(game: Game) -> bool:
        """Whether a start position ends this game: it was played, or taken up from a start that is now put right, or
        nothing was understood of it, so that no ply taken back explains what stands."""
        ply, unexplained = game.record.ply, game.follow.rivals.best.rate > 0
        return ply >= NEW_GAME_PLIES or (ply == 0 and game.taken_up) or unexplained

    def _start_settled(self) -> bool:
        return self._start_since is not None and self.at >= self.board.last_change + START_REST

    def new_game(self, start_fen: str | None, **counted: Any) -> Game:
        """A game from `start_fen` that has not begun."""
        record = Record(self.game_kind, start_fen, self._tags(), **counted)
        return Game(record, self.board, self.at, self.regulations, self.time_control)

    def _tags(self) -> dict[str, str]:
        named = {
            "Event": self.assigned.event,
            "Round": self.assigned.round,
            "White": self.assigned.white,
            "Black": self.assigned.black,
            "TimeControl": self.time_control,
        }
        return {name: value for name, value in named.items() if value is not None}

    def start(self, game: Game, reason: Literal["start_position", "command", "resumed"]) -> None:
        """`game` begins; one before it that has no result is closed."""
        if self.game and self.game.phase in ("play", "suspended"):
            self.end(GameEnded("*", "set_up_again", None))
        game.assigned, self.assigned = self.assigned, Assignment()
        began = datetime.fromtimestamp(self.stamped(self.at), UTC)
        game.begin(self._new_game_id(began), f"{began:%Y.%m.%d}", timed=self.clock.connected)
        game.taken_up = reason == "resumed"
        self.game, self.next = game, None
        self._signal.shown = self._start_since = None
        self.emit(
            GameStarted(
                game=game.kind,
                start_fen=game.record.start.fen(),
                orientation=self.orientation,
                regulations=self.regulations,
                time_control=self.time_control,
                white=game.assigned.white,
                black=game.assigned.black,
                event=game.assigned.event,
                round=game.assigned.round,
                reason=reason,
            )
        )

    def end(self, ended: GameEnded) -> None:
        """The game in play, or an ended one whose result is superseded, ends so."""
        assert self.game is not None
        self.game.end(ended)
        self.emit(ended)

    def end_again(self) -> None:
        """An ended game was corrected: its end stands as told, or as the position now makes it; or it goes on."""
        game = self.game
        if game is None or game.phase != "ended":
            return
        if game.ended is not None and game.ended.reason not in MADE_BY_POSITION:
            self.end(game.ended)
        elif (ended := game.over()) is not None:
            self.end(ended)
        else:
            game.reopen()

    def start_by_command(self, game: Game, moves: list[str]) -> None:
        """The arbiter starts a game; it needs no board."""
        if self.clock.one_running:
            game.clock_started = self._running_since
        self.start(game, "command")
        self.emit_all(game.told(moves, self.at))
        if self.board.known and not self.orientation_fixed:
            self._settle_orientation()

    def assign(self, values: Mapping[str, Any]) -> None:
        """What the next game is; keys as in the command, already checked."""
        if values["game"] != self.game_kind:
            self.game_kind = values["game"]
            if geometry(self.game_kind) is not self.board.geometry:
                self.board = Observed(geometry(self.game_kind))
                self._raw = {}
        self.regulations = values["regulations"]
        self.time_control = values.get("time_control", self.time_control)
        for field_ in fields(self.assigned):
            if field_.name in values:
                setattr(self.assigned, field_.name, values[field_.name])
        self.next = None
        if self.board.known:
            self._look_for_start()

    def set_orientation(self, value: Literal["auto", "normal", "rotated"]) -> None:
        """The arbiter says how the board lies, or leaves it to be seen."""
        self.orientation_fixed = value != "auto"
        if value != "auto":
            self.turn_board(value)
        if self.board.known:
            self._board_changed()

    def _new_game_id(self, began: datetime) -> str:
        base = f"{self.config.id}-{began:%Y%m%dT%H%M%SZ}"
        name, number = base, 1
        while name in self._game_ids:
            number += 1
            name = f"{base}-{number}"
        self._game_ids.add(name)
        return name

    # --- the clock ----------------------------------------------------------------------------------------------

    def _clock_changes(self, changes: list[ClockChange]) -> None:
        self._ticks += changes
        for change in changes:
            side = change.side
            if change.change in ("started", "connected") and self.clock.one_running:
                self._running_since = self.at
                if self._first_runs() and side is not None:
                    side = OTHER[side]
                if self.next is not None and self.next.untouched:
                    self.next.clock_started = self.at
                    self.start(self.next, "start_position")
            self.emit(self._clock_event(change.change, side))
            self._clock_changed(change.change, side)

    def _lever(self) -> None:
        """The lever was turned although no clock runs."""
        before, report = self._report_before, self.clock.report
        if before is None or report is None or before.lever is None or report.lever in (None, before.lever):
            return
        if before.running == report.running == "none" and self.game and self.game.phase == "play":
            self.game.follow.turned_lever(before.lever, self.at, report.readings)

    def _first_runs(self) -> bool:
        """The first clock that runs in a game is that of the side to move; True if this exchanged the halves."""
        game = self.next if self.next and self.next.untouched else self.game
        if game is None or game.clock_started is not None or game.phase not in ("setup", "play") or not game.untold:
            return False
        return self.clock.first_to_run(game.position.turn)

    def _clock_event(self, change: Change, side: Side | None) -> ClockChanged:
        report = self.clock.report
        white, black = (report.white, report.black) if report else (None, None)
        running = self.clock.one_running or "none"
        return ClockChanged(change, side, white, black, running)

    def _clock_changed(self, change: Change, side: Side | None) -> None:
        """What a change of the clock means to the game."""
        runs = self.clock.one_running
        if not runs:
            self._running_since = None
        game = self.game if self.game and self.game.phase == "play" else self.next
        if game is None:
            return
        follow = game.follow
        follow.timed = self.clock.connected
        follow.rivals.running = self.clock.one_running
        if runs and game.clock_started is None and (game is self.game or change != "pressed"):
            game.clock_started = self.at
        if change == "pressed" and side is not None and self.clock.report is not None:
            follow.pressed(side, self.at, self.clock.report.readings)
        if change == "started":
            follow.started(self.at)
        if change == "stopped":
            follow.withhold_after = self.at + STOP_GRACE
        elif runs or not self.clock.connected:
            follow.withhold_after = None

    # --- links --------------------------------------------------------------------------------------------------

    def _link(self, device: DeviceName, up: bool, detail: str | None) -> None:
        if device == "clock":
            self._clock_link(up, detail)
            return
        link, state = self.device.link, "up" if up else "down"
        link.detail = detail
        if link.state == state:
            return
        self.device.link = Link(state, self.at, detail)  # type: ignore[arg-type]
        self.emit(LinkChanged("board", state, detail))  # type: ignore[arg-type]
        if not up:
            self._gap = self.board.known
            if self.game and self.game.phase == "play":
                self._away = Away(self.at, self.board.pieces(), self.game.follow.rivals.best)
            if self.config.clock.driver == "board":
                self._clock_changes(self.clock.gone())

    def _clock_link(self, up: bool, detail: str | None) -> None:
        """A clock with a port of its own answers, or has stopped."""
        if self.clock_link == up or (self.clock_link is None and not up):
            return
        self.clock_link = up
        self.emit(LinkChanged("clock", "up" if up else "down", detail))
        if not up:
            self._clock_changes(self.clock.gone())

    # --- conclusions --------------------------------------------------------------------------------------------

    def _conclude(self) -> None:
        self._begin_by_ply()
        self._resume()
        self._follow_game()
        self._kings()
        if self._start_since is not None and self.next is None:
            self._wake_for_start()

    def _begin_by_ply(self) -> None:
        """The first ply from a start position begins the game; so does a clock that already runs over it."""
        game = self.next
        if game is None:
            return
        if self.clock.one_running and self.game is None and game.untouched:
            game.clock_started = self.at
            self.start(game, "start_position")
            return
        moves = game.conclude(self.at, self.clock)
        self.wake(game.follow.deadline)
        if any(isinstance(event, Move) for event in moves):
            self.start(game, "start_position")
            self.emit_all(moves)

    def _resume(self) -> None:
        """A clock that runs over a possible position: a game is being played that nobody told of."""
        if self.game or self.next or self._running_since is None or not self.board.known:
            return
        if not self.board.pieces_known or self.board.unknown:
            return
        due = self._running_since + RESUME_AFTER
        if self.at < due:
            self.wake(due)
            return
        if self.orientation is None and upside_down(self.board.pieces()):
            self.turn_board("rotated")
        try:
            position = as_it_stands(self.game_kind, self.board.pieces(), self.clock.running)
        except ValueError:
            return
        if position.fault() is None and over(position) is None:
            game = self.new_game(position.fen())
            game.clock_started = self._running_since
            self.start(game, "resumed")

    def _follow_game(self) -> None:
        game = self.game
        if game is None or game.phase != "play" or (self.next and self._start_settled()):
            return
        self.emit_all(game.conclude(self.at, self.clock))
        self.wake(game.follow.deadline)
        self._give_up_gap(game)
        ended, due = game.ending(self.at)
        self.wake(due)
        if ended:
            self.end(ended)

    def _give_up_gap(self, game: Game) -> None:
        """Nothing explains what stands since the board is back: the record goes on from there."""
        due = game.follow.unexplained_gap
        if due is None or game.follow.gap is None:
            return
        if self._away is not None and self.config.board.options.get("eeprom_recovery"):
            due = max(due, game.follow.gap.since + LOG_HOLD)
        if self.at < due:
            self.wake(due)
            return
        self.emit_all(game.give_up_gap(self.clock, self.at))

    def _wake_for_start(self) -> None:
        due = self.board.last_change + START_REST
        if self.at < due:
            self.wake(due)
        else:
            self._look_for_start()

    # --- a result shown by the kings ----------------------------------------------------------------------------

    def _kings(self) -> None:
        game = self.game
        if self._signal.shown is None or game is None or game.phase not in ("play", "ended"):
            return
        result, since = self._signal.shown
        if game.phase == "ended" and (game.reason != "kings_signal" or game.result == result):
            return
        if self.at < since + KINGS_REST:
            self.wake(since + KINGS_REST)
            return
        if game.phase == "play":
            self.emit_all(game.drop_signal())
        self.end(GameEnded(result, "kings_signal", None))

    # --- what the rules and the topics look at ------------------------------------------------------------------

    @property
    def phase(self) -> str:
        """`setup`, `play`, `suspended` or `ended`, as published."""
        return self.game.phase if self.game else "setup"

    @property
    def _control(self) -> TimeControl:
        """That of the game in play or the last one; without a game the table's."""
        return TimeControl.parse(self.game.time_control if self.game else self.time_control)

    def _situation(self) -> Situation:
        return Situation(
            at=self.at,
            stamp=self.epoch + self.at,
            config=self.config,
            game_kind=self.game_kind,
            regulations=self.regulations,
            time_control=self._control,
            assigned=self.assigned,
            board=self.board,
            clock=self.clock,
            link_up=self.device.link.state == "up",
            orientation=self.orientation,
            game=self.game,
            next=self.next,
            happened=[numbered.event for numbered in self._out],
            touched=self._touched,
            clock_changes=self._ticks,
            report_before=self._report_before,
        )

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The whole state as plain JSON values. Times stay as they are: whoever restores goes on from `at`."""
        return {
            "at": self.at,
            "epoch": self.epoch,
            "stamp": None if self.stamp == float("-inf") else self.stamp,
            "numbering": dict(self._numbering),
            "game_ids": sorted(self._game_ids),
            "game_kind": self.game_kind,
            "regulations": self.regulations,
            "time_control": self.time_control,
            "assigned": asdict(self.assigned),
            "device": asdict(self.device),
            "clock_link": self.clock_link,
            "orientation": self.orientation,
            "orientation_fixed": self.orientation_fixed,
            "raw": self._raw,
            "board": self.board.state(),
            "clock": self.clock.state(),
            "game": self.game and self.game.state(),
            "next": self.next and self.next.state(),
            "watch": self.watch.state(),
            "start_since": self._start_since,
            "signal": self._signal.shown,
            "running_since": self._running_since,
            "gap": self._gap,
            "away": self._away and [self._away.since, dict(self._away.pieces), self._away.rival.depth],
            "log_read": self._log_read,
            "deadline": self.deadline,
        }

    def carry_on(self, state: Mapping[str, Any]) -> None:
        """Of a state that cannot be restored take only that numbers, stamps and ids of games are not used twice."""
        self.at = float(state["at"])
        self.stamp = float("-inf") if state["stamp"] is None else float(state["stamp"])
        self._numbering = {"public": int(state["numbering"]["public"]), "arbiter": int(state["numbering"]["arbiter"])}
        self._game_ids = set(state["game_ids"])

    def restore(self, state: Mapping[str, Any]) -> None:
        """Undo `state`, on a table just made with the same settings. Its epoch stays its own."""
        self.at = state["at"]
        self.stamp = float("-inf") if state["stamp"] is None else state["stamp"]
        self._numbering = dict(state["numbering"])
        self._game_ids = set(state["game_ids"])
        self.game_kind = state["game_kind"]
        self.regulations, self.time_control = state["regulations"], state["time_control"]
        self.assigned = Assignment(**state["assigned"])
        self.device = Device(**{**state["device"], "link": Link(**state["device"]["link"])})
        self.clock_link = state["clock_link"]
        self.orientation, self.orientation_fixed = state["orientation"], state["orientation_fixed"]
        self._raw = dict(state["raw"])
        self.board = Observed(geometry(self.game_kind))
        self.board.restore(state["board"])
        self.clock.restore(state["clock"])
        self.game = state["game"] and Game.restore(state["game"], self.board)
        self.next = state["next"] and Game.restore(state["next"], self.board)
        self.watch.restore(state["watch"])
        self._start_since, self._running_since = state["start_since"], state["running_since"]
        self._signal.shown = state["signal"] and tuple(state["signal"])
        self._gap, self._log_read = state["gap"], state["log_read"]
        if state["away"] and self.game:
            since, pieces, depth = state["away"]
            self._away = Away(since, pieces, self.game.follow.rivals.best.ancestor(depth))
        self.deadline = state["deadline"]
