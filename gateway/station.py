"""One table with its topics: what goes to journal and broker for each thing that comes in. Pure.

A timer that is due fires first, at its own due time; so the same lines give the same output whenever they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateway.arbiter import Arbiter
from gateway.config import TableConfig
from gateway.events import Command, Numbered, Observation
from gateway.publish import Message, reply_message
from gateway.table import Table
from gateway.topics import Topics


@dataclass(frozen=True, slots=True)
class Resend:
    """Journalled events that somebody asks for again."""

    stream: str
    from_seq: int
    to_seq: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What followed from one observation, command or timer."""

    at: float
    events: list[Numbered] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    """Retained topics that changed."""
    reply: Message | None = None
    resend: Resend | None = None


class Station:
    """One table of the hall, ready to be joined to a port and a broker."""

    def __init__(self, config: TableConfig, gateway: str, root: str = "hall", epoch: float = 0.0) -> None:
        self.table = Table(config, gateway, epoch)
        self.arbiter = Arbiter(self.table)
        self.root = root
        self.topics = Topics(self.table, root)

    @property
    def deadline(self) -> float | None:
        """When `advance` wants to be called, if nothing comes in before."""
        due = [at for at in (self.table.deadline, self.topics.deadline) if at is not None]
        return min(due) if due else None

    def observe(self, observation: Observation, at: float) -> list[Outcome]:
        """A device said something."""
        return [*self.advance(at), self._outcome(at, lambda: self.table.observe(observation, at))]

    def command(self, command: Command, at: float, response_topic: str | None = None) -> list[Outcome]:
        """An arbiter asked for something; the answer is in the last outcome."""
        outcomes = self.advance(at)
        events, reply = self.arbiter.command(command, at)
        resend = None
        # A repeated id is answered alike, and nothing is done: no event follows.
        if command.name == "resend" and reply.ok and events:
            resend = Resend(*(command.arguments[key] for key in ("stream", "from_seq", "to_seq")))
        answer = reply_message(self.root, self.table.config.id, reply, response_topic)
        return [*outcomes, Outcome(at, events, self.topics.changed(at), answer, resend)]

    def advance(self, at: float) -> list[Outcome]:
        """Let every timer fire that is due at or before `at`."""
        outcomes = []
        while (due := self.deadline) is not None and due <= at:
            outcomes.append(self._outcome(due, self._timer(due)))
        return outcomes

    def _timer(self, due: float) -> Callable[[], list[Numbered]]:
        if self.table.deadline is not None and self.table.deadline <= due:
            return lambda: self.table.tick(due)
        return list

    def _outcome(self, at: float, action: Callable[[], list[Numbered]]) -> Outcome:
        events = action()
        return Outcome(at, events, self.topics.changed(at))

    def retained(self) -> list[Message]:
        """All retained topics as last published."""
        return self.topics.all()

    def state(self) -> dict[str, Any]:
        """The whole state as plain JSON values."""
        return {"table": self.table.state(), "replies": self.arbiter.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Undo `state`."""
        self.table.restore(state["table"])
        self.arbiter.restore(state["replies"])
