"""How long a message takes to the screen: sixty tables of blitz, a real broker, headless Chromium.

    python benchmarks/page.py [--tables 60] [--seconds 60] [--throttle 1] [--size wall|phone]

Sixty simulated tables play through the gateway's own code. Beside them one table is told a new move at irregular
moments; the page writes down when that message came out of its websocket and when the frame that shows it was painted.
Tasks of the page's main thread come from the browser's own trace, by the processor's time: on a machine that others use
too, the wall clock would count their work as ours.

`--throttle 4` slows the page's processor as a cheap phone would; then tasks are counted by the wall clock too.

Chromium draws without a graphics card here, in the same two cores as broker, tables and measurement.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "web")]

from playing import simulated_seat  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from stage import CHROMIUM_ARGUMENTS, PHONE, WALL, Stage, chromium, log_in, say_table, serving, stamp  # noqa: E402

TRACED_S = 15
WATCH = """
window.arrived = {}; window.painted = {}; window.long = [];
const Plain = WebSocket;
window.WebSocket = class extends Plain {
  constructor(...values) {
    super(...values);
    this.addEventListener('message', ({ data }) => {
      const at = performance.now();
      const text = typeof data === 'string' ? data : new TextDecoder('latin1').decode(data);
      for (const [, probe] of text.matchAll(/"probe-(\\d+)"/g)) window.arrived[probe] ??= at;
    });
  }
};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.long.push([Math.round(entry.startTime), Math.round(entry.duration)]);
}).observe({ type: 'longtask', buffered: true });
addEventListener('DOMContentLoaded', () => new MutationObserver((records) => {
  for (const { target } of records) {
    const probe = /probe-(\\d+)/.exec(target.textContent)?.[1];
    if (!probe || window.painted[probe]) continue;
    window.painted[probe] = Infinity;
    requestAnimationFrame(() => setTimeout(() => (window.painted[probe] = performance.now())));
  }
}).observe(document.body, { subtree: true, childList: true, characterData: true }));
"""


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def long_tasks(trace: bytes) -> list[float]:
    """Tasks of the main thread of more than 50 ms of processor time, in ms."""
    events = json.loads(trace)["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [event for event in events if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in mains]
    return sorted((task["tdur"] / 1000 for task in tasks if task.get("tdur", 0) > 50_000), reverse=True)


def probe(hall: Any, number: int) -> None:
    """One new move at the table that is watched."""
    move = {"ply": number + 1, "side": "white", "notation": f"probe-{number}", "uci": "g3g4", "legal": True}
    hall.say(
        "table/P/game",
        {
            "v": 1,
            "time": stamp(),
            "game_id": "P-20260501T100000Z",
            "game": "chess",
            "phase": "play",
            "white": None,
            "black": None,
            "start_fen": "4r1k1/5ppp/8/8/8/6K1/5PPP/8 w - - 0 1",
            "moves": [{**move, "confirmed": True, "clock": None, "elapsed": None}],
            "result": None,
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--throttle", type=float, default=1.0)
    parser.add_argument("--size", choices=["wall", "phone"], default="wall")
    arguments = parser.parse_args()
    chance = random.Random(1)
    with (
        tempfile.TemporaryDirectory() as directory,
        sync_playwright() as playwright,
        serving() as server,
        ExitStack() as ending,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        stage = Stage(Path(directory), browser, server)
        ending.callback(stage.close)
        seats = [simulated_seat(number, "pi-a", chance.uniform(20, 100)) for number in range(1, arguments.tables + 1)]
        hall = stage.hall(seats)
        say_table(hall, "P", running="none")
        page = stage.page("#/hall", WALL if arguments.size == "wall" else PHONE)
        page.context.add_init_script(WATCH)
        categories = ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"]
        browser.start_tracing(page=page, categories=categories)
        page.reload()
        if arguments.throttle != 1:
            page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": arguments.throttle})
        log_in(page)
        page.locator(".tile").nth(arguments.tables).wait_for()
        page.wait_for_timeout(3000)
        opening = long_tasks(browser.stop_tracing())
        page.evaluate("window.long = []")
        until, sent = time.time() + arguments.seconds, {}
        heard = hall.said
        while time.time() < until:
            number = len(sent)
            sent[str(number)] = time.time() * 1000
            probe(hall, number)
            page.wait_for_timeout(chance.uniform(100, 700))
        page.wait_for_timeout(1000)
        origin, arrived, painted, long = page.evaluate(
            "[performance.timeOrigin, window.arrived, window.painted, window.long]"
        )
        memory = page.evaluate("performance.memory.usedJSHeapSize")
        # Apart from the measurement of latency, since tracing has its price.
        browser.start_tracing(page=page, categories=categories)
        page.wait_for_timeout(TRACED_S * 1000)
        tasks = long_tasks(browser.stop_tracing())
        rate = (hall.said - heard) / arguments.seconds
    inside = [painted[key] - arrived[key] for key in sent if key in painted and key in arrived]
    whole = [origin + painted[key] - at for key, at in sent.items() if key in painted]
    print(f"{arguments.tables} tables, {rate:.0f} messages/s, {arguments.size}, slowed {arguments.throttle:g} times")
    print(f"probes {len(sent)}, seen {len(inside)}")
    for name, values in (("message to pixel", inside), ("publish to pixel", whole)):
        p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
        print(f"{name}: p50 {p50:.0f} ms, p95 {p95:.0f} ms, most {max(values):.0f} ms")
    print(f"tasks over 50 ms of processor time: {len(tasks)} {tasks[:5]}; while opening: {len(opening)} {opening[:8]}")
    print(f"tasks over 50 ms by the wall clock: {len(long)} {sorted(took for _, took in long)[-5:]}")
    print(f"heap {memory / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
