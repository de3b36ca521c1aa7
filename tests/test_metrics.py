"""The health as Prometheus reads it: one file, always whole, with names that end with their unit."""

from __future__ import annotations

import re
import stat
from collections import Counter
from itertools import pairwise
from pathlib import Path

from brokers import Mosquitto, subscribed, until
from hall import START_S, Board, Process

from gateway.health import Process as HealthProcess
from gateway.health import payload
from gateway.link import Counters
from gateway.metrics import text, write

LINE = re.compile(r'board_gateway_[a-z_]+\{gateway="[a-z0-9-]+"(,[a-z]+="[^"\\\n]+")*\} [0-9.e+-]+')


def samples(content: str) -> dict[str, float]:
    """Name with labels -> value."""
    lines = [line.rpartition(" ") for line in content.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_the_health_as_samples() -> None:
    """Every figure of the topic, in base units; of a link that was never heard no time."""
    links = {
        "1": Counters(frames=2, rejected=Counter(checksum=3), reconnects=1, last_frame=5.25),
        "b-2": Counters(),
    }
    told = payload(HealthProcess(), 7, links, ["no broker"], wall=10.0, epoch=100.0)
    told |= {"cpu": 12.5, "memory": 50_000_000, "temperature": 48.5, "uptime": 60.0}
    content = text("pi-a", told)

    assert {
        'board_gateway_uptime_seconds{gateway="pi-a"}': 60.0,
        'board_gateway_cpu_ratio{gateway="pi-a"}': 0.125,
        'board_gateway_memory_bytes{gateway="pi-a"}': 50_000_000,
        'board_gateway_temperature_celsius{gateway="pi-a"}': 48.5,
        'board_gateway_outbox_events{gateway="pi-a"}': 7,
        'board_gateway_problems{gateway="pi-a"}': 1,
        'board_gateway_link_frames_total{gateway="pi-a",table="1"}': 2,
        'board_gateway_link_frames_total{gateway="pi-a",table="b-2"}': 0,
        'board_gateway_link_rejected_total{gateway="pi-a",table="1",reason="checksum"}': 3,
        'board_gateway_link_reconnects_total{gateway="pi-a",table="1"}': 1,
        'board_gateway_link_reconnects_total{gateway="pi-a",table="b-2"}': 0,
        'board_gateway_link_last_frame_timestamp_seconds{gateway="pi-a",table="1"}': 105.25,
    } == samples(content)
    assert content.endswith("\n")


def test_a_family_has_its_head_once_and_none_is_empty() -> None:
    """HELP, TYPE, then all its samples: what the exposition format asks for. No temperature, no family of that name."""
    told = payload(HealthProcess(), 0, {"1": Counters(), "2": Counters()}, [], wall=10.0, epoch=0.0)
    lines = text("pi-a", told | {"temperature": None}).splitlines()
    heads = [line.split()[:3] for line in lines if line.startswith("#")]

    assert [["#", word, name] for _, _, name in heads[::2] for word in ("HELP", "TYPE")] == heads
    assert len({name for _, _, name in heads}) == len(heads) / 2
    assert not [line for line in lines if "temperature" in line or "last_frame" in line]
    assert [] == [line for line in lines if not line.startswith("#") and not LINE.fullmatch(line)]
    for before, line in pairwise(lines):
        if not line.startswith("#"):
            name = line.partition("{")[0]
            assert before.startswith((f"# TYPE {name} ", f"{name}{{"))


def test_the_file_is_replaced_whole_and_may_be_read(tmp_path: Path) -> None:
    """Whoever reads has the old or the new one, and nothing else is left in the folder."""
    path = tmp_path / "gateway.prom"
    write(path, "old\n")
    with path.open() as reading:
        write(path, "new\n")

        assert "old\n" == reading.read()

    assert "new\n" == path.read_text()
    assert [path] == list(tmp_path.iterdir())
    assert 0o644 == stat.S_IMODE(path.stat().st_mode)


async def test_the_daemon_writes_it_and_says_when_it_cannot(
    daemon: Process, mosquitto: Mosquitto, board: Board, tmp_path: Path
) -> None:
    """Beside the health topic; a folder that is not there is a problem that health names, and stops no board."""
    folder = tmp_path / "collected"
    daemon.configure({"1": board.name})
    configured = daemon.config.read_text()
    daemon.config.write_text(configured.replace("[mqtt]", f'metrics_file = "{folder}/gateway.prom"\n[mqtt]', 1))
    async with subscribed(mosquitto.port) as subscriber:
        daemon.start()
        await until(lambda: board.asked, START_S)
        await until(lambda: "the file for Prometheus is not written" in daemon.log.read_text(), START_S)
        folder.mkdir()
        told = "hall/gateway/g/health"
        await subscriber.until(lambda s: any("not written" in str(p["problems"]) for p in s.payloads(told)), START_S)
        await until((folder / "gateway.prom").exists, START_S)
        await subscriber.until(lambda s: "not written" not in str(s.payloads(told)[-1]["problems"]), START_S)

    found = samples((folder / "gateway.prom").read_text())

    assert found['board_gateway_link_frames_total{gateway="g",table="1"}'] > 0
