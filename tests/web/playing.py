"""A hall in real time: captures and simulated games through the gateway's own code into a real broker.

What a table's devices say comes from a capture; what becomes of it is `gateway.replay`'s business, and commands that
arrive from the broker go the same way. Only ports, journal and daemon are left out.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import chess
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from gateway import capture, draughts
from gateway.config import BoardConfig, ClockConfig, TableConfig
from gateway.publish import VERSION, encode, event_message, rfc3339
from gateway.registry import DRIVERS
from gateway.replay import Player
from gateway.simulate.captures import entries
from gateway.simulate.clock import ClockModel
from gateway.simulate.device import CLASSIC, Board
from gateway.simulate.habits import BLITZ, DRAUGHTS_BLITZ, TIDY
from gateway.simulate.score import Score, chess_score, draughts_score
from gateway.simulate.session import Evening, Manners
from gateway.station import Outcome

STEP_S = 0.02

GAMES = (
    "e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8 Bxf4 "
    "Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 Nxg7+ Kd8 Qf6+ Nxf6 Be7#",
    "e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4 exd4 O-O d3 Qb3 Qf6 e5 Qg6 Re1 Nge7 Ba3 b5 Qxb5 Rb8 Qa4 Bb6 Nbd2 Bb7 Ne4 "
    "Qf5 Bxd3 Qh5 Nf6+ gxf6 exf6 Rg8 Rad1 Qxf3 Rxe7+ Nxe7 Qxd7+ Kxd7 Bf5+ Ke8 Bd7+ Kf8 Bxe7#",
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O Nf3 Nbd7 Rc1 c6 Bd3 dxc4 Bxc4 Nd5 Bxe7 Qxe7 O-O Nxc3 Rxc3 e5 dxe5 Nxe5 Nxe5 "
    "Qxe5 f4 Qe4 Qe2 Bf5 Bd3 Qd5 e4 Qd4+ Kh1 Rfe8 Rc4 Qb6 exf5 Rxe2 Bxe2 Re8 Bd3",
    "c4 e6 Nf3 d5 d4 Nf6 Nc3 Be7 Bg5 O-O e3 h6 Bh4 b6 cxd5 Nxd5 Bxe7 Qxe7 Nxd5 exd5 Rc1 Be6 Qa4 c5 Qa3 Rc8 Bb5 a6 dxc5 "
    "bxc5 O-O Ra7 Be2 Nd7 Nd4 Qf8 Nxe6 fxe6 e4 d4 f4 Qe7 e5 Rb8 Bc4 Kh8 Qh3 Nf8 b3 a5 f5 exf5 Rxf5 Nh7",
)
"""Anderssen twice, Capablanca, Fischer: boards that look like chess."""

NAMES = (
    "Bakker",
    "Visser",
    "Okafor",
    "Lindqvist",
    "Moreau",
    "Haddad",
    "Novak",
    "Silva",
    "Tanaka",
    "Weber",
    "Rossi",
    "Kaya",
)


@dataclass
class Seat:
    """One table: what its devices will say, and where it is."""

    id: str
    source: capture.Reader | None
    lines: list[capture.Entry]
    header: capture.CaptureHeader
    begin: float
    """Seconds of the capture that lie behind when the hall opens."""
    white: str = ""
    black: str = ""


def seat_of_capture(table: str, path: Path | io.BytesIO, gateway: str, begin: float = 0.0) -> Seat:
    """A table that plays a capture."""
    reader = capture.Reader(path, DRIVERS, lambda number, problem: None)
    header = replace(reader.header, gateway=gateway, table=replace(reader.header.table, id=table))
    return Seat(table, reader, [entry for _, entry in reader], header, begin)


def seat_of_case(table: str, built: Sequence[dict[str, Any]], gateway: str, begin: float = 0.0) -> Seat:
    """A table that plays a case of the rules reference, as its converter builds it."""
    data = "".join(json.dumps(line) + "\n" for line in built).encode()
    return seat_of_capture(table, io.BytesIO(data), gateway, begin)


def chess_game(moves: str) -> Score:
    """A score from SAN."""
    board = chess.Board()
    return chess_score(chess.Board(), [board.push_san(san) for san in moves.split()], (), "*", "game")


def draughts_game(seed: int, plies: int = 70) -> Score:
    """A legal game by chance, with captures as they come."""
    chance = Random(seed)
    position, played = draughts.Position.start(), []
    while len(played) < plies and (legal := position.legal_plies()):
        played.append(chance.choice(legal))
        position = position.after(played[-1])
    return draughts_score(draughts.Position.start(), played)


def simulated_seat(number: int, gateway: str, begin: float, draughts_too: bool = True) -> Seat:
    """A table where people play blitz, one game after the other."""
    chance = Random(number)
    is_draughts = draughts_too and number % 6 == 4
    game, pace = ("draughts", DRAUGHTS_BLITZ) if is_draughts else ("chess", BLITZ)
    scores = [
        draughts_game(number + n) if is_draughts else chess_game(GAMES[(number + n) % len(GAMES)]) for n in range(4)
    ]
    performance = Evening(scores, pace, TIDY, chance, Manners(analysis=0)).perform()
    trace = Board(CLASSIC, performance, scores[0].game, chance).trace(ClockModel(pace.base, pace.increment, True))
    regulations = "fmjd-blitz" if is_draughts else "fide-blitz"
    control = f"{pace.base:g}+{pace.increment:g}"
    table = TableConfig(str(number), scores[0].game, BoardConfig("dgt"), ClockConfig(), regulations, control)
    assert game == table.game
    header = capture.CaptureHeader(0.0, gateway, table)
    white, black = NAMES[number % len(NAMES)], NAMES[(number * 5 + 3) % len(NAMES)]
    return Seat(str(number), None, list(entries(table, trace)), header, begin, white, black)


class Hall(threading.Thread):
    """Plays seats in real time until it is stopped; answers commands."""

    def __init__(self, port: int, seats: Iterable[Seat], gateway: str = "pi-a", root: str = "hall") -> None:
        super().__init__(daemon=True)
        self.gateway, self.root = gateway, root
        self.seats = {seat.id: seat for seat in seats}
        self.quiet = threading.Event()
        """Set: the gateway hangs; nothing is played or answered, the connection stays."""
        self.answering = True
        self.commands: list[dict[str, Any]] = []
        self.said = 0
        """Messages published."""
        self._ended = threading.Event()
        self._incoming: list[tuple[str, bytes]] = []
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id=f"gateway-{gateway}", protocol=paho.MQTTv5)
        self._client.will_set(self._status_topic, self._status("offline"), 1, True)
        self._client.on_message = lambda client, data, message: self._incoming.append((message.topic, message.payload))
        self._client.max_queued_messages_set(0)
        self._client.connect("127.0.0.1", port, keepalive=5, clean_start=True)
        self._client.loop_start()
        for seat in self.seats:
            self._client.subscribe(f"{root}/arbiter/{seat}/command", 1)
        self._players: dict[str, Player] = {}
        self._places: dict[str, int] = {}

    # --- what the hall is told --------------------------------------------------------------------------------------

    @property
    def _status_topic(self) -> str:
        return f"{self.root}/gateway/{self.gateway}/status"

    def _status(self, state: str) -> bytes:
        return encode({"v": VERSION, "state": state, "version": "0", "since": rfc3339(time.time())})

    def say(self, topic: str, payload: Any, retain: bool = True) -> None:
        """Publish, for tests that need a message of their own."""
        data = payload if isinstance(payload, bytes | str) else encode(payload)
        self._client.publish(f"{self.root}/{topic}", data, 1, retain)

    def open(self) -> None:
        """Everything that lies behind, at once; then the retained state, then real time from now on."""
        started = time.time()
        self._client.publish(self._status_topic, self._status("online"), 1, True)
        self._health()
        for seat in self.seats.values():
            header = replace(seat.header, started=started - seat.begin)
            player = self._players[seat.id] = Player(header)
            if seat.white:
                assign = {"command": "assign", "white": seat.white, "black": seat.black, "round": "3"}
                player.play(capture.CommandLine(0.0, assign))
            place = 0
            while place < len(seat.lines) and seat.lines[place].t <= seat.begin:
                player.play(seat.lines[place])
                place += 1
            player.play(capture.Tx(seat.begin, "board", b"", None))
            self._places[seat.id] = place
            for message in player._station.retained():
                self._client.publish(message.topic, message.payload, 1, message.retain)
        self.opened_at = started
        self.start()

    def run(self) -> None:
        health = time.monotonic()
        while not self._ended.wait(STEP_S):
            if self.quiet.is_set():
                continue
            self._take_commands()
            for seat in self.seats.values():
                self._advance(seat)
            if time.monotonic() - health > 10:
                health = time.monotonic()
                self._health()

    def close(self, cleanly: bool = True) -> None:
        """Stop; cleanly with a last word, else as a power cut does."""
        self._ended.set()
        self.join(timeout=5)
        if cleanly:
            self._client.publish(self._status_topic, self._status("offline"), 1, True).wait_for_publish(2)
        else:
            self._client._sock_close()
        self.leave()

    def leave(self) -> None:
        """Stop, whether or not there still is a broker."""
        self._ended.set()
        self.join(timeout=5)
        self._client.disconnect()
        self._client.loop_stop()

    def at(self, seat: Seat) -> float:
        """The moment of this seat's capture that is now."""
        return time.time() - self.opened_at + seat.begin

    def _advance(self, seat: Seat) -> None:
        player, at = self._players[seat.id], self.at(seat)
        place = self._places[seat.id]
        while place < len(seat.lines) and seat.lines[place].t <= at and not isinstance(seat.lines[place], capture.End):
            self._publish(player.play(seat.lines[place]))
            place += 1
        self._places[seat.id] = place
        due = player._station.deadline
        if due is not None and due <= at:
            self._publish(player.play(capture.Tx(at, "board", b"", None)))

    def _take_commands(self) -> None:
        waiting, self._incoming = self._incoming, []
        for topic, payload in waiting:
            table = topic.split("/")[-2]
            command = json.loads(payload)
            self.commands.append({"table": table, **command})
            if self.answering:
                seat = self.seats[table]
                self._publish(self._players[table].play(capture.CommandLine(self.at(seat), command)))

    def _publish(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            messages = [event_message(self.root, numbered) for numbered in outcome.events]
            for message in [*messages, *outcome.messages, *([outcome.reply] if outcome.reply else [])]:
                self._client.publish(message.topic, message.payload, 1, message.retain)
                self.said += 1

    def _health(self) -> None:
        links = {
            seat: {"frames": 1200, "rejected": {}, "reconnects": 0, "last_frame": rfc3339(time.time())}
            for seat in self.seats
        }
        payload = {"v": VERSION, "time": rfc3339(time.time()), "uptime": 1, "outbox": 0, "cpu": 3, "memory": 50_000_000}
        self._client.publish(
            f"{self.root}/gateway/{self.gateway}/health",
            encode({**payload, "temperature": None, "links": links, "problems": []}),
            1,
            True,
        )


def publish_properties(expiry_s: int) -> Properties:
    """With a message expiry, as the page sends commands."""
    properties = Properties(PacketTypes.PUBLISH)
    properties.MessageExpiryInterval = expiry_s
    return properties


# --- scenes -----------------------------------------------------------------------------------------------------


class Scene:
    """A table that says by the generic text protocol what a test or a picture needs, and whose clock goes on."""

    def __init__(
        self,
        table: str,
        placement: str,
        turn: str = "white",
        clock: float = 2400.0,
        players: tuple[str, str] = ("", ""),
        **keys: Any,
    ) -> None:
        self.table = table
        self.players = players
        self.lines: list[dict[str, Any]] = []
        self.left = {"white": clock, "black": clock}
        self.running = "none"
        self.t = 0.0
        self.header = {
            "capture": 1,
            "started": "2026-05-01T10:00:00.000Z",
            "gateway": "g",
            "table": {
                "id": table,
                "game": "chess",
                "regulations": "fide-standard",
                "board": {"driver": "generic"},
                **keys,
            },
        }
        self.lines.append({"t": 0.0, "link": "board", "state": "up"})
        self.say("hello scene senses=pieces serial=23946")
        self.say(f"position {placement}")
        self._clock()
        start = {"command": "start_game", "id": "start"}
        if keys.get("game") != "draughts":
            start["start_fen"] = f"{placement} {turn[0]} - - 0 24"
        else:
            start["start_fen"] = f"{turn[0].upper()}:{placement}"
        self.lines.append({"t": 0.05, "command": start})
        self.wait(0.1)

    def say(self, text: str) -> Scene:
        self.lines.append({"t": round(self.t, 3), "link": "board", "dir": "rx", "hex": f"{text}\n".encode().hex()})
        return self

    def wait(self, seconds: float) -> Scene:
        """Time goes by; a running clock is heard every second."""
        until = self.t + seconds
        while self.t < until:
            step = min(1.0, until - self.t)
            self.t += step
            if self.running != "none":
                self.left[self.running] = max(0.0, self.left[self.running] - step)
                self._clock()
        return self

    def run(self, side: str) -> Scene:
        """This side's clock runs from now on; `none`: both stand."""
        self.running = side
        self._clock()
        return self

    def move(self, piece: str, origin: str, target: str, took: str | None = None) -> Scene:
        """A hand lifts and places."""
        self.say(f"lift {origin}").wait(0.6)
        if took is not None:
            self.say(f"lift {target}").wait(0.3)
        return self.say(f"place {piece}@{target}").wait(0.5)

    def seat(self, gateway: str, begin: float = 0.0) -> Seat:
        """The table of this scene, `begin` seconds after its beginning."""
        seat = seat_of_case(self.table, [self.header, *self.lines], gateway, begin)
        seat.white, seat.black = self.players
        return seat

    def _clock(self) -> None:
        self.say(f"clock {self.left['white']:g} {self.left['black']:g} {self.running}")


def draughts_scene(table: str) -> Scene:
    """A king and men; White to move, his clock running."""
    return (
        Scene(table, "WK48,32,37:B9,13,24", game="draughts", regulations="fmjd-standard").wait(1).run("white").wait(900)
    )
