"""Push to a broadcast of lichess: the whole round as PGN, each time.

`POST /api/broadcast/round/{id}/push`, text/plain, with a token that has the scope `study:write`. The answer tells for
each game its tags and how many moves were read, or an error. Lichess matches games by `GameId`, else by their names, so
a correction is simply the next push. The round must have no source address of its own.

`Schedule` is pure: when to push, and what an answer means. `post` is the one request, and follows no redirect, because
the token would go with it.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, NoReturn

from gateway import __version__

SETTLE_S = 2.0
"""From a change to the push, so that a move and its clock go together."""
EVERY_S = 60.0
"""In full, even if nothing has changed."""
TOO_MANY_S = 60.0
"""What lichess asks for after 429."""
RETRY_S = (5.0, 60.0)
REFUSED_S = 300.0
"""After an answer that only a person can mend: a wrong token, an unknown round."""
MOST_GAMES = 100
"""What lichess reads of one push; the rest is dropped there without a word."""
TIMEOUT_S = 20.0

REMEDIES = {
    401: "the token is not valid; make one with the scope study:write",
    403: "the token's account may not change this round, or lacks the scope study:write",
    404: "lichess knows no such round",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What lichess said; `status` is 0 where nobody answered."""

    status: int
    body: bytes = b""
    reason: str = ""


@dataclass
class Schedule:
    """When one round is pushed."""

    pushed: str | None = None
    """What lichess has."""
    pending: str | None = None
    due: float | None = None
    every: float = 0.0
    """When to push again all the same."""
    not_before: float = 0.0
    pause: float = RETRY_S[0]
    complaints: dict[str, str] = field(default_factory=dict)
    """What is wrong now, by game; `` of the whole."""

    def show(self, text: str, now: float) -> None:
        """This is the round now."""
        if text == self.pending:
            return
        self.pending = text
        if text != self.pushed and self.due is None:
            self.due = now + SETTLE_S

    def ready(self, now: float) -> str | None:
        """What to push now; None: nothing."""
        if self.pending is None or now < self.not_before:
            return None
        again = self.pushed is not None and now >= self.every
        return self.pending if again or (self.due is not None and now >= self.due) else None

    def answered(self, text: str, answer: Answer, now: float) -> list[str]:
        """Take the answer to a push of `text`; return sentences for the log, each only when it is news."""
        complaints: dict[str, str] = {}
        if answer.status == 200:
            self.pushed = text
            self.due = None if self.pending == text else now + SETTLE_S
            self.every, self.pause = now + EVERY_S, RETRY_S[0]
            complaints = _errors(answer.body)
            if "" in complaints:
                self.not_before = now + REFUSED_S
        elif answer.status == 429:
            self.not_before = now + TOO_MANY_S
            complaints[""] = f"too many requests; waits {TOO_MANY_S:.0f} s"
        elif 400 <= answer.status < 500:
            self.not_before = now + REFUSED_S
            complaints[""] = f"refused with {answer.status}: {REMEDIES.get(answer.status) or _said(answer.body)}"
        else:
            self.not_before = now + self.pause
            self.pause = min(self.pause * 2, RETRY_S[1])
            complaints[""] = f"no answer: {answer.reason or answer.status}"
        news = [f"{name}: {text}" if name else text for name, text in complaints.items()]
        news = [
            line for line, name in zip(news, complaints, strict=True) if self.complaints.get(name) != complaints[name]
        ]
        if self.complaints and not complaints:
            news.append("all is well again")
        self.complaints = complaints
        return news


def _errors(body: bytes) -> dict[str, str]:
    """Game, as its players -> what lichess has against it."""
    try:
        games = json.loads(body)["games"]
        found = {}
        for game in games:
            if "error" in game:
                tags = game.get("tags") or {}
                name = f"{tags.get('White', '?')} - {tags.get('Black', '?')}" if tags else ""
                found[name] = str(game["error"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"": f"an answer that cannot be read: {body[:200]!r}"}
    return found


def _said(body: bytes) -> str:
    try:
        said: Any = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        said = body[:200].decode(errors="replace")
    return str(said)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> NoReturn:
        raise urllib.error.HTTPError(req.full_url, code, f"redirected to {newurl}", headers, fp)


_OPEN = urllib.request.build_opener(_NoRedirect).open


def post(url: str, round_id: str, token: str, text: str) -> Answer:
    """Push once; waits for the answer. Never raises for what the network or lichess does."""
    request = urllib.request.Request(
        f"{url}/api/broadcast/round/{round_id}/push",
        data=text.encode(),
        method="POST",
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "text/plain; charset=utf-8",
            "User-Agent": f"board-gateway/{__version__}",
        },
    )
    try:
        with _OPEN(request, timeout=TIMEOUT_S) as response:
            return Answer(response.status, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(2000), str(error.reason))
    except OSError as error:
        return Answer(0, reason=str(getattr(error, "reason", None) or error))
