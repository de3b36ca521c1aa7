"""The command line as a user meets it: a process, its output, its exit code."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway import __version__
from gateway.cli import COMMANDS
from gateway.registry import DRIVERS

WORKED = """\
{"capture":1,"started":"2026-05-01T10:00:00.000Z","gateway":"g","table":{"id":"1","game":"chess","regulations":"fide-blitz","time_control":"180+2","board":{"driver":"dgt"},"clock":{"driver":"board","white_side":"left"}}}
{"t":0.0,"link":"board","state":"up"}
{"t":0.2,"link":"board","dir":"rx","hex":"86004308090a0c0b0a09080707070707070707000000000000000000000000000000000000000000000000000000000000000001010101010101010203040605040302"}
{"t":0.4,"link":"board","dir":"rx","hex":"8d000a00030000030008"}
{"t":2.0,"link":"board","dir":"rx","hex":"8d000a00030000030009"}
{"t":5.0,"link":"board","dir":"rx","hex":"8e00053400"}
{"t":5.3,"link":"board","dir":"rx","hex":"8e00052401"}
{"t":6.1,"link":"board","dir":"rx","hex":"8d000a00030000025813"}
{"t":9.0,"end":true}
"""
"""The hall contract's worked example."""

EVENTS = """\
{"id":"g.1.1","seq":1,"time":"2026-05-01T10:00:00.000Z","kind":"link","device":"board","state":"up","detail":null}
{"id":"g.1.2","seq":2,"time":"2026-05-01T10:00:00.400Z","kind":"clock","change":"connected","side":null,"white":180,"black":180,"running":"none"}
{"id":"g.1.3","seq":3,"time":"2026-05-01T10:00:02.000Z","kind":"game_started","game":"chess","start_fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","orientation":"normal","regulations":"fide-blitz","time_control":"180+2","white":null,"black":null,"event":null,"round":null,"reason":"start_position"}
{"id":"g.1.4","seq":4,"time":"2026-05-01T10:00:02.000Z","kind":"clock","change":"started","side":"white","white":180,"black":180,"running":"white"}
{"id":"g.1.5","seq":5,"time":"2026-05-01T10:00:05.300Z","kind":"move","ply":1,"side":"white","notation":"e4","uci":"e2e4","fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1","legal":true,"source":"board","clock":null,"elapsed":3.3}
{"id":"g.1.6","seq":6,"time":"2026-05-01T10:00:06.100Z","kind":"clock","change":"pressed","side":"white","white":178,"black":180,"running":"black"}
{"id":"g.1.7","seq":7,"time":"2026-05-01T10:00:06.100Z","kind":"move_confirmed","ply":1,"clock":{"white":178,"black":180}}
"""

CONFIG = """
[gateway]
id = "pi-a"
[mqtt]
host = "broker.hall.lan"
[mqtt.tls]
[[table]]
id = "12"
time_control = "5400+30"
[table.board]
driver = "dgt"
port = "/dev/ttyUSB0"
bus_address = 1025
[[table]]
id = "13"
game = "draughts"
[table.board]
driver = "generic"
serial = "23946"
[table.clock]
driver = "none"
"""


def board_gateway(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )


def parsed(output: str) -> list[dict[str, Any]]:
    """Return the output's JSON lines."""
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def worked(tmp_path: Path) -> Path:
    """The worked example as a file."""
    path = tmp_path / "worked.capture.jsonl"
    path.write_text(WORKED)
    return path


# --- in general -------------------------------------------------------------------------------------------------


def test_help_names_every_command() -> None:
    """The first thing anybody asks."""
    done = board_gateway("--help")

    assert os.EX_OK == done.returncode
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command(name: str) -> None:
    """Each command explains itself."""
    done = board_gateway(name, "--help")

    assert os.EX_OK == done.returncode
    assert f"board-gateway {name}" in done.stdout


def test_version() -> None:
    """The version is that of the package."""
    assert f"board-gateway {__version__}\n" == board_gateway("--version").stdout


@pytest.mark.parametrize(
    "arguments", [(), ("fly",), ("replay",), ("drivers", "--fast"), ("replay", "a", "--jobs", "0")]
)
def test_usage_errors(arguments: tuple[str, ...]) -> None:
    """One sentence, the way to help, and EX_USAGE."""
    done = board_gateway(*arguments)

    assert os.EX_USAGE == done.returncode
    assert done.stderr.startswith("board-gateway")
    assert "--help" in done.stderr
    assert 1 == len(done.stderr.splitlines())


# --- check-config -----------------------------------------------------------------------------------------------


def test_check_config_says_what_it_means(tmp_path: Path) -> None:
    """A sound configuration is told in a line for the gateway and one for each table."""
    (tmp_path / "config.toml").write_text(CONFIG)
    done = board_gateway("check-config", "-c", "config.toml", cwd=tmp_path)
    expected = """\
config.toml: in order
gateway pi-a: 2 tables, broker broker.hall.lan:1883 with TLS, state in /var/lib/board-gateway
table 12: chess, fide-standard, 5400+30; dgt on /dev/ttyUSB0, bus address 1025; clock through the board
table 13: draughts, fmjd-standard, ?; generic on serial 23946; no clock
"""

    assert expected == done.stdout
    assert "" == done.stderr
    assert os.EX_OK == done.returncode


def test_check_config_names_all_mistakes(tmp_path: Path) -> None:
    """Mistakes go to standard error, a line each, and the exit code is EX_CONFIG."""
    (tmp_path / "config.toml").write_text(CONFIG.replace("host =", "hots =").replace('"12"', '"1 2"'))
    done = board_gateway("check-config", "-c", "config.toml", cwd=tmp_path)

    assert os.EX_CONFIG == done.returncode
    assert "" == done.stdout
    assert [
        "config.toml: mqtt.hots: found an unknown key; allowed host, port, root, username, password_file, commands,"
        " embedded, tls; did you mean host?",
        'config.toml: table["1 2"].id: found "1 2"; allowed 1 to 32 of A-Z a-z 0-9 _ - in quotes',
    ] == done.stderr.splitlines()


def test_check_config_without_a_file(tmp_path: Path) -> None:
    """A missing file is EX_NOINPUT."""
    done = board_gateway("check-config", "--config", "none.toml", cwd=tmp_path)

    assert "none.toml: No such file or directory\n" == done.stderr
    assert os.EX_NOINPUT == done.returncode


# --- drivers ----------------------------------------------------------------------------------------------------


def test_drivers_lists_the_registry() -> None:
    """One line for each entry of the registry, under a heading."""
    done = board_gateway("drivers")

    assert ["driver", *DRIVERS] == [line.split()[0] for line in done.stdout.splitlines()]


def test_drivers_tells_options() -> None:
    """Options are told with their defaults."""
    done = board_gateway("drivers", "--options")

    for entry in DRIVERS.values():
        for option in entry.options:
            assert f"  {option.name} = {option.default!r}: {option.text}" in done.stdout


def test_readme_lists_the_drivers() -> None:
    """The README's table is that of the registry; renew it with `board-gateway drivers --markdown`."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    table = readme.split("--markdown` -->\n")[1].split("<!-- /drivers -->")[0]

    assert board_gateway("drivers", "--markdown").stdout == table


# --- replay -----------------------------------------------------------------------------------------------------


def test_replay_of_the_worked_example(worked: Path) -> None:
    """The contract's example gives exactly the contract's events."""
    done = board_gateway("replay", "--events", worked)
    game_ids = [None, None, *["1-20260501T100002Z"] * 5]
    expected = [
        {"v": 1, "table": "1", "game_id": game_id, **event}
        for game_id, event in zip(game_ids, parsed(EVENTS), strict=True)
    ]

    assert "" == done.stderr
    assert expected == parsed(done.stdout)
    assert os.EX_OK == done.returncode


def test_replay_prints_topics(worked: Path) -> None:
    """Without --events each line is a publication; those of events hold what --events prints."""
    lines = parsed(board_gateway("replay", worked).stdout)
    events = parsed(board_gateway("replay", "--events", worked).stdout)

    assert all(["topic", "retain", "payload"] == list(line) for line in lines)
    assert events == [line["payload"] for line in lines if "/event/" in line["topic"]]
    assert all(line["retain"] != ("/event/" in line["topic"]) for line in lines)
    assert {line["topic"].split("/")[1] for line in lines} == {"table", "arbiter"}
    assert "1. e4" in [line["payload"] for line in lines if line["topic"] == "hall/table/1/pgn"][-1]


def test_replay_is_the_same_each_time(worked: Path) -> None:
    """The same capture gives the same bytes, compressed or not."""
    packed = worked.with_suffix(".gz")
    packed.write_bytes(gzip.compress(worked.read_bytes()))

    assert board_gateway("replay", worked).stdout == board_gateway("replay", packed).stdout


def test_replay_of_several_files(tmp_path: Path) -> None:
    """Each line names its capture; the order is that of the arguments, whatever --jobs."""
    names = [f"{n}.capture.jsonl" for n in range(6)]
    for n, name in enumerate(names):
        # The first is the longest, so that it ends last.
        idle = "".join(
            f'{{"t":{9 + k},"link":"board","dir":"tx","hex":"42"}}\n' for k in range(1, 3000 if n == 0 else 2)
        )
        (tmp_path / name).write_text(WORKED.replace('{"t":9.0,"end":true}\n', idle).replace('"id":"1"', f'"id":"{n}"'))
    names.reverse()
    alone = board_gateway("replay", "--events", *names, cwd=tmp_path)
    together = board_gateway("replay", "--events", "--jobs", "3", *names, cwd=tmp_path)
    lines = parsed(alone.stdout)

    assert alone.stdout == together.stdout
    assert names == list(dict.fromkeys(line["capture"] for line in lines))
    assert all(["capture", "event"] == list(line) for line in lines)
    full = parsed(board_gateway("replay", *names, cwd=tmp_path).stdout)
    assert all(["capture", "topic", "retain", "payload"] == list(line) for line in full)


def test_replay_of_a_damaged_capture(worked: Path) -> None:
    """Damaged lines are told with their numbers, the rest is played, and the exit code is EX_DATAERR."""
    lines = WORKED.splitlines(keepends=True)
    lines[3:3] = ["nonsense\n", '{"t":0.1,"link":"board","state":"up"}\n']
    worked.write_text("".join(lines))
    done = board_gateway("replay", "--events", worked)

    assert 7 == len(done.stdout.splitlines())
    assert [
        f"{worked}: line 4: not JSON (Expecting value: line 1 column 1 (char 0))",
        f"{worked}: line 5: t goes back from 0.2 to 0.1",
    ] == done.stderr.splitlines()
    assert os.EX_DATAERR == done.returncode


def test_replay_without_a_header(worked: Path) -> None:
    """A capture without a sound header is not played; the others are."""
    broken = worked.with_name("broken.capture.jsonl")
    broken.write_text(WORKED.replace('"dgt"', '"dgd"'))
    done = board_gateway("replay", "--events", broken, worked)

    assert 7 == len(done.stdout.splitlines())
    assert done.stderr.startswith(f'{broken}: line 1: table.board.driver: found "dgd"; allowed ')
    assert os.EX_DATAERR == done.returncode


def test_replay_without_a_file(tmp_path: Path) -> None:
    """A missing capture is EX_NOINPUT."""
    done = board_gateway("replay", "none.capture.jsonl", cwd=tmp_path)

    assert "none.capture.jsonl: No such file or directory\n" == done.stderr
    assert os.EX_NOINPUT == done.returncode


def test_replay_obeys_and_answers_commands(worked: Path) -> None:
    """A command is carried out at its own time and answered; what is no command is answered too."""
    command = '{"t":7.0,"command":{"command":"end_game","id":"c1","by":"a","result":"1-0"}}\n'
    nonsense = '{"t":7.5,"command":{"command":5}}\n'
    worked.write_text(WORKED.replace('{"t":9.0', f'{command}{nonsense}{{"t":9.0'))
    lines = parsed(board_gateway("replay", worked).stdout)
    replies = [line["payload"] for line in lines if line["topic"] == "hall/arbiter/1/reply"]
    ended = [line["payload"] for line in lines if line["topic"] == "hall/table/1/event/game_ended"]

    assert [("1-0", "2026-05-01T10:00:07.000Z")] == [(event["result"], event["time"]) for event in ended]
    assert [("c1", True), (None, False)] == [(reply["id"], reply["ok"]) for reply in replies]


def test_replay_into_a_closed_pipe(worked: Path) -> None:
    """Whoever reads may stop reading; that is no error."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{sys.executable}' -m gateway replay '{worked}' | head -n 1 >/dev/null"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "" == done.stderr
