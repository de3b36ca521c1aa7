"""What must never happen on the arbiter's page, each with the disturbance that would make it happen."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from playing import Scene
from stage import PHONE, WALL, Stage, alert, browser, log_in, say_alerts, say_clock, say_table, server, stage, until

__all__ = ["browser", "server", "stage"]

NOT_LIVE = ".unseen"


def playing(table: str = "1") -> Scene:
    """White to move, his clock running for a quarter of an hour."""
    return Scene(table, "4r1k1/5ppp/8/8/8/8/5PPP/4K3").wait(1).run("white").wait(900)


def in_check(table: str = "1", after: float = 2.0) -> Scene:
    """White leaves his king in check some seconds after the beginning."""
    scene = Scene(table, "4r1k1/5ppp/8/8/8/8/5PPP/4K3").wait(1).run("white").wait(after)
    return scene.move("P", "g2", "g3").run("black").wait(900)


def still(page: Any, selector: str = ".tile .reading", seconds: float = 1.5) -> bool:
    """Whether no reading changes for a while."""
    before = page.locator(selector).all_inner_texts()
    page.wait_for_timeout(seconds * 1000)
    return bool(before) and before == page.locator(selector).all_inner_texts()


# --- old shown as live ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_without_a_broker_nothing_ticks_and_all_says_so(stage: Stage, how: str) -> None:
    """After three seconds of silence no clock counts, every tile is marked, and the strip says since when."""
    stage.hall([playing("1").seat("pi-a", 20), playing("2").seat("pi-a", 20)])
    page = stage.opened("#/hall", WALL)
    page.locator(".tile.live .runs").first.wait_for()

    assert not still(page)

    if how == "frozen":
        stage.freeze()
    else:
        stage.broker.kill()
    page.locator(f"header {NOT_LIVE}").wait_for(timeout=4000)
    page.wait_for_timeout(300)

    assert still(page)
    assert 2 == page.locator(".tile.gone").count()
    assert all("not live" in text for text in page.locator(".tile .word").all_inner_texts())
    assert 0 == page.locator(".fresh").count()

    if how == "frozen":
        stage.thaw()
    else:
        stage.broker.start()
        stage.halls[0]._client.reconnect()
    page.locator(".fresh").wait_for(timeout=10_000)


@pytest.mark.parametrize("cleanly", [True, False])
def test_a_gateway_that_goes_takes_its_tables_along(stage: Stage, cleanly: bool) -> None:
    """Its last word, or its Will, greys its tables and no others."""
    stage.hall([playing("1").seat("pi-a", 20)])
    other = stage.hall([playing("2").seat("pi-b", 20)], "pi-b")
    page = stage.opened("#/hall", WALL)
    page.locator(".tile.live").nth(1).wait_for()
    other.close(cleanly)
    page.locator(".tile.gone").wait_for(timeout=12_000)

    assert "✕2" == page.locator(".tile.gone .number").inner_text()
    assert "gateway pi-b gone" in page.locator(".tile.gone .word").inner_text()
    assert 1 == page.locator(".tile.live").count()


def test_a_gateway_that_hangs_leaves_clocks_that_stand(stage: Stage) -> None:
    """The connection is there and says nothing: after 3 s the reading stands and its age is told."""
    hall = stage.hall([playing("1").seat("pi-a", 20)])
    page = stage.opened("#/hall", WALL)
    page.locator(".tile.live .runs").wait_for()
    hall.quiet.set()
    page.locator(".tile.stale").wait_for(timeout=4500)

    assert still(page)
    assert "old" in page.locator(".tile .word").inner_text()


def test_a_page_that_was_stalled_shows_no_time_of_before(stage: Stage) -> None:
    """After eight seconds without the processor a clock is right, or it says that it is old."""
    hall = stage.hall([playing("1").seat("pi-a", 20)])
    page = stage.opened("#/hall", WALL)
    page.locator(".tile.live .runs").wait_for()
    found = page.evaluate(
        """async () => {
          const until = performance.now() + 8000;
          while (performance.now() < until);
          const seen = [];
          for (let i = 0; i < 60; i++) {
            await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
            const tile = document.querySelector('.tile');
            seen.push([Date.now() / 1000, tile.className, tile.querySelector('.runs')?.textContent ?? '']);
          }
          return seen;
        }"""
    )
    wrong = []
    # The first frame may be the picture of before, which nobody could change.
    for at, classes, text in found[1:]:
        minutes, seconds = text.strip("▸").split(":")
        shown = int(minutes) * 60 + int(seconds)
        # 2,400 s at the start, running since second 1.1 of the capture.
        truth = 2400 - (at - hall.opened_at + 20 - 1.1)
        if "live" in classes and abs(shown - truth) > 2.6:
            wrong.append((shown, truth))

    assert [] == wrong


def test_a_woken_phone_is_curtained_until_the_broker_has_answered(stage: Stage) -> None:
    """It may hold a connection that is long dead: nothing of before is in sight until the broker has spoken."""
    say_table(stage.hall(), "1", running="none")
    page = stage.opened("#/hall")
    page.locator(".tile").wait_for()
    stage.freeze()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.locator(".curtain", has_text="Checking").wait_for()
    box = page.locator(".curtain").bounding_box()
    page.locator(f"header {NOT_LIVE}").wait_for(timeout=2500)

    assert (0, 0, PHONE["width"], PHONE["height"]) == (box["x"], box["y"], box["width"], box["height"])

    stage.thaw()
    page.locator(".fresh").wait_for(timeout=12_000)

    assert not page.locator(".curtain").is_visible()


def test_a_retained_clock_does_not_tick(stage: Stage) -> None:
    """Nobody has said yet that it is so now."""
    hall = stage.hall()
    say_table(hall, "1")
    page = stage.opened("#/hall", WALL)
    page.locator(".tile.stale").wait_for()

    assert still(page)

    say_clock(hall, "1", white=590)
    page.locator(".tile.live").wait_for()

    assert not still(page)


def test_zero_is_no_flag(stage: Stage) -> None:
    """The page counts to nought and says nothing more; only the clock itself tells of a flag."""
    hall = stage.hall()
    say_table(hall, "1")
    page = stage.opened("#/hall", WALL)
    page.locator(".tile").wait_for()
    say_clock(hall, "1", white=1)
    page.locator(".tile .runs", has_text="0:00").wait_for()

    assert "⚑" not in page.locator(".tile").inner_text()
    assert 0 == page.locator(".chip").count()


def test_how_long_an_alert_lasts_is_not_counted_blindly(stage: Stage) -> None:
    """It may have gone since."""
    hall = stage.hall()
    say_table(hall, "1", running="none")
    say_alerts(hall, "1", alert("1", 1))
    page = stage.opened("#/hall", WALL)
    page.locator(".chip.alert").wait_for()

    assert not still(page, ".chip")

    stage.broker.kill()
    page.locator(f"header {NOT_LIVE}").wait_for(timeout=4000)
    page.wait_for_timeout(300)

    assert still(page, ".chip")


# --- "no alerts" when blind ---------------------------------------------------------------------------------------


def test_an_account_without_alerts_is_told_so(stage: Stage) -> None:
    """Mosquitto grants a subscription that it will never serve; the page notices, and shows no nought."""
    stage.broker.kill()
    rights = stage.broker.directory / "acl"
    rights.write_text(
        "topic readwrite hall/#\nuser screen\ntopic read hall/table/#\ntopic read hall/gateway/+/status\n"
    )
    passwords = stage.broker.directory / "passwords"
    write_account(passwords)
    stage.broker.extra = stage.configuration(f"allow_anonymous true\nacl_file {rights}\npassword_file {passwords}\n")
    stage.broker.start()
    say_table(stage.hall(), "1")
    page = stage.page()
    log_in(page, "screen", "secret")
    page.locator("header", has_text="This account sees no alerts").wait_for()

    assert 0 == page.locator(".counts").count()
    assert "Nothing open" not in page.locator("main").inner_text()
    assert page.title().startswith("✕")


def test_a_wrong_password_is_not_a_missing_broker(stage: Stage) -> None:
    """The login says which of the two it is."""
    stage.broker.kill()
    passwords = stage.broker.directory / "passwords"
    write_account(passwords)
    stage.broker.extra = stage.configuration(f"allow_anonymous false\npassword_file {passwords}\n")
    stage.broker.start()
    page = stage.page()
    log_in(page, "screen", "wrong")

    page.locator("[role=alert]", has_text="refuses").wait_for()
    stage.broker.kill()
    log_in(page, "screen", "secret")

    page.locator("header", has_text="No broker answers").wait_for()


def test_without_a_broker_no_count_is_nought(stage: Stage) -> None:
    """Nothing is open, then nothing is known: the second is not told like the first."""
    say_table(stage.hall(), "1", running="none")
    page = stage.opened()
    page.locator("main", has_text="Nothing open").wait_for()
    stage.broker.kill()
    page.locator(f"header {NOT_LIVE}").wait_for(timeout=4000)

    assert "▲?" in page.locator(".counts").inner_text()
    assert "0" not in page.locator(".counts").inner_text()
    assert "Nothing open" not in page.locator("main").inner_text()
    assert page.title().startswith("✕")


# --- an alert below a scroll --------------------------------------------------------------------------------------


def test_twenty_alerts_are_all_in_sight(stage: Stage) -> None:
    """On the smallest phone every open alert has its chip, however long the list is."""
    hall = stage.hall()
    for table in range(1, 21):
        say_table(hall, str(table), running="none")
        say_alerts(hall, str(table), alert(str(table), 1, ["illegal_move", "flag_fall", "king_captured"][table % 3]))
    page = stage.opened("", {"width": 390, "height": 600})
    chips = page.locator(".chip.alert")
    until(lambda: chips.count() == 20, page)
    boxes = [chip.bounding_box() for chip in chips.all()]

    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 600 for box in boxes)
    assert all(box["height"] >= 44 and box["width"] >= 44 for box in boxes)
    # And there is still room for the list itself.
    assert page.locator("main").bounding_box()["height"] > 200


# --- the wrong table closed ---------------------------------------------------------------------------------------


def test_the_row_that_was_pressed_is_opened(stage: Stage) -> None:
    """A graver alert arrives between press and release; it would have pushed the row away."""
    hall = stage.hall()
    for table in ("5", "9"):
        say_table(hall, table, running="none")
    say_alerts(hall, "5", alert("5", 1, "displaced_piece"))
    page = stage.opened()
    row = page.locator(".line[data-key='pi-a.5.a1'] .says")
    row.wait_for()
    page.wait_for_timeout(700)
    box = row.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 5)
    page.mouse.down()
    say_alerts(hall, "9", alert("9", 1, "flag_fall"))
    page.locator(".chip", has_text="9").wait_for()

    assert 1 == page.locator("main .line").count()

    page.mouse.up()
    page.wait_for_url("**/#/t/5")


def test_a_row_that_has_just_moved_is_not_tapped(stage: Stage) -> None:
    """It was not aimed at."""
    hall = stage.hall()
    for table in ("5", "9"):
        say_table(hall, table, running="none")
    say_alerts(hall, "5", alert("5", 1, "displaced_piece"))
    page = stage.opened()
    page.locator(".line[data-key='pi-a.5.a1']").wait_for()
    page.wait_for_timeout(700)
    say_alerts(hall, "9", alert("9", 1, "flag_fall"))
    page.locator(".line[data-key='pi-a.9.a1'] .says").click(position={"x": 5, "y": 5}, no_wait_after=True)
    page.wait_for_timeout(200)

    assert "#/t/" not in page.url


def test_a_sheet_whose_alert_changes_says_so_and_waits(stage: Stage) -> None:
    """What is ruled on may change, or go, while the finger is on its way."""
    hall = stage.hall()
    say_table(hall, "5", running="none")
    say_alerts(hall, "5", alert("5", 1))
    page = stage.opened("#/t/5")
    page.locator(".acts button", has_text="Rule").click()
    page.locator(".option", has_text="Upheld").click()
    send = page.locator(".sheet .last .strong")
    send.and_(page.get_by_text("Table 5: close, upheld")).wait_for()

    assert "5" == page.locator(".sheet .number").inner_text()
    assert "Okafor" in page.locator(".sheet h2").inner_text()

    say_alerts(hall, "5", alert("5", 1, message="Table 5: White made another illegal move, Kh2, and completed it."))
    page.locator(".sheet [role=alert]", has_text="changed").wait_for()

    assert send.is_disabled()

    page.wait_for_timeout(1300)

    assert send.is_enabled()

    say_alerts(hall, "5")
    page.locator(".sheet [role=alert]", has_text="no longer open").wait_for()

    assert send.is_disabled()


# --- a late command -----------------------------------------------------------------------------------------------


def test_nothing_is_sent_after_the_connection_was_gone(stage: Stage) -> None:
    """The broker goes while a sheet is open: the button is dead, and after the return nothing follows."""
    hall = stage.hall()
    say_table(hall, "5", running="none")
    say_alerts(hall, "5", alert("5", 1))
    page = stage.opened("#/t/5")
    page.locator(".acts button", has_text="Rule").click()
    page.locator(".option", has_text="Upheld").click()
    send = page.locator(".sheet .last .strong")
    stage.broker.kill()
    page.locator(".sheet [role=alert]", has_text="No connection").wait_for()

    assert send.is_disabled()

    send.click(force=True)
    heard = listener(stage)
    stage.broker.start()
    heard.reconnect()
    heard.loop_start()
    page.locator(".fresh").wait_for(timeout=12_000)
    page.wait_for_timeout(1500)
    heard.loop_stop()

    assert [] == heard.user_data_get()


def test_a_command_for_a_gateway_that_was_away_expires(stage: Stage) -> None:
    """The broker keeps it for the gateway's session, but not for longer than ten seconds."""
    hall = stage.hall()
    say_table(hall, "5", running="none")
    say_alerts(hall, "5", alert("5", 1))
    gateway = listener(stage, session_s=3600)
    gateway.reconnect()
    gateway.loop_start()
    page = stage.opened("#/t/5")
    gateway.disconnect()
    gateway.loop_stop()
    page.wait_for_timeout(300)
    page.locator(".acts button", has_text="Rule").click()
    page.locator(".option", has_text="Dismissed").click()
    page.locator(".sheet .last .strong").click()
    page.locator(".order.unconfirmed").wait_for(timeout=5000)
    page.wait_for_timeout(8500)
    gateway.reconnect()
    gateway.loop_start()
    page.wait_for_timeout(1500)
    gateway.loop_stop()

    assert [] == gateway.user_data_get()


# --- sound --------------------------------------------------------------------------------------------------------


def test_notices_are_silent_and_a_storm_calls_once(stage: Stage) -> None:
    """Two hundred notices: no sound. Fourteen alerts of one cause: one call, which is two tones."""
    hall = stage.hall()
    for table in range(1, 21):
        say_table(hall, str(table), running="none")
    page = stage.opened()
    page.locator("main", has_text="Nothing open").wait_for()
    for number in range(10):
        for table in range(1, 21):
            say_alerts(hall, str(table), alert(str(table), number, "both_clocks_stopped", "notice"))
        page.wait_for_timeout(150)
    until(lambda: "20" in page.locator(".counts").inner_text(), page)

    assert 0 == page.evaluate("window.tones")

    for table in range(1, 15):
        say_alerts(hall, str(table), alert(str(table), 99, "board_rotated"))
        page.wait_for_timeout(120)
    until(lambda: page.locator(".chip.alert").count() == 14, page)

    assert 2 == page.evaluate("window.tones")
    assert page.locator(".group.alert", has_text="Board turned on 14 tables").count() == 1


def test_what_was_open_before_makes_no_sound(stage: Stage) -> None:
    """A page that is opened, or comes back, is no news."""
    hall = stage.hall()
    say_table(hall, "1", running="none")
    say_alerts(hall, "1", alert("1", 1))
    page = stage.opened()
    page.locator(".chip.alert").wait_for()

    assert 0 == page.evaluate("window.tones")


# --- done before it is done ---------------------------------------------------------------------------------------


def ordered(stage: Stage) -> tuple[Any, Any]:
    """A hall whose gateway does not answer by itself, and a page that has just sent a ruling to it."""
    hall = stage.hall([in_check("5").seat("pi-a", 60)])
    hall.answering = False
    page = stage.opened("#/t/5")
    page.locator(".acts .strong", has_text="Rule").click()
    page.locator(".option", has_text="Upheld").click()
    page.locator(".sheet .last .strong").click()
    page.locator(".order.sending").wait_for()
    until(lambda: hall.commands, page)
    return hall, page


def answer(hall: Any, ok: bool, error: str | None = None) -> None:
    hall.say("arbiter/5/reply", {"id": hall.commands[0]["id"], "ok": ok, "error": error}, retain=False)


def test_a_refusal_is_shown_in_the_gateways_words(stage: Stage) -> None:
    """`ok` false is no success."""
    hall, page = ordered(stage)
    answer(hall, False, "there is no open alert x")
    page.locator(".order.refused", has_text="there is no open alert x").wait_for()

    assert 0 == page.locator(".order.done").count()


def test_no_answer_is_no_success_and_is_repeated_under_the_same_id(stage: Stage) -> None:
    """After three seconds: not confirmed. Again means the same command, which the gateway knows."""
    hall, page = ordered(stage)

    assert 0 == page.locator(".order.done").count()

    page.locator(".order.unconfirmed").wait_for(timeout=4500)
    page.locator(".sheet .strong", has_text="Try again").click()
    until(lambda: len(hall.commands) == 2, page)

    assert hall.commands[0] == hall.commands[1]
    assert "acknowledge" == hall.commands[0]["command"]
    assert hall.commands[0]["alert_id"].startswith("pi-a.5.a")
    assert "irregularity" not in hall.commands[0]
    assert "AB" == hall.commands[0]["by"]


def test_a_late_answer_counts_and_a_second_one_does_not(stage: Stage) -> None:
    """What comes after three seconds is still true; what comes twice changes nothing."""
    hall, page = ordered(stage)
    page.locator(".order.unconfirmed").wait_for(timeout=4500)
    answer(hall, True)
    page.locator(".order.done").wait_for()
    answer(hall, False, "a second time")
    page.wait_for_timeout(500)

    assert 1 == page.locator(".order.done").count()


def test_the_gateway_carries_it_out(stage: Stage) -> None:
    """By the real road: the alert is ruled on, and goes."""
    stage.hall([in_check("5").seat("pi-a", 60)])
    page = stage.opened("#/t/5")
    page.locator(".acts .strong", has_text="Rule").click()
    page.locator(".option", has_text="Upheld").click()
    page.locator(".sheet .last .strong").click()
    page.locator(".order.done").wait_for()
    page.locator(".sheet .last button").click()
    page.goto(f"{stage.server.url}/#/alerts")
    page.locator(".line.cleared", has_text="ruled on").wait_for()

    assert 0 == page.locator(".chip").count()


def test_going_is_seen_by_the_others(stage: Stage) -> None:
    """Two arbiters do not walk to one table."""
    stage.hall([in_check("5").seat("pi-a", 60)])
    first, second = stage.opened(), stage.opened()
    first.locator("button", has_text="I am going").click()

    second.locator(".line .who", has_text="AB is going").wait_for()


# --- helpers ------------------------------------------------------------------------------------------------------


def write_account(path: Path) -> None:
    """The account `screen` with the password "secret"."""
    command = shutil.which("mosquitto_passwd", path="/usr/bin:/usr/sbin:/usr/local/bin")
    if command is None:
        pytest.skip("mosquitto_passwd is not installed")
    subprocess.run([command, "-c", "-b", str(path), "screen", "secret"], check=True, capture_output=True)


def listener(stage: Stage, session_s: int = 0) -> paho.Client:
    """Somebody who writes down every command; not connected yet."""
    heard: list[bytes] = []
    client = paho.Client(
        CallbackAPIVersion.VERSION2,
        client_id="listener",
        protocol=paho.MQTTv5,
        userdata=heard,
        reconnect_on_failure=False,
    )
    client.on_message = lambda client, data, message: heard.append(message.payload)
    client.on_connect = lambda client, *_: client.subscribe("hall/arbiter/+/command", 1)
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = session_s
    client.connect_async("127.0.0.1", stage.broker.port, clean_start=not session_s, properties=properties)
    return client
