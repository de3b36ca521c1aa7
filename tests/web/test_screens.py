"""Every screen at both sizes, dark and light: nothing that axe finds, that the policy refuses, or that is cut off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playing import Scene, draughts_scene, simulated_seat
from stage import PHONE, WALL, Stage, alert, browser, log_in, say_alerts, say_table, server, stage, stamp, until

__all__ = ["browser", "server", "stage"]

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SCREENS = ("#/alerts", "#/hall", "#/t/2", "#/t/4", "#/tech", "#/me", "#/public")
SIZES = {"phone": PHONE, "wall": WALL}


def some_hall(stage: Stage) -> None:
    """A hall with something of everything: an alert, a notice, a difference, draughts, a board that is gone."""
    check = Scene("2", "4r1k1/5ppp/8/8/8/8/5PPP/4K3").wait(1).run("white").wait(2)
    check.move("P", "g2", "g3").run("black").wait(600)
    hall = stage.hall([check.seat("pi-a", 30), draughts_scene("4").seat("pi-a", 30), simulated_seat(1, "pi-a", 40)])
    say_table(
        hall, "3", running="none", board="down", since="2026-01-01T10:00:00.000Z", detail="no answer on this cable"
    )
    say_alerts(hall, "3", alert("3", 1, "both_clocks_stopped", "notice"))


def violations(page: Any, only: str = "") -> list[str]:
    """What axe finds, each with the first place; `only` by one of its rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    options = {"resultTypes": ["violations"], **({"runOnly": [only]} if only else {})}
    found = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [f"{one['id']}: {one['help']} {one['nodes'][0]['html'][:120]}" for one in found]


def faults(page: Any, width: int) -> list[str]:
    """What is wrong with what the page shows now, dark and light; a theme changes colours and nothing else."""
    found = violations(page)
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    found += [f"light {fault}" for fault in violations(page, "color-contrast")]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    found += [f"refused: {what}" for what in page.evaluate("window.refused")]
    if page.evaluate("document.documentElement.scrollWidth") > width:
        found.append("wider than the screen")
    return found


@pytest.mark.parametrize("size", SIZES)
def test_every_screen_can_be_used_by_everybody(stage: Stage, size: str) -> None:
    """axe finds nothing, dark and light, the policy refused nothing, and nothing is wider than the screen."""
    some_hall(stage)
    width = SIZES[size]["width"]
    page = stage.page("", SIZES[size])
    page.locator("form.login button.strong").wait_for()
    found = {"login": faults(page, width)}
    page.locator("form.login button.strong").click()
    page.locator(".fresh").wait_for()
    for screen in SCREENS:
        page.goto(f"{stage.server.url}/{screen}")
        page.locator(f"body[data-view='{'table' if '/t/' in screen else screen[2:]}']").wait_for()
        page.wait_for_timeout(400)
        found[screen] = faults(page, width)

    assert {} == {screen: what for screen, what in found.items() if what}


def test_every_sheet_can_be_used_by_everybody(stage: Stage) -> None:
    """The sheets too; and the last button is in sight on a phone."""
    some_hall(stage)
    page = stage.opened("#/t/2")
    found = {}
    for act in ("Rule", "Correct", "Set position", "End game", "More"):
        page.locator(".acts button", has_text=act).click()
        send = page.locator("dialog[open] .last .strong")
        send.wait_for()
        found[act] = faults(page, PHONE["width"])
        box = send.bounding_box()
        if box["y"] + box["height"] > PHONE["height"]:
            found[act].append("the last button is out of sight")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")

    assert {} == {act: what for act, what in found.items() if what}


@pytest.mark.parametrize("filtering", ["achromatopsia", "deuteranopia"])
def test_without_colours_signs_and_words_remain(stage: Stage, filtering: str) -> None:
    """Whoever sees no colours reads the same."""
    some_hall(stage)
    page = stage.opened("", PHONE)
    page.context.new_cdp_session(page).send("Emulation.setEmulatedVisionDeficiency", {"type": filtering})
    page.locator(".line.gone").wait_for()

    assert "▲" in page.locator(".line.alert .sign").inner_text()
    assert "king left in check" == page.locator(".line.alert .kind").inner_text().lower()
    assert "●" in page.locator(".line.notice .sign").inner_text()
    assert "✕" in page.locator(".line.gone .sign").inner_text()
    assert "no answer on this cable" in page.locator(".line.gone .says").inner_text()


def test_what_differs_is_told_in_words_and_rings(stage: Stage) -> None:
    """A piece beside its square: a double ring, a dashed piece, a crossed one, and the same as a sentence."""
    scene = Scene("1", "4r1k1/5ppp/8/8/8/8/5PPP/4K3").wait(1).run("white").wait(2)
    stage.hall([scene.say("lift h2").say("place P@h4").wait(600).seat("pi-a", 30)])
    page = stage.opened("#/t/1")
    page.locator(".differs").wait_for()

    assert "h2: board nothing, game white pawn" in page.locator(".differs").inner_text()
    assert "h4: board white pawn, game nothing" in page.locator(".differs").inner_text()
    assert 4 == page.locator(".left .ring").count()
    assert 1 == page.locator(".left .ghost").count()
    assert 1 == page.locator(".left .crossed").count()


def test_what_stands_on_boards_is_heard_where_it_is_shown(stage: Stage) -> None:
    """Only there, anew at each visit, and again after the broker was away."""
    hall = stage.hall()
    say_table(hall, "1", running="none")
    board = {"v": 1, "time": stamp(), "physical": "4r1k1/5ppp/8/8/7P/6K1/5PP1/8", "differs": ["h2", "h4"]}
    hall.say("arbiter/1/board", board)
    page = stage.opened("#/hall", WALL)
    page.locator(".tile").click()
    page.locator(".differs", has_text="h4: board white pawn, game nothing").wait_for()
    page.goto(f"{stage.server.url}/#/hall")
    page.locator(".tile").wait_for()
    hall.say("arbiter/1/board", {**board, "physical": "4r1k1/5ppp/8/8/8/6K1/5PPP/8", "differs": []})
    page.locator(".tile").click()
    page.locator(".left .board").wait_for()
    page.wait_for_timeout(400)

    assert 0 == page.locator(".differs").count()

    stage.broker.kill()
    page.locator("header .unseen").wait_for()
    stage.broker.start()
    hall._client.reconnect()
    page.locator(".fresh").wait_for(timeout=12_000)
    hall.say("arbiter/1/board", board)
    say_table(hall, "1", running="none")

    page.locator(".differs", has_text="h2: board nothing, game white pawn").wait_for()


def test_a_draughts_board_is_numbered_and_its_kings_are_told(stage: Stage) -> None:
    """Square 1 is top left as White sees it, 50 bottom right; a king has a second ring and a letter."""
    stage.hall([draughts_scene("4").seat("pi-a", 30)])
    page = stage.opened("#/t/4")
    page.locator(".left .man").first.wait_for()
    texts = page.locator(".left .names text")

    assert "1" == texts.first.text_content() and "50" == texts.last.text_content()
    assert 2 == page.locator(".left .man.white", has_text="K").locator("circle").count()


def test_a_position_is_set_as_the_board_stands(stage: Stage) -> None:
    """By the real road: pieces knocked over, put up elsewhere, and the game goes on from there."""
    scene = Scene("1", "4r1k1/5ppp/8/8/8/8/5PPP/4K3").wait(1).run("white").wait(2)
    hall = stage.hall([scene.say("lift h2").say("place P@h4").wait(600).seat("pi-a", 30)])
    page = stage.opened("#/t/1")
    page.locator(".acts button", has_text="Set position").click()
    page.locator(".option", has_text="as it stands").click()
    page.locator(".option", has_text="White").click()
    page.locator(".sheet .last .strong", has_text="Table 1").click()
    page.locator(".order.done").wait_for()

    assert "set_position" == hall.commands[0]["command"]
    assert hall.commands[0]["fen"].startswith("4r1k1/5ppp/8/8/7P/8/5PP1/4K3 w")


def test_a_game_is_corrected_by_tapping_squares(stage: Stage) -> None:
    """The first wrong move, then from where to where."""
    scene = Scene("1", "4r1k1/5ppp/8/8/8/8/5PPP/4K3", clock=600).wait(1).run("white").wait(2)
    hall = stage.hall([scene.move("P", "f2", "f3").run("black").wait(600).seat("pi-a", 30)])
    page = stage.opened("#/t/1")
    page.locator(".moves .move").first.wait_for()
    page.locator(".acts button", has_text="Correct").click()
    page.locator(".plies .option").first.click()
    board = page.locator(".sheet .mini .board")
    box = board.bounding_box()
    for file, rank in ((5, 6), (5, 4)):
        board.click(position={"x": box["width"] * (file + 0.5) / 8, "y": box["height"] * (rank + 0.5) / 8})
    page.locator(".sheet .last .strong", has_text="correct from move").click()
    until(lambda: hall.commands, page)

    assert {"command": "correct", "from_ply": 1, "moves": ["f2f4"]} == {
        key: hall.commands[0].get(key) for key in ("command", "from_ply", "moves")
    }


def test_spectators_are_shown_games_and_no_differences(stage: Stage) -> None:
    """The public screen asks for no arbiter's topic, and shows the game's position."""
    some_hall(stage)
    page = stage.opened("#/public", WALL)
    page.locator(".games li").first.wait_for()
    page.wait_for_timeout(500)

    assert 4 == page.locator(".games li").count()
    assert 0 == page.locator(".chip, .ring, .counts").count()


def test_the_table_of_a_notice_can_wait(stage: Stage) -> None:
    """Later is for notices only, is counted, and ends when the notice grows to an alert."""
    hall = stage.hall()
    say_table(hall, "3", running="none")
    say_alerts(hall, "3", alert("3", 1, "both_clocks_stopped", "notice"))
    page = stage.opened()
    page.locator(".line .later").first.click()
    page.locator("header .later", has_text="1 later").wait_for()
    page.locator(".line.notice").wait_for(state="detached")

    say_alerts(hall, "3", alert("3", 1, "both_clocks_stopped", "alert"))
    page.locator(".line.alert").wait_for()

    assert 0 == page.locator(".line .later").count()


def test_the_screen_stays_on_while_the_page_is_in_sight(stage: Stage) -> None:
    """Asked for after the login, given back when it is not wanted any more."""
    say_table(stage.hall(), "1", running="none")
    page = stage.page()
    page.evaluate(
        "window.locks = 0; Object.defineProperty(navigator, 'wakeLock', { value: { request: async () => {"
        " window.locks++; return { released: false, release: () => window.locks-- }; } } })"
    )

    assert 0 == page.evaluate("window.locks")

    log_in(page)
    page.locator(".fresh").wait_for()
    page.locator("nav a", has_text="Me").click()
    page.locator("label", has_text="Keep the screen on").locator("input").wait_for()

    assert 1 == page.evaluate("window.locks")

    page.locator("label", has_text="Keep the screen on").locator("input").uncheck()

    assert 0 == page.evaluate("window.locks")


def test_languages(stage: Stage) -> None:
    """The page speaks the language of the phone, or the one that was chosen."""
    stage.hall([simulated_seat(1, "pi-a", 40)])
    page = stage.opened("", PHONE, locale="nl-NL")

    assert "nl" == page.locator("html").get_attribute("lang")
    assert json.loads(Path("gateway/web/i18n/nl.json").read_text())["nav.alerts"] in page.locator("nav").inner_text()
