"""Alerts over time: what the rules find becomes an alert once it has held, and one cause is one alert.

::

    pending --held for the debounce--> open --gone for CLEAR_REST, or undone--> cleared
                                       open --the arbiter has dealt with it--> acknowledged, silent until it has gone

A finding of severity `info` is told once and is never open. What is found again within `CLEAR_REST` has not been away,
so nothing flaps. A finding about a completed act need not be given again: it stays until it is undone (see `Undone`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from gateway.catalogue import CATALOGUE, Fact, Severity
from gateway.config import Effective, effective
from gateway.errors import UsageError
from gateway.events import OTHER, Alert, CommandDone, Event, GameEnded, GameKind, GameStarted, Side
from gateway.game import Game
from gateway.publish import rfc3339
from gateway.record import position_from_fen
from gateway.rules import Finding, Remembers, Rule, Situation, Undone, Wake, shown
from gateway.rules.families import RULES, SEQUELS, News, unmoved
from gateway.rules.history import History
from gateway.rules.recorded import Recorded, node_of_fen
from gateway.rules.sequels import ILLEGAL, ILLEGAL_IF_UPHELD

CLEAR_REST = 1.0
"""Seconds for which a cause must be gone before its alert is cleared."""
CORRECTED_WITHIN = 60.0
"""Seconds after an alert has closed, as the pieces were put back, in which a correction of the game speaks of it."""
UPDATE_EVERY = 5.0
"""Seconds between two updates of one alert."""
REMEMBERED = 100
"""Alerts of a game that other rules may ask for, and that the arbiter may still rule on."""
CAPTURE_BEFORE = 10.0
"""Seconds of the capture before the cause that are worth replaying."""

AFTER_THE_END = ("end", "after_game")

Phase = Literal["pending", "open", "told", "acknowledged"]

COVERS: Mapping[str, tuple[str, ...]] = {
    "board_rotated": ("start_position_wrong", "displaced_piece", "illegal_move"),
    "start_position_wrong": ("displaced_piece", "extra_piece", "piece_removed_without_capture"),
    "resumption_wrong": (
        "displaced_piece",
        "extra_piece",
        "piece_removed_without_capture",
        "opponent_piece_moved",
        "clock_times_changed",
    ),
    "sealed_move_mismatch": ("illegal_move", "moved_out_of_turn"),
    "kings_result_signal": ("displaced_piece", "illegal_move", "two_pieces_moved"),
    "result_missing": ("displaced_piece", "extra_piece", "piece_removed_without_capture"),
    "record_gap": ("displaced_piece", "extra_piece", "piece_removed_without_capture", "opponent_piece_moved"),
    "clock_position_changed": ("wrong_clock_running", "clock_pressed_without_move"),
    "clock_pressed_without_move": ("wrong_clock_running", "move_without_clock_press"),
    "both_clocks_running": ("clock_defect",),
}
"""One cause may be seen as several kinds: while the first is found or open, the others of its line are not raised."""

Name = tuple[str, str, Side | None]
"""Kind, key and side: what makes two findings the same cause."""


@dataclass(slots=True)
class Case:
    """One cause, from its first finding until it has gone."""

    finding: Finding
    phase: Phase = "pending"
    severity: Severity = "info"
    raised_at: float = 0.0
    since: float = 0.0
    """The wall clock when it began, seconds since 1970."""
    ply: int | None = None
    alert_id: str | None = None
    message: str = ""
    evidence: Mapping[str, Any] | None = None
    updated_at: float = 0.0
    gone_since: float | None = None

    @property
    def name(self) -> Name:
        return self.finding.kind, self.finding.key, self.finding.side


@dataclass(slots=True)
class Past:
    """An alert of this game, kept for rulings and for rules that look at other alerts (`Told`)."""

    name: Name
    ply: int | None
    at: float
    message: str
    facts: dict[str, Fact]
    open: bool
    alert_id: str | None = None
    ruling: str | None = None
    acknowledged: bool = False
    corrected: bool = False
    """The arbiter corrected the game or gave time for it."""
    closed_at: float | None = None
    noted: bool = False
    """It is an `info`."""

    @property
    def counts(self) -> bool:
        """Whether it stands counted against the player: see `Told.counts`."""
        if self.ruling is not None:
            return self.ruling == "upheld"
        return (self.acknowledged or self.corrected) and self.name[0] not in ILLEGAL_IF_UPHELD

    @property
    def kind(self) -> str:
        return self.name[0]

    @property
    def key(self) -> str:
        return self.name[1]

    @property
    def side(self) -> Side | None:
        return self.name[2]


class Watch:
    """The alerts of one table."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        self.history = History()
        self._rules = [make() for make in RULES]
        self._sequels = [make() for make in SEQUELS]
        self._remembering = {type(rule).__name__: rule for rule in self._all() if isinstance(rule, Remembers)}
        self._cases: dict[Name, Case] = {}
        self._past: list[Past] = []
        self._recorded: Recorded | None = None
        self._wanted: dict[tuple[GameKind, str], tuple[list[Rule], list[Rule]]] = {}
        """Rules and sequels of which any kind is wanted, by game and regulations."""
        self._answers: dict[Rule, list[Finding | Wake]] = {}
        """What each rule said when it looked last."""
        self._concerned: dict[tuple[int, News], list[Rule]] = {}
        """Of the lists in `_wanted`, by identity, the rules that some news concerns."""
        self._phase: str | None = None
        self._told_anew = False
        self._unnumbered: deque[tuple[Case, Past]] = deque()
        self._ply: int | None = None
        self._regulations = ""

    # --- what happened ------------------------------------------------------------------------------------------

    def review(self, seen: Situation) -> list[Event]:
        """Look at the present situation."""
        self.deadline = None
        self._ply = seen.game.record.ply if seen.game and seen.game.phase != "setup" else None
        self._regulations = seen.in_force
        news = self._news(seen)
        self.history.note(seen)
        seen.history = self.history
        events = self._turn_the_page(seen)
        events += self._note_commands(seen)
        found: set[Name] = set()
        for rules in self._wanted_for(seen):
            seen.told = self._past
            events += self._found(rules, seen, news, found)
            if self._told_anew:
                news |= News.TOLD
        events += self._let_go(seen, found)
        return events

    def _news(self, seen: Situation) -> News:
        """What has changed since the last step; everything may have if nothing is known to."""
        news = News(0)
        if seen.touched:
            news |= News.BOARD
        if seen.clock_changes or seen.clock.report is not seen.report_before:
            news |= News.CLOCK
        game, phase = seen.game, seen.game.phase if seen.game else None
        if game is None or self._recorded is None or not self._recorded.holds(game.record):
            self._recorded = Recorded(game.record) if game else None
            news |= News.RECORD
        if seen.happened or phase != self._phase:
            news |= News.RECORD
        if self._told_anew:
            news |= News.TOLD
        self._phase, self._told_anew = phase, False
        seen.recorded = self._recorded
        return news or ~News(0)

    def _wanted_for(self, seen: Situation) -> tuple[list[Rule], list[Rule]]:
        game = seen.game.kind if seen.game else seen.game_kind
        name = game, seen.in_force
        if name not in self._wanted:
            rules, sequels = (
                [rule for rule in rules if any(_effective(kind, seen).enabled for kind in rule.kinds)]
                for rules in (self._rules, self._sequels)
            )
            self._wanted[name] = rules, sequels
        return self._wanted[name]

    def _found(self, rules: Sequence[Rule], seen: Situation, news: News, found: set[Name]) -> list[Event]:
        """Let `rules` look, and weigh what they find; add its names to `found`."""
        cases: list[Case] = []
        answers = self._answers
        for rule in self._moved(rules, news):
            answers[rule] = list(rule.look(seen))
        for rule in rules:
            if rule not in answers:
                answers[rule] = list(rule.look(seen))
            for finding in answers[rule]:
                if isinstance(finding, Wake):
                    self._wake(finding.at)
                elif self._observable(finding, seen):
                    cases.append(self._case(finding))
        found |= {case.name for case in cases}
        kinds = {case.finding.kind for case in self._cases.values() if case.phase != "pending" or case.name in found}
        return [event for case in cases for event in self._weigh(case, seen, kinds)]

    def _moved(self, rules: Sequence[Rule], news: News) -> Sequence[Rule]:
        """Those of `rules` that such news concerns."""
        name = id(rules), news
        if name not in self._concerned:
            keep = unmoved(news)
            self._concerned[name] = [rule for rule in rules if type(rule) not in keep]
        return self._concerned[name]

    def _turn_the_page(self, seen: Situation) -> list[Event]:
        """With the end of a game its alerts end, except those about the end."""
        events: list[Event] = []
        for event in seen.happened:
            if isinstance(event, GameEnded):
                for case in self._cases.values():
                    if case.phase == "open" and not set(CATALOGUE[case.finding.kind].phases) & set(AFTER_THE_END):
                        events.append(self._clear(case, seen))
                        # What caused it may still be seen, and is no news.
                        case.phase, case.finding = "acknowledged", replace(case.finding, undone=None)
            elif isinstance(event, GameStarted):
                # What was wrong before the start, and still is, is this game's.
                self._past = [past for past in self._past if past.open]
        return events

    def _note_commands(self, seen: Situation) -> list[Event]:
        """A game that the arbiter has corrected: what was wrong with it is settled, and counts."""
        events: list[Event] = []
        for event in seen.happened:
            if isinstance(event, CommandDone) and event.ok and event.command in ("correct", "set_position"):
                for past in self._past:
                    just_closed = past.closed_at is not None and seen.at - past.closed_at <= CORRECTED_WITHIN
                    past.corrected |= past.open or just_closed
                for case in list(self._cases.values()):
                    if case.finding.undone is not None:
                        events += self._close(case, seen)
        return events

    def _observable(self, finding: Finding, seen: Situation) -> bool:
        """Whether the kind is wanted here, and the board can witness it."""
        kind = CATALOGUE[finding.kind]
        if kind.occupancy_only == "none" and not seen.board.pieces_known:
            return False
        return _effective(finding.kind, seen).enabled

    # --- one cause ----------------------------------------------------------------------------------------------

    def _case(self, finding: Finding) -> Case:
        name = finding.kind, finding.key, finding.side
        case = self._cases.get(name)
        if case is None:
            case = self._cases[name] = Case(finding)
        case.finding = finding
        case.gone_since = None
        return case

    def _weigh(self, case: Case, seen: Situation, kinds: set[str]) -> list[Event]:
        """Raise what has held long enough; say what has changed."""
        finding, settings = case.finding, _effective(case.finding.kind, seen)
        if case.phase == "pending":
            due = finding.since + (settings.debounce_s if finding.wait is None else finding.wait)
            if seen.at < due:
                self._wake(due)
                return []
            if any(finding.kind in COVERS.get(kind, ()) for kind in kinds):
                return []
            if finding.undone is not None and seen.game is not None and _put_right(finding.undone, seen.game, seen):
                return []
            return [self._raise(case, finding.severity or settings.severity, seen)]
        if case.phase != "open":
            return []
        message, evidence = self._message(finding, seen), self._evidence(finding, seen)
        graver = finding.severity or case.severity
        same = message == case.message and evidence.get("squares") == (case.evidence or {}).get("squares")
        if same and graver == case.severity:
            return []
        if graver == case.severity and seen.at < case.updated_at + UPDATE_EVERY:
            self._wake(case.updated_at + UPDATE_EVERY)
            return []
        if case.evidence and "attended_by" in case.evidence:
            evidence = {**evidence, "attended_by": case.evidence["attended_by"]}
        case.message, case.evidence, case.updated_at, case.severity = message, evidence, seen.at, graver
        return [self._alert(case, "updated", seen.in_force)]

    def _raise(self, case: Case, severity: Severity, seen: Situation) -> Alert:
        finding = case.finding
        self._told_anew = True
        case.phase = "told" if severity == "info" else "open"
        case.severity = severity
        case.raised_at = case.updated_at = seen.at
        case.since = seen.stamp - max(0.0, seen.at - finding.since)
        case.ply = self._ply
        case.message, case.evidence = self._message(finding, seen), self._evidence(finding, seen)
        noted = severity == "info"
        past = Past(case.name, case.ply, seen.at, case.message, dict(finding.facts), open=not noted, noted=noted)
        self._past.append(past)
        del self._past[:-REMEMBERED]
        self._unnumbered.append((case, past))
        if finding.kind == "arbiter_time_adjusted" and finding.side is not None:
            self._count_for(OTHER[finding.side])
        return self._alert(case, "raised", seen.in_force)

    def _count_for(self, side: Side) -> None:
        """The opponent was given time: the last fault of `side` was dealt with."""
        for past in reversed(self._past):
            if past.name[2] == side and past.name[0] in ILLEGAL:
                past.corrected = True
                return

    def _let_go(self, seen: Situation, found: set[Name]) -> list[Event]:
        """Forget what has not been found; clear what has been gone for a while or was undone."""
        events: list[Event] = []
        for case in list(self._cases.values()):
            undone = case.finding.undone if case.phase in ("open", "acknowledged") else None
            if undone is not None and _is_undone(case, undone, seen):
                events += self._close(case, seen)
            elif (
                case.name in found
                or (undone is not None and seen.differing)
                or _out_of_sight(case, seen)
                or self._told_soon(case)
            ):
                case.gone_since = None
            elif case.phase == "pending":
                del self._cases[case.name]
            else:
                if case.gone_since is None:
                    case.gone_since = seen.at
                if seen.at >= case.gone_since + CLEAR_REST:
                    events += self._close(case, seen)
                else:
                    self._wake(case.gone_since + CLEAR_REST)
        return events

    def _told_soon(self, case: Case) -> bool:
        """Whether all that an open alert tells of the board is part of something else that has still to be told."""
        squares = _squares(case)
        return (
            case.phase == "open"
            and bool(squares)
            and any(other.phase == "pending" and squares <= _squares(other) for other in self._cases.values())
        )

    def _close(self, case: Case, seen: Situation) -> list[Event]:
        del self._cases[case.name]
        return [self._clear(case, seen)] if case.phase == "open" else []

    def _clear(self, case: Case, seen: Situation) -> Alert:
        self._told_anew = True
        for past in self._past:
            if past.alert_id == case.alert_id:
                past.open, past.closed_at = False, seen.at
        return self._alert(case, "cleared", seen.in_force)

    def _wake(self, at: float) -> None:
        self.deadline = at if self.deadline is None else min(self.deadline, at)

    # --- what is said -------------------------------------------------------------------------------------------

    def _message(self, finding: Finding, seen: Situation) -> str:
        return CATALOGUE[finding.kind].sentence(seen.config.id, finding.side, **finding.facts)

    def _evidence(self, finding: Finding, seen: Situation) -> Mapping[str, Any]:
        report = seen.clock.report if seen.clock.connected else None
        readings = report and {"white": report.white, "black": report.black, "running": report.running}
        capture = [round(max(0.0, finding.since - CAPTURE_BEFORE), 3), round(seen.at, 3)]
        evidence = {"readings": readings, "t": capture, **finding.evidence}
        if "squares" in evidence:
            evidence["squares"] = shown(map(str, evidence["squares"]))
        return evidence

    def _alert(
        self, case: Case, state: Literal["raised", "updated", "cleared", "acknowledged"], regulations: str
    ) -> Alert:
        return Alert(
            alert_id=case.alert_id,
            irregularity=case.finding.kind,
            state=state,
            severity=case.severity,
            side=case.finding.side,
            ply=case.ply,
            articles=CATALOGUE[case.finding.kind].articles_under(regulations),
            message=case.message,
            evidence=case.evidence or {},
        )

    def numbered(self, alert: Alert, identity: str) -> Alert:
        """The alert with its id: that of the event that raised it."""
        if alert.alert_id is not None or not self._unnumbered:
            return alert
        case, past = self._unnumbered.popleft()
        case.alert_id = past.alert_id = identity
        return replace(alert, alert_id=identity)

    # --- what the arbiter says ----------------------------------------------------------------------------------

    def acknowledge(
        self,
        alert_id: str | None,
        irregularity: str | None,
        *,
        ruling: str | None,
        note: str | None,
        by: str | None,
        at: float,
    ) -> list[Event]:
        """The arbiter has dealt with an alert.

        A ruling is also taken on an alert of this game that is no longer open or never was, such as a move that stands
        by the reply; that tells nobody anything new, and no event follows but the command's own.

        Raises:
            UsageError: there is no such alert.
        """
        case = self._open(alert_id, irregularity)
        past = self._told(case.alert_id if case else alert_id, irregularity)
        if case is None and (past is None or ruling is None):
            raise UsageError(f"there is no open alert {alert_id or irregularity}")
        if past is not None:
            past.ruling, past.acknowledged = ruling or past.ruling, True
            if past.open:
                past.open, past.closed_at = False, at
        if case is None:
            return []
        case.phase = "acknowledged"
        case.evidence = {**(case.evidence or {}), "ruling": ruling, "note": note, "by": by}
        return [self._alert(case, "acknowledged", self._regulations)]

    def attend(self, alert_id: str, *, by: str | None, at: float) -> list[Event]:
        """An arbiter is on the way to an alert.

        Raises:
            UsageError: there is no such alert.
        """
        case = self._open(alert_id, None)
        if case is None:
            raise UsageError(f"there is no open alert {alert_id}")
        case.updated_at = at
        case.evidence = {**(case.evidence or {}), "attended_by": by}
        return [self._alert(case, "updated", self._regulations)]

    def _open(self, alert_id: str | None, irregularity: str | None) -> Case | None:
        """The open alert of that id, or the newest of that kind."""
        fitting = [
            case
            for case in self._cases.values()
            if case.phase == "open"
            and (case.alert_id == alert_id if alert_id is not None else case.finding.kind == irregularity)
        ]
        return max(fitting, key=lambda case: case.raised_at, default=None)

    def _told(self, alert_id: str | None, irregularity: str | None) -> Past | None:
        for past in reversed(self._past):
            if past.alert_id == alert_id if alert_id is not None else past.name[0] == irregularity:
                return past
        return None

    def open_alerts(self) -> list[dict[str, Any]]:
        """Open alerts of severity notice and alert, as the `alerts` topic lists them, oldest first."""
        return [
            {
                "alert_id": case.alert_id,
                "irregularity": case.finding.kind,
                "severity": case.severity,
                "side": case.finding.side,
                "ply": case.ply,
                "since": rfc3339(case.since),
                "articles": list(CATALOGUE[case.finding.kind].articles_under(self._regulations)),
                "message": case.message,
                "evidence": case.evidence,
            }
            for case in sorted(self._cases.values(), key=lambda case: case.raised_at)
            if case.phase == "open"
        ]

    # --- across a restart ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "history": self.history.state(),
            "rules": {name: rule.state() for name, rule in self._remembering.items()},
            "cases": [_plain_case(case) for case in self._cases.values()],
            "past": [asdict(past) for past in self._past],
            "ply": self._ply,
            "regulations": self._regulations,
            "deadline": self.deadline,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Undo `state`."""
        self.history.restore(state["history"])
        for name, rule in self._remembering.items():
            if name in state["rules"]:
                rule.restore(state["rules"][name])
        cases = [_case(plain) for plain in state["cases"]]
        self._cases = {case.name: case for case in cases}
        self._past = [Past(**{**plain, "name": _name(plain["name"])}) for plain in state["past"]]
        self._ply, self._regulations, self.deadline = state["ply"], state["regulations"], state["deadline"]

    def _all(self) -> list[Rule]:
        return [*self._rules, *self._sequels]


def _effective(kind: str, seen: Situation) -> Effective:
    """The settings of a kind here and now."""
    return effective(CATALOGUE[kind], seen.config.rules, seen.game.kind if seen.game else seen.game_kind, seen.in_force)


def _squares(case: Case) -> set[str]:
    return set(map(str, case.finding.evidence.get("squares", ())))


def _out_of_sight(case: Case, seen: Situation) -> bool:
    """Whether the board is silent, and nobody can tell that what was told of its squares has gone."""
    return case.phase != "pending" and not seen.link_up and "squares" in case.finding.evidence


def _is_undone(case: Case, undone: Undone, seen: Situation) -> bool:
    """Whether the completed act has been put right, taken off the record, or accepted."""
    if seen.game is None:
        return True
    record = seen.record
    if _put_right(undone, seen.game, seen):
        return True
    if case.ply is not None and case.ply > undone.ply >= record.ply:
        return True
    if not undone.by_reply:
        return False
    mover = case.finding.side or position_from_fen(seen.game.kind, undone.fen).turn
    return any(entry.ply > undone.ply and entry.move.side != mover for entry in record.entries)


def _put_right(undone: Undone, game: Game, seen: Situation) -> bool:
    """Whether the position before the act stands on the board."""
    return not node_of_fen(game.kind, undone.fen).difference(seen.board)


def _plain_case(case: Case) -> dict[str, Any]:
    plain = asdict(case)
    plain["finding"]["facts"] = dict(case.finding.facts)
    plain["finding"]["evidence"] = dict(case.finding.evidence)
    return plain


def _case(plain: Mapping[str, Any]) -> Case:
    found = dict(plain["finding"])
    if found["undone"] is not None:
        found["undone"] = Undone(**found["undone"])
    return Case(**{**plain, "finding": Finding(**found)})


def _name(plain: list[Any]) -> Name:
    kind, key, side = plain
    return kind, key, side
