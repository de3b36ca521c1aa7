"""The Debian package: what is in it, and what installing, upgrading, removing and purging leave behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
CONFIG = "etc/board-gateway/config.toml"
STATE = "var/lib/board-gateway/journal.sqlite3"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("dpkg", "dpkg-deb", "git", "bash"))) or not (ROOT / ".git").exists(),
    reason="needs dpkg-deb and a checkout",
)


def build(folder: Path, version: str, arch: str = "arm64") -> Path:
    """The package without its dependencies, which would have to be fetched."""
    environment = os.environ | {"WITHOUT_DEPENDENCIES": "1", "VERSION": version, "PYTHON": sys.executable}
    command = [PACKAGING / "build-deb", arch, folder]
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT)
    return folder / f"board-gateway_{version}_{arch}.deb"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("deb"), "1.0")


def dpkg(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Act on a system of its own; the package's scripts keep to it by $DPKG_ROOT."""
    force = ["--force-not-root", "--force-script-chrootless", "--force-architecture", "--force-depends"]
    environment = os.environ | {"PATH": f"/usr/sbin:/sbin:{os.environ['PATH']}"}
    return subprocess.run(
        ["dpkg", f"--root={root}", *force, "--log=/dev/null", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )


def test_what_is_in_it(package: Path) -> None:
    """Program, unit, rules, user, configuration; all of root's, nothing writable by others."""
    listed = subprocess.run(["dpkg-deb", "-c", package], check=True, capture_output=True, text=True).stdout
    files = {line.split()[5].removeprefix("./"): line.split()[:2] for line in listed.splitlines()}

    assert {
        CONFIG,
        "lib/systemd/system/board-gateway.service",
        "lib/systemd/system/board-gateway-feed.service",
        "lib/udev/rules.d/70-board-gateway.rules",
        "usr/lib/sysusers.d/board-gateway.conf",
        "usr/bin/board-gateway",
        "opt/board-gateway/lib/gateway/catalogue.toml",
        "opt/board-gateway/lib/gateway/web/index.html",
        "opt/board-gateway/lib/gateway/web/docs/index.html",
    } <= set(files)
    assert {"root/root"} == {owner for _, owner in files.values()}
    assert [] == [name for name, (mode, _) in files.items() if mode[8] == "w" and mode[0] != "l"]
    assert [] == [name for name in files if "__pycache__" in name or name.startswith("var/")]


def test_the_program_runs(package: Path, tmp_path: Path) -> None:
    """From where it is put, and it knows its version."""
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    program = (tmp_path / "opt/board-gateway/bin/board-gateway").read_text()
    program = program.replace("/opt/board-gateway", f"{tmp_path}/opt/board-gateway")
    done = subprocess.run([sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=True)

    assert re.fullmatch(r"\S+ \S+\n", done.stdout)
    assert (tmp_path / "usr/bin/board-gateway").readlink() == Path("/opt/board-gateway/bin/board-gateway")
    unit = (tmp_path / "lib/systemd/system/board-gateway.service").read_text()
    assert "ExecStart=/opt/board-gateway/bin/board-gateway run" in unit


def test_upgrade_and_removal_keep_state(package: Path, tmp_path: Path) -> None:
    """The operator's configuration and the journal live through an upgrade; the journal even through a purge."""
    root = tmp_path / "root"
    for folder in ("updates", "info"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    (root / "etc").mkdir()
    first = dpkg(root, "-i", package)
    (root / CONFIG).write_text("# mine\n")
    (root / STATE).write_text("games")
    dpkg(root, "-i", build(tmp_path, "1.1"))
    upgraded = (root / CONFIG).read_text(), (root / STATE).read_text()
    compiled = root / "opt/board-gateway/lib/gateway/__pycache__"
    compiled.mkdir()
    (compiled / "x.pyc").touch()
    dpkg(root, "--remove", "board-gateway")
    removed = (root / CONFIG).read_text(), (root / STATE).read_text(), (root / "opt/board-gateway").exists()
    dpkg(root, "--purge", "board-gateway")

    assert re.search(r"Setting up board-gateway\S* \(1.0\)", first.stdout)
    assert ("# mine\n", "games") == upgraded
    assert ("# mine\n", "games", False) == removed
    assert not (root / CONFIG).exists()
    assert "games" == (root / STATE).read_text()


def test_every_dependency_is_pinned_with_hashes() -> None:
    """What pyproject.toml asks for is there, in one version, with at least one hash."""
    text = (PACKAGING / "requirements.txt").read_text()
    pinned = dict(re.findall(r"(?m)^([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", text))
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]

    assert {re.split("[<>=]", one)[0] for one in wanted} <= set(pinned)
    assert text.count("==") == len(pinned)


@pytest.mark.parametrize("script", ["postinst", "prerm", "postrm"])
def test_scripts_are_sound(script: str) -> None:
    """The shell understands them."""
    subprocess.run(["sh", "-n", PACKAGING / script], check=True)
