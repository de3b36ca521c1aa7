"""The configuration: the hall's file as written in the contract, defaults, layers, and every mistake at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue import CATALOGUE
from gateway.config import (
    BoardConfig,
    ClockConfig,
    Config,
    Effective,
    RuleConfig,
    RulesConfig,
    TableConfig,
    effective,
    load,
    table_from,
    table_to,
)
from gateway.errors import ConfigError


@dataclass(frozen=True)
class Option:
    """An option as drivers declare it."""

    name: str
    default: bool | int | float | str
    lowest: float | None = None


@dataclass(frozen=True)
class Driver:
    """A driver as the registry has it."""

    device: Literal["board", "clock"] = "board"
    games: tuple[str, ...] = ("chess", "chess960", "draughts")
    clock: bool = True
    bus: bool = False
    options: tuple[Option, ...] = ()


DRIVERS = {
    "dgt": Driver(bus=True, options=(Option("dtr", True), Option("poll_s", 0.5, 0.1), Option("name", ""))),
    "deaf": Driver(games=("chess",), clock=False, options=(Option("gain", 3, 1),)),
    "dgt3000": Driver(device="clock"),
}

CONTRACT = """
[gateway]
id = "pi-a"
state_dir = "/var/lib/board-gateway"
keep_hours = 24

[mqtt]
host = "broker.hall.lan"
port = 1883
root = "hall"
username = "gw-pi-a"
password_file = "/etc/board-gateway/mqtt.password"
commands = true
[mqtt.tls]
ca_file = "/etc/board-gateway/ca.pem"
cert_file = "..."
key_file = "..."

[defaults]
regulations = "fide-standard"
time_control = "40/5400+30:1800+30"
delay_style = "wait"
default_time = 0

[[table]]
id = "12"
game = "chess"
time_control = "5400+30"
[table.board]
driver = "dgt"
port = "/dev/serial/by-id/usb-..."
serial = "23946"
bus_address = 1025
orientation = "auto"
[table.board.options]
[table.clock]
driver = "board"
white_side = "auto"
[rules]
supervision = true
guidelines_iii = false
minimum_moves = 0
scores_kept = true
accept_time_control = false
enable = ["analysis_on_board"]
[rules.displaced_piece]
debounce_s = 15
severity = "notice"
"""


def configured(folder: Path, text: str) -> Config:
    """Load a file with this text."""
    path = folder / "config.toml"
    path.write_text(text)
    return load(path, DRIVERS)


def mistakes(folder: Path, text: str) -> list[str]:
    """Return the mistakes of a file with this text, without the file's name."""
    with pytest.raises(ConfigError) as caught:
        configured(folder, text)
    prefix = f"{folder / 'config.toml'}: "
    assert all(mistake.startswith(prefix) for mistake in caught.value.mistakes)
    return [mistake.removeprefix(prefix) for mistake in caught.value.mistakes]


def table(extra: str = "", board: str = 'driver = "dgt"\nport = "/dev/a"', name: str = "1") -> str:
    """Return one [[table]] as text."""
    return f'[[table]]\nid = "{name}"\n{extra}\n[table.board]\n{board}\n'


def test_the_contract_s_own_example(tmp_path: Path) -> None:
    """Every key of the contract's example is understood."""
    expected = TableConfig(
        id="12",
        game="chess",
        board=BoardConfig("dgt", "/dev/serial/by-id/usb-...", "23946", 1025),
        regulations="fide-standard",
        time_control="5400+30",
        default_time=0,
        rules=RulesConfig(
            supervision=True,
            scores_kept=True,
            enable=("analysis_on_board",),
            kinds={"displaced_piece": RuleConfig(15.0, "notice")},
        ),
    )
    config = configured(tmp_path, CONTRACT)

    assert (expected,) == config.tables
    assert "pi-a" == config.gateway
    assert Path("/etc/board-gateway/mqtt.password") == config.mqtt.password_file
    assert config.mqtt.tls is not None
    assert tmp_path / "..." == config.mqtt.tls.cert_file


def test_defaults(tmp_path: Path) -> None:
    """A table with a board and a port is enough; regulations follow from the game."""
    config = configured(tmp_path, table() + table('game = "draughts"', 'driver = "dgt"\nserial = "7"', "2"))

    assert ["fide-standard", "fmjd-standard"] == [each.regulations for each in config.tables]
    assert ["?", "?"] == [each.time_control for each in config.tables]
    assert ("localhost", 1883, "hall", None, None) == (
        config.mqtt.host,
        config.mqtt.port,
        config.mqtt.root,
        config.mqtt.password_file,
        config.mqtt.tls,
    )
    assert (Path("/var/lib/board-gateway"), 24.0) == (config.state_dir, config.keep_hours)


@pytest.mark.parametrize(
    ("expected", "host"),
    [("hall-pi-3-local", "Hall_Pi 3.local"), ("gateway", "---"), ("gateway", ""), ("a" * 32, "A" * 40)],
)
def test_gateway_id_from_the_host_name(
    expected: str, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an id the host name serves, as far as it may."""
    monkeypatch.setattr("platform.node", lambda: host)

    assert expected == configured(tmp_path, table()).gateway


def test_clock_follows_from_the_board(tmp_path: Path) -> None:
    """The clock is read through the board where the board can; else there is none."""
    config = configured(tmp_path, table() + table(board='driver = "deaf"\nport = "/dev/b"', name="2"))

    assert ["board", "none"] == [each.clock.driver for each in config.tables]


def test_defaults_lie_under_every_table(tmp_path: Path) -> None:
    """Tables inherit key by key, also inside board, clock and options; the table's own word wins."""
    text = (
        '[defaults]\ntime_control = "180+2"\nregulations = "fide-blitz"\n'
        '[defaults.board]\ndriver = "dgt"\norientation = "rotated"\n[defaults.board.options]\ndtr = false\npoll_s = 1\n'
        '[defaults.clock]\nwhite_side = "right"\n'
        '[[table]]\nid = "1"\n[table.board]\nport = "/dev/a"\n[table.board.options]\ndtr = true\n'
        '[[table]]\nid = "2"\ntime_control = "300"\n[table.board]\nport = "/dev/b"\norientation = "auto"\n'
        '[[table]]\nid = "3"\n[table.board]\ndriver = "deaf"\nport = "/dev/c"\n'
    )
    first, second, third = configured(tmp_path, text).tables

    assert BoardConfig("dgt", "/dev/a", orientation="rotated", options={"dtr": True, "poll_s": 1.0}) == first.board
    assert ("180+2", "300") == (first.time_control, second.time_control)
    assert "auto" == second.board.orientation
    assert "right" == second.clock.white_side
    assert {} == third.board.options


def test_rules_add_up_and_the_nearer_wins(tmp_path: Path) -> None:
    """[rules] < [defaults.rules] < [table.rules]; enable and disable are undone by each other."""
    text = (
        '[rules]\nsupervision = true\nenable = ["analysis_on_board", "time_trouble"]\n'
        "[rules.displaced_piece]\ndebounce_s = 15\n"
        '[defaults.rules]\ndisable = ["threefold"]\n'
        + table()
        + '[table.rules]\nsupervision = false\nenable = ["threefold"]\ndisable = ["time_trouble"]\n'
        '[table.rules.displaced_piece]\nseverity = "info"\n'
    )
    expected = RulesConfig(
        supervision=False,
        enable=("analysis_on_board", "threefold"),
        disable=("time_trouble",),
        kinds={"displaced_piece": RuleConfig(15.0, "info")},
    )

    assert expected == configured(tmp_path, text).tables[0].rules


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Every mistake is named with its key path, what was found and what is allowed."""
    text = """
[gateway]
id = "Pi A"
keep_hours = "long"
[mqtt]
port = 70000
password = "hunter2"
[tabel]
[rules]
enable = ["analysis_on_bord"]
[rules.displaced_pice]
debounce_s = 3
[rules.displaced_piece]
severity = "loud"
[[table]]
id = "12"
game = "ches"
time_control = "5400+"
[table.board]
driver = "dgd"
port = "ttyUSB3"
orientation = 180
"""
    time_control = 'PGN notation such as "5400+30", "40/5400+30:1800+30", "5400d5", "-" (none) or "?" (unknown)'
    expected = [
        'gateway.id: found "Pi A"; allowed 1 to 32 of a-z 0-9 -',
        'gateway.keep_hours: found "long"; allowed hours, 0 to 8784',
        "mqtt.password: found an unknown key; allowed host, port, root, username, password_file, commands, embedded,"
        " tls; did you mean password_file?",
        "mqtt.port: found 70000; allowed a whole number from 1 to 65535",
        'rules.displaced_piece.severity: found "loud"; allowed info, notice, alert',
        "rules.displaced_pice: found an unknown key; allowed supervision, guidelines_iii, minimum_moves, scores_kept,"
        " accept_time_control, enable, disable, or an id of the catalogue of irregularities;"
        " did you mean displaced_piece?",
        'rules.enable: found ["analysis_on_bord"]; allowed a list of ids of the catalogue of irregularities, and'
        ' "analysis_on_bord" is none; did you mean analysis_on_board?',
        'table["12"].board.driver: found "dgd"; allowed dgt, deaf; did you mean dgt?',
        'table["12"].board.orientation: found 180; allowed auto, normal, rotated',
        'table["12"].board.port: found "ttyUSB3"; allowed a device such as "/dev/serial/by-id/usb-...",'
        ' "socket://HOST:PORT", "usb:SERIAL", "hid:SERIAL", "ble:AA:BB:CC:DD:EE:FF" or "ble-name:TEXT"',
        'table["12"].game: found "ches"; allowed chess, chess960, draughts; did you mean chess?',
        f"table[\"12\"].time_control: found \"5400+\"; allowed {time_control} ('5400+' in time control '5400+' is no"
        " period such as 5400, 40/5400+30 or 5400d5)",
        "tabel: found an unknown key; allowed gateway, mqtt, defaults, table, rules, web; did you mean table?",
    ]
    found = mistakes(tmp_path, text)

    assert sorted(expected) == sorted(found)
    assert "hunter2" not in "".join(found)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("table: found none; allowed one or more [[table]]", ""),
        ("table: found 3; allowed one or more [[table]]", "table = 3"),
        ("mqtt: found true; allowed a table", "mqtt = true\n" + table()),
        (
            "table[1].id: found none; allowed 1 to 32 of A-Z a-z 0-9 _ - in quotes",
            '[[table]]\n[table.board]\ndriver = "dgt"\nport = "/dev/a"',
        ),
        ('table["1"].board.driver: found none; allowed dgt, deaf', table(board='port = "/dev/a"')),
        (
            'table["1"].regulations: found "fide-blitz" with game "draughts";'
            " allowed fmjd-standard, fmjd-rapid, fmjd-blitz",
            table('game = "draughts"\nregulations = "fide-blitz"'),
        ),
        (
            'table["1"].regulations: found "fmjd-blitz" with game "chess960";'
            " allowed fide-standard, fide-rapid, fide-blitz",
            '[defaults]\nregulations = "fmjd-blitz"\n' + table('game = "chess960"'),
        ),
        (
            'table["1"].board.driver: found "deaf" with game "draughts"; allowed dgt',
            table('game = "draughts"', 'driver = "deaf"\nport = "/dev/a"'),
        ),
        (
            'table["1"].id: found "1" a second time; allowed each id once',
            table() + table(board='driver = "dgt"\nport = "/b"'),
        ),
        (
            'table["2"].board.bus_address: found none on the port of table 1;'
            " allowed a bus address of its own for each table on that port",
            table() + table(name="2"),
        ),
        (
            'table["2"].board.bus_address: found 5 on the port of table 1;'
            " allowed a bus address of its own for each table on that port",
            table(board='driver = "dgt"\nport = "/dev/a"\nbus_address = 5')
            + table(board='driver = "dgt"\nport = "/dev/a"\nbus_address = 5', name="2"),
        ),
        (
            'table["1"].board.bus_address: found it with driver "deaf"; allowed only for boards on a shared bus',
            table(board='driver = "deaf"\nport = "/dev/a"\nbus_address = 5'),
        ),
        (
            'table["2"].board.serial: found "0023", the board of table 1; allowed another board',
            table(board='driver = "dgt"\nserial = "23"') + table(board='driver = "dgt"\nserial = "0023"', name="2"),
        ),
        (
            'table["1"].board.port: found neither port nor serial; allowed a device such as'
            ' "/dev/serial/by-id/usb-...", "socket://HOST:PORT", "usb:SERIAL", "hid:SERIAL",'
            ' "ble:AA:BB:CC:DD:EE:FF" or "ble-name:TEXT"',
            table(board='driver = "dgt"'),
        ),
        (
            'table["1"].board.options.poll_s: found 0.01; allowed a number, 0.1 or more',
            table() + "[table.board.options]\npoll_s = 0.01",
        ),
        (
            'table["1"].board.options.dtr: found 1; allowed true or false',
            table() + "[table.board.options]\ndtr = 1",
        ),
        (
            'table["1"].board.options.led: found an unknown key; allowed dtr, poll_s, name',
            table() + "[table.board.options]\nled = 1",
        ),
        (
            'table["1"].clock.driver: found "board", but no clock can be read through this board;'
            " allowed none, dgt3000",
            table(board='driver = "deaf"\nport = "/dev/a"') + '[table.clock]\ndriver = "board"',
        ),
        (
            'table["1"].clock.driver: found "dgt300"; allowed board, none, dgt3000; did you mean dgt3000?',
            table() + '[table.clock]\ndriver = "dgt300"\nport = "/dev/b"',
        ),
        (
            'table["1"].clock.port: found it with driver "board"; allowed only with a clock driver of its own',
            table() + '[table.clock]\nport = "/dev/b"',
        ),
        (
            'rules.disable: found "threefold", which is in enable too; allowed only one of the two',
            '[rules]\nenable = ["threefold"]\ndisable = ["threefold"]\n' + table(),
        ),
        (
            "mqtt.host: found it beside embedded = true; allowed only one of the two: the private broker is local",
            '[mqtt]\nembedded = true\nhost = "a"\n' + table(),
        ),
        (
            "mqtt.tls.key_file: found it without cert_file; allowed both or neither",
            '[mqtt.tls]\nkey_file = "a"\n' + table(),
        ),
        ('mqtt.root: found "hall/#"; allowed a topic prefix without + and #', '[mqtt]\nroot = "hall/#"\n' + table()),
        (
            'table["1"].default_time: found true; allowed minutes, 0 to 1440',
            table("default_time = true"),
        ),
    ],
)
def test_a_mistake(expected: str, text: str, tmp_path: Path) -> None:
    """One mistake gives one sentence, and no second one that only follows from it."""
    assert [expected] == mistakes(tmp_path, text)


@pytest.mark.parametrize(
    "port",
    [
        "/dev/ttyUSB0",
        "socket://127.0.0.1:4001",
        "socket://[::1]:4001",
        "usb:A5069RR4",
        "hid:1234",
        "ble:AA:bb:00:DD:EE:FF",
        "ble-name:Chessnut Air",
    ],
)
def test_ports(port: str, tmp_path: Path) -> None:
    """All forms of the contract are taken as they are."""
    config = configured(tmp_path, table(board=f'driver = "dgt"\nport = "{port}"'))

    assert port == config.tables[0].board.port


def test_one_bus_for_several_tables(tmp_path: Path) -> None:
    """Tables share a port by their bus addresses."""
    text = "".join(
        table(board=f'driver = "dgt"\nport = "/dev/bus"\nbus_address = {1020 + n}', name=str(n)) for n in range(5)
    )

    assert [1020, 1021, 1022, 1023, 1024] == [each.board.bus_address for each in configured(tmp_path, text).tables]


def test_syntax_errors_name_the_line(tmp_path: Path) -> None:
    """What is no TOML is told with its line."""
    assert ["found no valid TOML: Invalid value (at line 3, column 6)"] == mistakes(tmp_path, "\n[gateway]\nid = \n")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a mistake, no crash."""
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(ConfigError, match="no valid TOML"):
        load(path, DRIVERS)


def test_a_missing_file(tmp_path: Path) -> None:
    """A missing file is told apart from a wrong one."""
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml", DRIVERS)


def test_secrets_come_from_the_credentials_directory(tmp_path: Path) -> None:
    """A bare name is looked up where systemd puts credentials, else beside the file."""
    path = tmp_path / "config.toml"
    path.write_text('[mqtt]\nusername = "gw"\npassword_file = "mqtt.password"\n' + table())

    assert (
        Path("/run/credentials/x/mqtt.password") == load(path, DRIVERS, Path("/run/credentials/x")).mqtt.password_file
    )
    assert tmp_path / "mqtt.password" == load(path, DRIVERS).mqtt.password_file


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["id", "board", "rules"]), inner),
    )
)
def test_anything_in_a_table_is_judged(value: Any) -> None:
    """Whatever stands where a table should, the answer is a list of mistakes and never a crash."""
    for key in ("id", "game", "time_control", "board", "clock", "rules"):
        with pytest.raises(ConfigError):
            table_from({"id": "1", "board": {"driver": "nonsense"}, key: value}, DRIVERS)


TABLES = [
    TableConfig(id="1", game="chess", board=BoardConfig("dgt")),
    TableConfig(
        id="A_2-b",
        game="draughts",
        board=BoardConfig("dgt", "/dev/a", "23946", 1025, "rotated", {"dtr": False}),
        clock=ClockConfig("dgt3000", "/dev/b", "left"),
        regulations="fmjd-blitz",
        time_control="300+3",
        delay_style="bronstein",
        default_time=60,
        rules=RulesConfig(
            supervision=False,
            guidelines_iii=True,
            minimum_moves=40,
            scores_kept=True,
            accept_time_control=True,
            enable=("analysis_on_board",),
            disable=("touch_move",),
            kinds={"displaced_piece": RuleConfig(15.0, None), "threefold": RuleConfig(None, "alert")},
        ),
    ),
]


@pytest.mark.parametrize("config", TABLES)
def test_a_table_written_and_read_is_itself(config: TableConfig) -> None:
    """Captures carry the whole table."""
    assert config == table_from(table_to(config), DRIVERS)


def test_a_table_of_a_capture_s_header() -> None:
    """The header of the contract's worked example, and the rules of a rule case."""
    header: Mapping[str, Any] = {
        "id": "1",
        "game": "chess",
        "regulations": "fide-blitz",
        "time_control": "180+2",
        "board": {"driver": "dgt"},
        "clock": {"driver": "board", "white_side": "left"},
        "rules": {"enable": ["time_trouble"], "supervision": True, "guidelines_iii": True},
    }
    expected = TableConfig(
        id="1",
        game="chess",
        board=BoardConfig("dgt"),
        clock=ClockConfig(white_side="left"),
        regulations="fide-blitz",
        time_control="180+2",
        rules=RulesConfig(supervision=True, guidelines_iii=True, enable=("time_trouble",)),
    )

    assert expected == table_from(header, DRIVERS)


def test_effective_values() -> None:
    """The catalogue's values hold unless the settings say other; what the game does not know stays off."""
    rules = RulesConfig(
        enable=("analysis_on_board", "uncrowned_man"),
        disable=("touch_move",),
        kinds={"displaced_piece": RuleConfig(15.0, "notice"), "move_without_clock_press": RuleConfig(severity="alert")},
    )

    def of(name: str) -> Effective:
        return effective(CATALOGUE[name], rules, "chess960", "fide-blitz")

    assert Effective(True, "notice", 15.0) == of("displaced_piece")
    assert Effective(True, "alert", 8.0) == of("move_without_clock_press")
    assert of("king_captured").enabled
    assert of("analysis_on_board").enabled
    assert not of("touch_move").enabled
    assert not of("uncrowned_man").enabled
