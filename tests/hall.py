"""A hall in small for tests and benchmarks: a daemon as a process of its own, and a board on a pseudo-terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Mapping
from pathlib import Path

import chess

START_S = 60.0
"""Waited at most for a daemon to be up, which takes long on a busy machine; no test proves how long."""

DAEMON = """
import sys
from pathlib import Path
from gateway import logs
from gateway.config import load
from gateway.daemon import run
from gateway.registry import DRIVERS

path = Path(sys.argv[1])
logs.set_up({})
sys.exit(run(load(path, DRIVERS), lambda: load(path, DRIVERS)))
"""

CONFIG = """
[gateway]
id = "g"
state_dir = "{state}"
[mqtt]
host = "127.0.0.1"
port = {port}
[defaults]
regulations = "fide-blitz"
time_control = "180+2"
"""

TABLE = """
[[table]]
id = "{id}"
game = "chess"
[table.board]
driver = "generic"
port = "{path}"
"""


class Process:
    """The daemon, which can be killed and started again."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.config = directory / "config.toml"
        self.log = directory / "log"
        self.state = directory / "state"
        self._head = CONFIG.format(state=self.state, port=port)
        self._process: subprocess.Popen[bytes] | None = None

    def configure(self, tables: dict[str, Path], serials: Mapping[str, str] | None = None) -> None:
        """Write the configuration: the path of each table's board, and the serial numbers of some."""
        text = self._head
        for name, path in tables.items():
            text += TABLE.format(id=name, path=path)
            if serials and name in serials:
                text += f'serial = "{serials[name]}"\n'
        self.config.write_text(text)

    def start(self, environment: dict[str, str] | None = None) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", DAEMON, str(self.config)],
                stderr=log,
                stdout=log,
                env=os.environ | (environment or {}),
            )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, timeout_s: float) -> int:
        assert self._process is not None
        return self._process.wait(timeout_s)

    def kill(self) -> None:
        """kill -9, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
        if self._process is not None:
            self._process.wait()


class Board:
    """A board that speaks the generic text protocol, and on which moves are played.

    It plays only while somebody has its port open and has asked for the position, as people would not play on while
    the arbiter shouts; a ply that was being carried when the gateway died is in the next dump.
    """

    def __init__(self, name: Path, seed: int = 1, pause_s: float = 0.15) -> None:
        self.name = name
        self.pause_s = pause_s
        self.serial = "7"
        self.poll_s = 0.005
        self.game = chess.Board()
        self.played: list[str] = []
        self.asked = False
        self.playing = False
        self.on_ply: Callable[[str, float], None] = lambda uci, at: None
        self._play_at = 0.0
        self._left = {chess.WHITE: 3600.0, chess.BLACK: 3600.0}
        self._chance = random.Random(seed)
        self._master = -1
        self._task: asyncio.Task[None] | None = None

    def plug(self) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self.name.unlink(missing_ok=True)
        self.name.symlink_to(os.ttyname(slave))
        os.close(slave)

    def unplug(self) -> None:
        self.asked = False
        os.close(self._master)
        self.name.unlink(missing_ok=True)

    def start(self) -> None:
        self.plug()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(OSError):
            self.unplug()

    async def babble(self, data: bytes) -> None:
        """Say this, as fast as it is taken."""
        while data:
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._master, data[:1024]) :]
            await asyncio.sleep(0.002)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(max(0.001, min(self.poll_s, self._due())))
            self._answer()
            if self.playing and self.asked and time.monotonic() >= self._play_at:
                self._play()
                self._think()

    def _due(self) -> float:
        """Seconds until the next ply."""
        return self._play_at - time.monotonic() if self.playing and self.asked else self.poll_s

    def _answer(self) -> None:
        try:
            asked = os.read(self._master, 65536)
        except BlockingIOError:
            return
        except OSError:
            # Nobody has the port open.
            self.asked = False
            return
        if b"hello?" in asked:
            self._send(f"hello test senses=pieces serial={self.serial}")
        if b"position?" in asked:
            self._send(f"position {self.game.board_fen()}")
            self._clock()
            if not self.asked:
                self._think()
            self.asked = True

    def _think(self) -> None:
        self._play_at = time.monotonic() + self.pause_s * self._chance.uniform(0.5, 1.5)

    def _play(self) -> None:
        moves = [move for move in self.game.legal_moves if move.promotion in (None, chess.QUEEN)]
        # A game that goes on: no mate, no stalemate, no lone kings.
        good = [move for move in moves if not self._ends(move)]
        if not good:
            self.playing = False
            return
        move = self._chance.choice(good)
        before = self.game.piece_map()
        self.game.push(move)
        after = self.game.piece_map()
        now = time.monotonic()
        for square in sorted(before.keys() | after.keys(), key=lambda square: square in after):
            if before.get(square) != after.get(square):
                if square in before:
                    self._send(f"lift {chess.square_name(square)}")
                if square in after:
                    self._send(f"place {after[square].symbol()}@{chess.square_name(square)}")
        self._left[not self.game.turn] -= 1
        self._clock()
        self.played.append(move.uci())
        self.on_ply(move.uci(), now)

    def _clock(self) -> None:
        """The mover has pressed."""
        running = ("white" if self.game.turn else "black") if self.game.move_stack else "none"
        self._send(
            f"clock {self._left[chess.WHITE]} {self._left[chess.BLACK]} {running} counter={len(self.game.move_stack)}"
        )

    def _ends(self, move: chess.Move) -> bool:
        self.game.push(move)
        over = self.game.is_stalemate() or self.game.is_check()
        self.game.pop()
        return over or (self.game.is_capture(move) and len(self.game.piece_map()) < 20)

    def _send(self, line: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._master, line.encode() + b"\n")
