"""The documentation says only what exists: commands, configurations, links, names; and written pages are not old."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from gateway.catalogue import CATALOGUE
from gateway.cli import COMMANDS
from gateway.config import load
from gateway.feed import settings as feed
from gateway.registry import DRIVERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = {
    "cp", "install", "journalctl", "ln", "mosquitto_passwd", "mosquitto_pub", "mosquitto_sub", "openssl", "printf",
    "python3", "systemctl", "systemd-sysusers", "udevadm", "apt-get", "usermod", "git", "cat", "ls", "qrencode",
}  # fmt: skip
"""What a Debian machine has, or the pages say how to get."""

CAPTURE = (
    '{"capture":1,"started":"2026-05-01T10:00:00.000Z","gateway":"g","table":{"id":"1","board":{"driver":"generic"}}}\n'
    '{"t":0.0,"link":"board","state":"up"}\n'
)
TABLE = '[[table]]\nid = "1"\n[table.board]\ndriver = "generic"\nport = "/dev/x"\n'


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(*languages: str) -> Iterator[object]:
    """Every fenced block in these languages, with the page and the line where it stands."""
    for page in PAGES:
        lines = page.read_text().splitlines()
        starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
        for first, last in zip(starts[::2], starts[1::2], strict=True):
            language = lines[first].strip().removeprefix("```").strip()
            if language in languages:
                text = "\n".join(lines[first + 1 : last]) + "\n"
                yield pytest.param(page, text, id=f"{named(page)}:{first + 1}")


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a block, `sudo` and what a pipe or a redirection leads to left out."""
    for line in text.replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|(?<!\S)\|(?!\S)|;(?=\s|$)", line):
            words = shlex.split(part, comments=True)
            while words and (words[0] == "sudo" or re.fullmatch(r"[A-Z_]+=\S*", words[0])):
                del words[0]
            for redirection in (">", ">>", "<"):
                if redirection in words:
                    del words[words.index(redirection) :]
            if words:
                yield words


class RefusedError(Exception):
    """The command line does not take this."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise RefusedError(message)


@pytest.mark.parametrize(("page", "text"), list(blocks("sh", "bash", "shell")))
def test_commands_exist(page: Path, text: str) -> None:
    """Each command is one that the program, the repository or Debian has, and its options are taken."""
    assert 0 == subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode
    for words in commands(text):
        program = Path(words[0]).name
        if program == "board-gateway":
            name = words[1] if len(words) > 1 else "--help"
            if name.startswith("-"):
                continue
            parser = Parser()
            importlib.import_module(f"gateway.cli.{name.replace('-', '_')}").add_arguments(parser)
            if "--help" not in words:
                parser.parse_args(words[2:])
        elif words[0].startswith(("scripts/", "benchmarks/", "tests/")):
            assert (ROOT / words[0]).exists(), words
        elif words[0].startswith((".venv/bin/", "/opt/board-gateway/")) or program in ("pytest", "python", "pip"):
            pass
        else:
            assert program in PROGRAMS, words
        for word in words:
            if word.startswith(("systemd/", "scripts/")):
                assert (ROOT / word).exists(), word


def moved(word: str, root: Path) -> str:
    """A path of the machine as one below `root`; what is in the repository stays."""
    return f"{root}{word}" if word.startswith(("/etc/", "/srv/", "/usr/", "/var/", "/opt/")) else word


def runnable(words: list[str], root: Path) -> list[str] | None:
    """What of a command ends by itself and needs no board, broker or service; with what it reads put below `root`."""
    name, rest = words[0], [moved(word, root) for word in words[1:]]
    if name == "install":
        for option in ("-o", "-g"):
            if option in rest:
                del rest[rest.index(option) : rest.index(option) + 2]
        here = [word for word in rest[:-1] if word.startswith("systemd/")]
        if not here:
            return None
        if rest[-1].endswith("/"):
            Path(rest[-1]).mkdir(parents=True, exist_ok=True)
        Path(rest[-1]).parent.mkdir(parents=True, exist_ok=True)
        return [name, *rest]
    if name != "board-gateway" or not {rest[0], *rest} & {"check-config", "--check", "--export", "replay", "--help"}:
        return None
    if "--help" not in rest:
        if "-c" not in rest and rest[0] in ("check-config", "web", "feed"):
            rest += ["-c", f"{root}/config.toml"]
        for at, word in enumerate(rest):
            if word == "-c":
                rest[at + 1] = str(root / rest[at + 1])
                Path(rest[at + 1]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / "systemd" / ("feed.toml" if rest[0] == "feed" else "config.toml"), rest[at + 1])
            elif word.endswith(".capture.jsonl"):
                rest[at] = str(root / word)
                Path(rest[at]).write_text(CAPTURE)
    return [sys.executable, "-m", "gateway", *rest]


@pytest.mark.parametrize(("page", "text"), list(blocks("sh", "bash", "shell")))
def test_commands_run(page: Path, text: str, tmp_path: Path) -> None:
    """What ends by itself is run, with the machine's folders below another root."""
    for words in commands(text):
        command = runnable(words, tmp_path)
        if command is not None:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

            assert (0, "") == (done.returncode, done.stderr), words


@pytest.mark.parametrize(("page", "text"), list(blocks("toml")))
def test_configurations_are_in_order(page: Path, text: str, tmp_path: Path) -> None:
    """A whole file as it is; a part of one with a table before it."""
    path = tmp_path / "config.toml"
    if "[feed]" in text:
        path.write_text(text)
        feed.load(path)
        return
    if "[[table]]" not in text:
        text = '[[table]]\nid = "1"\n' + text if text.startswith("[table.") else text + "\n" + TABLE
    path.write_text(text)
    load(path, DRIVERS)


@pytest.mark.parametrize(("page", "text"), list(blocks("json")))
def test_json_is_json(page: Path, text: str) -> None:
    """As a whole, or line by line."""
    try:
        json.loads(text)
    except ValueError:
        for line in text.splitlines():
            json.loads(line)


def anchor(heading: str) -> str:
    """As a forge makes it of a heading."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower())
    return words.strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Files exist, and so do the headings that are named."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{named(page)}: {target}"
        if heading:
            headings = re.findall(r"(?m)^#+ +(.+)$", path.read_text())
            assert heading in map(anchor, headings), f"{named(page)}: {target}"


def test_every_picture_is_shown() -> None:
    """None is kept that no page shows."""
    shown = set(re.findall(r"pictures/([a-z-]+\.png)", "".join(page.read_text() for page in PAGES)))

    assert shown == {path.name for path in (ROOT / "docs" / "pictures").iterdir()}


def test_every_page_is_found_from_the_first() -> None:
    """Whoever starts at the index comes to every page."""
    found, todo = set(), [ROOT / "docs" / "index.md"]
    while todo:
        page = todo.pop()
        if page in found or page.suffix != ".md" or not page.exists():
            continue
        found.add(page)
        todo += [(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())]
    ours = {ROOT / "docs" / f"{name}.md" for name in OURS}

    assert set() == ours - found


OURS = (
    "index", "quick-start", "planning", "wiring", "arbiter", "alerts", "broadcast", "it", "troubleshooting",
    "configuration", "commands", "captures", "architecture",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in OURS if name not in ("configuration", "commands")])
def test_pages_are_short(name: str) -> None:
    """Nobody reads more under pressure."""
    words = (ROOT / "docs" / f"{name}.md").read_text().split()

    assert len(words) <= 1000


def test_arbiters_page_says_the_catalogues_words() -> None:
    """The ten alerts to print are called as the page calls them; ids on the alerts' page exist."""
    titles = {kind.title for kind in CATALOGUE.values()}
    rows = re.findall(r"(?m)^\| ([A-Z][^|]+?) \|", (ROOT / "docs/arbiter.md").read_text().split("## The ten")[1])
    ids = re.findall(r"`([a-z_0-9]+)`", (ROOT / "docs/alerts.md").read_text().split("## What they mean")[1])

    assert 10 == len(rows)
    assert set() == set(rows) - titles
    assert set() == {name for name in ids if "_" in name} - set(CATALOGUE)


def test_architecture_names_what_exists() -> None:
    """Every module and folder in the drawing is there."""
    text = (ROOT / "docs/architecture.md").read_text()
    for name in re.findall(r"(?m)^ *([a-z_]+(?:/|\.py))", text):
        assert (ROOT / "gateway" / name).exists(), name
    for name in re.findall(r"\b([a-z_]+\.py)\b", text):
        assert list((ROOT / "gateway").rglob(name)), name


# --- what is written from the code --------------------------------------------------------------------------------


def generator() -> object:
    loader = SourceFileLoader("docs_generator", str(ROOT / "scripts" / "docs"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = write
    return module


def test_what_is_written_from_the_code_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """Renew it with `.venv/bin/python scripts/docs`."""
    monkeypatch.setenv("COLUMNS", "100")
    made = generator().generated()  # type: ignore[attr-defined]

    assert [] == [name for name, text in made.items() if (ROOT / name).read_text() != text]


def test_every_setting_and_command_is_explained() -> None:
    """And nothing that does not exist is."""
    page = generator()
    keys = {
        f"{name.strip('[]')}.{key}"
        for name, _, allowed, _ in [*page.SECTIONS, *page.FEED_SECTIONS]  # type: ignore[attr-defined]
        for key in allowed
    }

    assert keys == set(page.MEANING)  # type: ignore[attr-defined]
    assert {*COMMANDS, "feed"} == set(
        re.findall(r"(?m)^### `board-gateway (.+)`$", (ROOT / "docs/commands.md").read_text())
    )


# --- what is run for real -----------------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_certificates_are_made(tmp_path: Path) -> None:
    """The commands of the TLS section make what Python's own TLS accepts for the broker's name."""
    [block] = re.findall(r"```sh\n(openssl req.*?)```", (ROOT / "docs/it.md").read_text(), re.DOTALL)
    made = "\n".join(line for line in block.splitlines() if not line.startswith("sudo "))
    done = subprocess.run(["bash", "-e"], input=made, text=True, cwd=tmp_path, capture_output=True, check=False)
    assert 0 == done.returncode, done.stderr
    check = ["openssl", "verify", "-CAfile", "ca.pem", "-verify_hostname", "broker.hall.lan", "server.pem"]

    assert "server.pem: OK\n" == subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
