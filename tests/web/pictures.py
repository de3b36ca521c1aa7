"""Photographs of the page for the documentation: a hall of sixty tables, played through the real gateway and broker.

    scripts/pictures [FOLDER]

Nothing is painted: every alert on the pictures was raised by the gateway from what the boards of this hall said.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playing import Scene, simulated_seat
from playwright.sync_api import sync_playwright
from stage import CHROMIUM_ARGUMENTS, PHONE, WALL, Stage, chromium, log_in, serving

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
TABLES = 60
LONG_S = 900
RUN_UP_S = 40.0

SHARP = {"device_scale_factor": 2}


def left_in_check() -> Scene:
    """White moves and leaves his king in check."""
    scene = Scene("12", "4r1k1/5ppp/p1p5/1p6/3P4/P7/1P3PPP/4K3", players=("Okafor", "Visser")).wait(1).run("white")
    return scene.wait(12).move("P", "g2", "g3").run("black").wait(LONG_S)


def flag() -> Scene:
    """White's time runs out."""
    scene = (
        Scene("31", "3r2k1/pp3ppp/2p5/8/4N3/1P4P1/P4P1P/3R2K1", clock=20.0, players=("Moreau", "Haddad"))
        .wait(1)
        .run("white")
        .wait(25)
    )
    scene.left["white"] = 0.0
    scene.running = "none"
    return scene.say("clock 0 20 none flags=white").wait(LONG_S)


def stopped() -> Scene:
    """Both clocks stand, and nobody said why."""
    scene = (
        Scene("7", "r2q1rk1/pp2bppp/2np1n2/4p3/4P3/2N1BN2/PPP1QPPP/R4RK1", players=("Bakker", "Novak"))
        .wait(1)
        .run("white")
        .wait(6)
    )
    return scene.run("none").wait(LONG_S)


def knocked() -> Scene:
    """A pawn stands beside its square."""
    scene = (
        Scene("22", "2r3k1/1p3ppp/p2p4/3Pp3/2P1P3/5P2/PP4PP/2R3K1", players=("Tanaka", "Weber"))
        .wait(1)
        .run("white")
        .wait(4)
    )
    return scene.say("lift h2").wait(1).say("place P@h4").say("lift g2").wait(1).say("place P@h2").wait(LONG_S)


def uncrowned() -> Scene:
    """Draughts: a man reaches the last row and is not crowned."""
    keys = {"game": "draughts", "regulations": "fmjd-standard", "players": ("Silva", "Kaya")}
    scene = Scene("40", "WK48,7,37,32,38,42,28:B9,13,24,18,23,35", **keys).wait(1).run("white").wait(6)
    return scene.move("w", "7", "1").run("black").wait(LONG_S)


def hall(stage: Stage) -> None:
    """Sixty tables on two gateways, five of them in need of somebody, and one board without its cable."""
    scenes = {scene.table: scene for scene in (left_in_check(), flag(), stopped(), knocked(), uncrowned())}
    gone = Scene("53", "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1").wait(1).run("white").wait(18)
    gone.lines.append({"t": gone.t, "link": "board", "state": "down", "detail": "no answer on this cable"})
    scenes["53"] = gone
    for gateway, first, last in (("pi-a", 1, 30), ("pi-b", 31, TABLES)):
        stage.hall(
            [
                scenes[str(number)].seat(gateway, RUN_UP_S)
                if str(number) in scenes
                else simulated_seat(number, gateway, 20 + number * 7 % 90)
                for number in range(first, last + 1)
            ],
            gateway,
        )


def sheet(page: Any) -> None:
    """The sheet for a ruling, with one chosen."""
    page.locator(".acts .strong").click()
    page.locator(".option").nth(0).click()


PICTURES: dict[str, tuple[str, dict[str, int], str, Callable[[Any], None] | None]] = {
    "phone-alerts": ("#/alerts", PHONE, "dark", None),
    "phone-hall": ("#/hall", PHONE, "dark", None),
    "phone-table": ("#/t/12", PHONE, "dark", None),
    "phone-differs": ("#/t/22", PHONE, "dark", None),
    "phone-ruling": ("#/t/12", PHONE, "dark", sheet),
    "phone-tech": ("#/tech", PHONE, "dark", None),
    "wall": ("#/hall", WALL, "dark", None),
    "wall-draughts": ("#/t/40", WALL, "light", None),
    "spectators": ("#/public", WALL, "dark", None),
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        sync_playwright() as playwright,
        serving() as server,
        ExitStack() as ending,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        stage = Stage(Path(directory), browser, server)
        ending.callback(stage.close)
        hall(stage)
        for size, options in ((PHONE, SHARP), (WALL, {})):
            page = stage.page("", size, **options)
            log_in(page)
            page.locator(".fresh").wait_for()
            page.wait_for_timeout(5000)
            for name, (route, wanted, theme, prepare) in PICTURES.items():
                if wanted is size:
                    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
                    page.goto(f"{stage.server.url}/{route}")
                    page.wait_for_timeout(2500)
                    if prepare is not None:
                        prepare(page)
                        page.wait_for_timeout(400)
                    page.screenshot(path=folder / f"{name}.png")
                    if prepare is not None:
                        page.reload()
                        page.wait_for_timeout(4000)
        page = stage.page("", WALL)
        log_in(page)
        page.goto(f"{stage.server.url}/#/hall")
        page.wait_for_timeout(6000)
        stage.broker.kill()
        page.wait_for_timeout(5000)
        page.screenshot(path=folder / "wall-not-live.png")


if __name__ == "__main__":
    main()
