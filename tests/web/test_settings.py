"""[web] in the configuration: when it is right, and which mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import WebConfig, WebTlsConfig, load
from gateway.errors import ConfigError
from gateway.registry import DRIVERS

TABLE = '[[table]]\nid = "1"\n[table.board]\ndriver = "dgt"\nport = "/dev/ttyUSB0"\n'


def read(directory: Path, text: str) -> WebConfig | None:
    path = directory / "config.toml"
    path.write_text(text + TABLE)
    return load(path, DRIVERS).web


def test_without_the_section_nothing_is_served(tmp_path: Path) -> None:
    """Only who asks for the page gets it."""
    assert read(tmp_path, "") is None


def test_an_empty_section_serves_this_machine_only(tmp_path: Path) -> None:
    """The default is the careful one."""
    assert WebConfig("127.0.0.1:8080") == read(tmp_path, "[web]\n")


def test_all_of_it(tmp_path: Path) -> None:
    """Names of files are looked up beside the configuration; IPv6 has brackets."""
    web = read(
        tmp_path,
        '[web]\nlisten = "[::]:443"\nbroker_url = "wss://broker.hall.lan:9001"\n'
        'languages = ["nl", "fr"]\ndocs = false\n'
        '[web.tls]\ncert_file = "hall.pem"\nkey_file = "hall.key"\n',
    )

    assert web is not None
    assert ("::", 443) == web.address
    assert (("nl", "fr"), False) == (web.languages, web.docs)
    assert WebTlsConfig(tmp_path / "hall.pem", tmp_path / "hall.key") == web.tls


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('[web]\nlisten = "0.0.0.0"\n', "web.listen"),
        ('[web]\nlisten = "0.0.0.0:99999"\n', "web.listen"),
        ('[web]\nbroker_url = "mqtt://broker:1883"\n', "web.broker_url"),
        ("[web]\nlanguages = []\n", "web.languages"),
        ('[web]\nlanguages = ["tlh"]\n', "web.languages"),
        ('[web]\npasword = "x"\n', "web.pasword"),
        ('[web]\n[web.tls]\ncert_file = "hall.pem"\n', "web.tls.key_file"),
        ("web = 3\n", "web"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, mistake: str) -> None:
    """By the path of their key."""
    with pytest.raises(ConfigError, match=mistake):
        read(tmp_path, text)
