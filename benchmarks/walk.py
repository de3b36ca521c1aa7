"""A newcomer's walk, timed: a fresh clone, one command, the page, and the first alert ruled on.

    python benchmarks/walk.py

Does what the README's first screen says and nothing else: `scripts/demo` in a clone of this checkout (its last commit),
which makes its own environment; then a browser of a phone's size opens the address that the demo prints, taps the first
alert and rules on it. What a person takes to read and to think comes on top.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "web")]

from stage import CHROMIUM_ARGUMENTS, PHONE, chromium, log_in  # noqa: E402

PATIENCE_S = 600.0


class Demo:
    """`scripts/demo` on a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self.master, slave = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
        self.process = subprocess.Popen(
            ["scripts/demo"], cwd=folder, stdin=slave, stdout=slave, stderr=slave, env={**environment, "TERM": "xterm"}
        )
        os.close(slave)
        self.seen = ""
        # All the time, as a terminal does: it would wait for us.
        threading.Thread(target=self._read, daemon=True).start()

    def until(self, pattern: str) -> str:
        """What the terminal shows next that is like this."""
        end = time.monotonic() + PATIENCE_S
        while (found := re.search(pattern, self.seen)) is None:
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"the demo did not come to {pattern}:\n{self.seen[-2000:]}")
            time.sleep(0.02)
        return found[1]

    def quit(self) -> int:
        os.write(self.master, b"q")
        return self.process.wait(30)

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.master, 65536):
                self.seen += data.decode(errors="replace")


def rule(page: Any) -> str:
    """Open the first alert and rule on it; return what was ruled on. Alerts of the demo go by themselves."""
    while True:
        page.locator(".chip.alert").first.click(timeout=120_000)
        act = page.locator(".acts .strong:enabled")
        act.wait_for()
        what = page.locator(".title h1").inner_text() + ": " + page.locator(".line .kind").first.inner_text()
        act.click()
        page.locator(".sheet .option").first.click()
        page.locator(".sheet .last .strong").click()
        page.locator(".order").wait_for()
        if page.locator(".order.done").count() or page.locator(".order.sending").count():
            page.locator(".order.done").wait_for()
            return what


def main() -> None:
    began = time.monotonic()

    def tell(what: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)

    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        folder = Path(directory) / "board-gateway"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, folder], check=True)
        tell("cloned")
        demo = Demo(folder)
        address = demo.until(r"The arbiter's page: +(http://\S+)")
        tell(f"the demo runs; page: {address}")
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport=PHONE)
        page.goto(address)
        log_in(page)
        page.locator(".fresh").wait_for()
        tell("the page is live")
        tell(f"ruled on {rule(page)}")
        browser.close()
        code = demo.quit()
        tell(f"q ends it, exit status {code}")


if __name__ == "__main__":
    main()
