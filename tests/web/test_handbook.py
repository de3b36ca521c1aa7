"""The handbook as the hall reads it: whole, without a script, readable on a phone, the arbiter's page on one sheet."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from stage import PHONE, browser

from gateway.webserver import HEADERS

__all__ = ["browser"]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("markdown_it", reason="markdown-it-py is not installed (dependency group dev)")
    folder = tmp_path_factory.mktemp("handbook") / "docs"
    subprocess.run([sys.executable, ROOT / "scripts" / "handbook", folder], check=True, capture_output=True)
    return folder


class Links(HTMLParser):
    """What a page leads to, and the names of its headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.targets.append(value)
            if name == "id" and value is not None:
                self.ids.add(value)


def dead_links(folder: Path) -> Iterator[str]:
    for page in sorted(folder.rglob("*.html")):
        for target in Links(page.read_text()).targets:
            name, _, heading = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            if re.match(r"\w+:", target) or path == folder.parent:
                continue
            if not path.is_file() or (heading and heading not in Links(path.read_text()).ids):
                yield f"{page.name}: {target}"


def test_every_page_is_there_and_leads_somewhere(handbook: Path) -> None:
    """One for each page of docs/; the pictures that they show are beside them."""
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}

    assert pages == {path.relative_to(handbook) for path in handbook.rglob("*.html")}
    assert [] == list(dead_links(handbook))


def test_nothing_in_it_is_refused_by_the_policy(handbook: Path, browser: Any) -> None:
    """No script, no style inside a tag, nothing from elsewhere; and no page is wider than a phone."""
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))

    def serve(route: Any) -> None:
        path = handbook / route.request.url.removeprefix("http://hall/docs/")
        kinds = {".html": "text/html; charset=utf-8", ".css": "text/css", ".png": "image/png"}
        route.fulfill(body=path.read_bytes(), headers={**HEADERS, "Content-Type": kinds[path.suffix]})

    page.route("**/*", serve)
    wide = []
    for name in ("index", "arbiter", "page", "configuration", "boards/README"):
        page.goto(f"http://hall/docs/{name}.html")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(name)
    context.close()

    assert [] == said
    assert [] == wide


def test_the_arbiters_page_is_one_sheet(handbook: Path, browser: Any) -> None:
    """Both sides of A4, and no more."""
    page = browser.new_page()
    page.goto(f"file://{handbook}/arbiter.html")
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    sizes = [tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", printed)]

    assert 2 == len(sizes)
    assert all(abs(width - 595) < 1.5 and abs(height - 842) < 1.5 for _, _, width, height in sizes)
