"""The page's reasoning without a page: messages and times in, values out, inside the browser that will run it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stage import browser, server

from gateway.webserver import WebServer

__all__ = ["browser", "server"]

Ask = Callable[[str], Any]

# A hall of one table and one gateway. `tell(kind, value, at, {ago, retained})`: a message that arrives at `at` ms, of
# an observation `ago` ms before by a gateway whose clock is `SKEW` ms before ours.
PRELUDE = """
const { Hall } = await import('/state.js');
const { Flood, lines, mine, open, closed } = await import('/order.js');
const { Calls } = await import('/sound.js');
const { Later } = await import('/later.js');
const { Offset, reading, lasting } = await import('/time.js');
const SKEW = 3_600_000;
const hall = new Hall('hall');
hall.connect(0);
const stamp = (ms) => new Date(ms - SKEW).toISOString();
const say = (topic, value, at, { ago = 0, retained = false } = {}) =>
  hall.take(`hall/${topic}`, JSON.stringify({ v: 1, time: stamp(at - ago), ...value }), retained, at);
const link = (at, more = {}) =>
  say('table/1/link', { gateway: 'g', board: 'up', clock: 'up', since: stamp(0), ...more }, at);
const clock = (white, running, at, how) => say('table/1/clock', { white, black: 600, running, flags: [] }, at, how);
const alert = (id, more = {}) => ({ alert_id: id, irregularity: 'illegal_move', severity: 'alert', side: 'white',
  since: stamp(0), articles: [], message: '', evidence: null, ...more });
const alerts = (table, list, at, how) => say(`arbiter/${table}/alerts`, { alerts: list }, at, how);
const table = () => hall.tables.get('1');
const shown = (at) => hall.clock(table(), at);
"""


@pytest.fixture(scope="module")
def ask(browser: Any, server: WebServer) -> Iterator[Ask]:
    """Runs the body of an asynchronous function after the prelude, and returns its value."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/manifest.json")
    yield lambda body: page.evaluate(f"async () => {{ {PRELUDE} {body} }}")
    context.close()


def test_readings_are_written_as_clocks_write_them(ask: Ask) -> None:
    """From an hour on with hours; a second that has begun counts; nothing known is not nought."""
    assert ["1:02:03", "59:59", "0:10", "0:00", "--:--"] == ask(
        "return [3723, 3599, 9.2, -4, null].map((seconds) => reading(seconds));"
    )
    assert ["0:18", "1:02:03"] == ask("return [18_900, 3_723_000].map(lasting);")


def test_a_phone_with_a_wrong_clock_shows_the_right_time(ask: Ask) -> None:
    """The smallest delay of the last minute is the offset; the gateway's clock is an hour before the phone's."""
    assert [599, 598] == ask(
        "link(1000); clock(600, 'white', 1000); return [shown(2000), shown(3000)].map(({ white }) => white);"
    )
    assert [5, 30, 0] == ask(
        "const offset = new Offset(); const seen = [];"
        " for (const [at, stamp] of [[100, 90], [200, 195], [70_000, 69_970]]) {"
        " offset.note(at, stamp); if (at > 100) seen.push(offset.value); }"
        " return [...seen, new Offset().value];"
    )


@pytest.mark.parametrize(
    ("what", "said", "ticks"),
    [
        ("fresh", "clock(600, 'white', 4200);", True),
        ("retained", "clock(600, 'white', 4200, { retained: true });", False),
        ("late", "clock(602, 'white', 1500); clock(600, 'white', 4200, { ago: 2500 });", False),
        ("silent", "clock(600, 'white', 1400);", False),
        ("clock without a cable", "link(4100, { clock: 'down' }); clock(600, 'white', 4200);", False),
        ("board without a cable", "link(4100, { board: 'down' }); clock(600, 'white', 4200);", False),
        ("gateway gone", "clock(600, 'white', 4200); say('gateway/g/status', { state: 'offline' }, 4300);", False),
        ("connection gone", "clock(600, 'white', 4200); hall.disconnect(4300);", False),
        ("another connection", "clock(600, 'white', 4200); hall.disconnect(4300); hall.connect(4400);", False),
    ],
)
def test_what_is_not_known_to_be_so_now_does_not_tick(ask: Ask, what: str, said: str, ticks: bool) -> None:
    """And is called stale; `what` is the reason."""
    assert [ticks, not ticks] == ask(
        f"link(1000); {said} hall.heardAt = 4500; const {{ ticks, stale }} = shown(4500); return [ticks, stale];"
    )


def test_a_clock_that_stands_needs_no_news(ask: Ask) -> None:
    """Neither does one that has come to its end; a flag is only what the clock calls one."""
    assert [False, False, 600] == ask(
        "link(1000); clock(600, 'none', 1000); hall.heardAt = 60_000;"
        " const { ticks, stale, white } = shown(60_000); return [ticks, stale, white];"
    )
    assert [False, 0] == ask(
        "link(1000); clock(0, 'white', 1000); hall.heardAt = 60_000;"
        " const { stale, flags } = shown(60_000); return [stale, flags.length];"
    )


def test_whether_alerts_are_seen_at_all(ask: Ask) -> None:
    """Nothing heard yet, seen, an account that sees tables only, refused, blind: five different words."""
    assert ["waiting", "waiting", "none", "ok", "none", "blind"] == ask(
        "const seen = [hall.alertsSeen(100)]; link(1000); seen.push(hall.alertsSeen(2000));"
        " hall.heardAt = 3500; seen.push(hall.alertsSeen(3500));"
        " alerts('1', [], 3600); seen.push(hall.alertsSeen(3700));"
        " hall.refused = true; seen.push(hall.alertsSeen(3700));"
        " seen.push(hall.alertsSeen(9000)); return seen;"
    )


def test_a_gateway_is_silent_after_two_reports_that_did_not_come(ask: Ask) -> None:
    """Its status may say online for ever."""
    assert ["unknown", "online", "silent", "offline"] == ask(
        "const seen = [hall.gatewayState('g', 0).state]; say('gateway/g/status', { state: 'online' }, 1000);"
        " say('gateway/g/health', {}, 1000); seen.push(hall.gatewayState('g', 20_000).state);"
        " seen.push(hall.gatewayState('g', 27_000).state);"
        " say('gateway/g/status', { state: 'offline' }, 28_000); seen.push(hall.gatewayState('g', 28_000).state);"
        " return seen;"
    )


def test_the_list_is_ordered_by_what_cannot_wait(ask: Ask) -> None:
    """Severity, unattended first, time and result before moves before clocks before positions, then the oldest."""
    assert ["flag", "old", "new", "attended", "clock", "piece", "gateway:g"] == ask(
        "link(1000); for (const id of ['2', '3'])"
        " say(`table/${id}/link`, { gateway: 'g', board: 'up', clock: 'up' }, 1000);"
        " alerts('1', [alert('new', { since: stamp(500) }), alert('attended', { irregularity: 'flag_fall',"
        " evidence: { attended_by: 'AB' } })], 1000);"
        " alerts('2', [alert('piece', { severity: 'notice', irregularity: 'displaced_piece' }), alert('old')], 1000);"
        " alerts('3', [alert('clock', { severity: 'notice', irregularity: 'both_clocks_stopped' }),"
        " alert('flag', { irregularity: 'flag_fall', since: stamp(900) })], 1000);"
        " say('gateway/g/status', { state: 'offline' }, 1000); hall.heardAt = 12_000;"
        " return open(hall, 12_000).map(({ key }) => key);"
    )


def test_many_of_one_cause_are_one_line(ask: Ask) -> None:
    """From three on; in a flood, of more than ten in ten minutes until fewer than five, from two on."""
    assert [2, 1, [False, True, True, False]] == ask(
        "const of = (n) => Array.from({ length: n }, (_, i) =>"
        " ({ key: `k${i}`, kind: 'x', severity: 'alert', since: i }));"
        " const flood = new Flood(); const at = (n, when) => flood.judge(of(n).map((one, i) =>"
        " ({ ...one, key: `${when} ${i}`, alert: { arrived: when } })), when);"
        " return [lines(of(2), false).length, lines(of(3), false).length,"
        " [at(10, 0), at(2, 1000), at(0, 590_000), at(0, 602_000)]];"
    )


def test_my_tables(ask: Ask) -> None:
    """Numbers, ranges and names; nothing said is every table."""
    assert [[True, True, False, True, False], True] == ask(
        "const own = mine('1-3, 12, A'); return [['1', '12', '4', 'A', '11'].map(own), mine('')('77')];"
    )


def test_only_a_notice_can_wait(ask: Ask) -> None:
    """Until its time, or until it has grown."""
    assert [True, False, False] == ask(
        "const later = new Later(); later.put('k', 1000); const one = { key: 'k', severity: 'notice' };"
        " return [later.hides(one, 999), later.hides(one, 1000), later.hides({ ...one, severity: 'alert' }, 500)];"
    )


def test_when_it_calls(ask: Ask) -> None:
    """Once for an alert, once more after a minute if nobody goes; never for a notice or for what was there before."""
    one = "{ key: 'a', kind: 'x', severity: 'alert', alert: { news: true } }"

    assert [True, False, True, False] == ask(
        f"const calls = new Calls(); return [0, 59_000, 60_000, 200_000].map((at) => calls.due([{one}], false, at));"
    )
    assert [True, False] == ask(
        f"const calls = new Calls(); return [calls.due([{one}], false, 0),"
        f" calls.due([{{ ...{one}, attended: 'AB' }}], false, 61_000)];"
    )
    assert [False, False] == ask(
        f"const calls = new Calls(); return [calls.due([{{ ...{one}, severity: 'notice' }}], false, 0),"
        f" calls.due([{{ ...{one}, alert: {{ news: false }} }}], false, 0)];"
    )


def test_a_flood_does_not_silence_what_is_new(ask: Ask) -> None:
    """A cause that comes all the time calls once; one that has not been for a while calls again."""
    assert [True, False, False, True, True] == ask(
        "const calls = new Calls();"
        " const one = (key, kind) => [{ key, kind, severity: 'alert', alert: { news: true } }];"
        " return [calls.due(one('a', 'x'), true, 0), calls.due(one('b', 'x'), true, 20_000),"
        " calls.due(one('c', 'x'), true, 70_000), calls.due(one('d', 'y'), true, 71_000),"
        " calls.due(one('e', 'x'), true, 131_000)];"
    )


def test_what_went_stays_for_a_minute(ask: Ask) -> None:
    """With the way it went: by itself, or by a ruling."""
    assert [[["b", "cleared"], ["a", "ruled"]], 0] == ask(
        "link(1000); alerts('1', [alert('a'), alert('b')], 1000);"
        " say('arbiter/1/event/alert', { alert_id: 'a', state: 'acknowledged' }, 2000);"
        " alerts('1', [alert('b')], 2000); alerts('1', [], 3000);"
        " return [closed(hall, 4000).map(({ key, how }) => [key, how]), closed(hall, 63_001).length];"
    )


def test_what_was_taken_back_is_told(ask: Ask) -> None:
    """The plies that no longer stand; another game takes back nothing."""
    assert [["e4", "e5"], []] == ask(
        "link(1000); const game = (id, ...moves) => say('table/1/game', { game_id: id, moves: moves.map("
        " (notation, i) => ({ ply: i + 1, notation })) }, 1000);"
        " game('a', 'd4', 'e4', 'e5'); game('a', 'd4');"
        " const gone = table().retracted.map(({ move }) => move.notation);"
        " game('b'); return [gone, table().retracted];"
    )


def test_damaged_messages_change_nothing(ask: Ask) -> None:
    """No JSON, another root, a topic that nobody knows; an empty one takes the table away."""
    assert [0, 1, 0] == ask(
        "hall.take('hall/table/1/link', 'no', false, 0); hall.take('other/table/1/link', '{}', false, 0);"
        " hall.take('hall/table/1/weather', '{}', false, 0); const seen = [hall.tables.size]; link(1000);"
        " seen.push(hall.tables.size); hall.take('hall/table/1/link', '', false, 2000);"
        " return [...seen, hall.tables.size];"
    )
