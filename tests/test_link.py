"""One port: who is up, who is down, what is let through to which table."""

from __future__ import annotations

from dataclasses import replace

from gateway.drivers import SerialSettings
from gateway.events import (
    BoardDump,
    ClockTimes,
    FieldUpdate,
    FrameRejected,
    Identity,
    LinkState,
    Senses,
)
from gateway.link import DECIDE_S, LOST_S, NO_ANSWER, Link, Told
from gateway.protocol import Reject, dgt, dgt_bus, generic
from gateway.registry import DRIVERS

UP = ("12", LinkState("board", True))
DOWN = ("12", LinkState("board", False, NO_ANSWER))
VERSION = dgt.build_version(1, 8)
SERIAL = dgt.build_serial("23946")
LONG = dgt.build_long_serial("3000023946")
DUMP = dgt.build_board_dump({"e1": "K"})


def link(serial: str | None = None, driver: str = "dgt", **more: bool) -> Link:
    """One table on its own port, opened at 0."""
    made = Link(DRIVERS[driver], {None: ("12", "chess")}, {"12": serial} if serial else {}, **more)
    made.opened(0.0)
    return made


def pass_time(made: Link, until: float, answers: dict[bytes, bytes] | None = None) -> list[tuple[float, Told]]:
    """Fire what is due; a fake device answers at once."""
    told = []
    while (deadline := made.deadline) is not None and deadline <= until:
        told += [(deadline, what) for what in made.tick(deadline)]
        for data, channel in made.outgoing():
            assert channel is None
            if reply := (answers or {}).get(data):
                told += [(deadline, what) for what in made.receive(reply, deadline)]
    return told


WELL = {b"\x4d": VERSION, b"\x45": SERIAL, b"\x55": LONG, b"\x42": DUMP}


class TestUpAndDown:
    """A device is up when it answers."""

    def test_up_with_the_first_answer(self) -> None:
        """Before anything it said, and once."""
        made = link()

        assert [UP, ("12", Identity("version", "1.8"))] == made.receive(VERSION, 0.6)
        assert [("12", FieldUpdate("e2", None))] == made.receive(dgt.build_field_update("e2", None), 0.7)

    def test_state_comes_first(self) -> None:
        """Also before what was refused in the same chunk, as in the capture."""
        assert [UP, ("12", FrameRejected(Reject.NOISE, 1)), ("12", Identity("version", "1.8"))] == link().receive(
            b"\0" + VERSION, 0.6
        )

    def test_garbage_is_no_answer(self) -> None:
        """A device that talks nonsense is not up, and is given up like a silent one."""
        made = link()
        told = made.receive(b"\x01" * 64, 0.1)

        assert [("12", FrameRejected(Reject.NOISE, 64))] == told
        assert [(LOST_S, DOWN)] == pass_time(made, 60.0)

    def test_never_answers(self) -> None:
        """Down within 10 s, failed, and not asked any more until opened again."""
        made = link()

        assert [(LOST_S, DOWN)] == pass_time(made, 60.0)
        assert made.failed
        assert made.deadline is None
        made.opened(61.0)
        assert not made.failed
        assert 61.5 == made.deadline

    def test_stops_answering(self) -> None:
        """Down within 10 s of the last word."""
        made = link()
        told = pass_time(made, 30.0, WELL)
        heard_at = made.counters["12"].last_frame
        assert UP == told[0][1]
        assert not made.failed
        assert heard_at is not None

        assert [(heard_at + LOST_S, DOWN)] == pass_time(made, 60.0)
        assert made.failed

    def test_idle_board_stays_up(self) -> None:
        """It is asked, and answers; for an hour."""
        made = link()
        states = [what for _, what in pass_time(made, 3600.0, WELL) if isinstance(what[1], LinkState)]

        assert [UP] == states

    def test_closed(self) -> None:
        """Down at once, with the reason; what comes late is dropped."""
        made = link()
        made.receive(VERSION, 0.6)

        assert [("12", LinkState("board", False, "unplugged"))] == made.closed(1.0, "unplugged")
        assert [] == made.receive(DUMP, 1.1)
        assert [] == made.tick(1.2)
        assert [] == made.closed(2.0, "unplugged")
        assert [("12", LinkState("board", False, "no such port"))] == made.closed(3.0, "no such port")

    def test_cannot_be_opened(self) -> None:
        """The table is told why, also before it was ever up."""
        made = Link(DRIVERS["dgt"], {None: ("12", "chess")})

        assert [("12", LinkState("board", False, "no such port"))] == made.closed(0.0, "no such port")

    def test_reason_stands(self) -> None:
        """Closing because it failed adds nothing."""
        made = link()
        pass_time(made, 60.0)

        assert [] == made.closed(60.0)

    def test_half_a_frame_does_not_survive(self) -> None:
        """What came before the port closed is no part of what comes after."""
        made = link()
        made.receive(DUMP[:40], 0.6)
        made.closed(0.7)
        made.opened(0.8)

        assert [UP, ("12", Identity("version", "1.8"))] == made.receive(VERSION, 0.9)

    def test_streaming_device(self) -> None:
        """Of one that talks all the time, silence is enough."""
        entry = replace(DRIVERS["generic"], silence_s=3.0)
        made = Link(entry, {None: ("12", "chess")})
        made.opened(0.0)
        made.receive(generic.build_lift("e2"), 1.0)

        assert [(4.0, DOWN)] == pass_time(made, 60.0)

    def test_board_that_need_not_answer(self) -> None:
        """Its silence means nothing."""
        made = link(driver="generic")
        made.receive(generic.build_lift("e2"), 1.0)

        assert [] == pass_time(made, 3600.0)
        assert not made.failed


class TestSerial:
    """A port may hold another table's board."""

    def test_right_board(self) -> None:
        """Short or long, leading zeros ignored; nothing reaches the table before it is known."""
        for configured in ("23946", "0023946", "3000023946"):
            made = link(configured)
            assert [] == made.receive(VERSION + DUMP, 0.6)
            told = made.receive(SERIAL + LONG, 0.7)

            assert UP == told[0]
            said = [what for _, what in told if isinstance(what, Identity)]
            expected = {"version": "1.8", "serial": "23946", "long_serial": "3000023946"}
            assert expected == {identity.kind: identity.text for identity in said}
            assert len(expected) == len(said)

    def test_wrong_board(self) -> None:
        """Down, with both numbers; the driver looks elsewhere; not a word of it is let through."""
        made = link("99")
        told = made.receive(VERSION + SERIAL + LONG + DUMP, 0.6)

        detail = "another board is on this port: 23946 or 3000023946; 99 is expected"
        assert [("12", LinkState("board", False, detail))] == told
        assert made.wrong_device
        assert [] == made.receive(DUMP, 0.7)
        assert made.deadline is None
        made.opened(1.0)
        assert not made.wrong_device

    def test_wrong_board_with_one_number(self) -> None:
        """Old firmware has no long serial; some seconds are enough."""
        made = link("99")
        made.receive(VERSION, 0.6)
        made.receive(SERIAL, 0.7)
        told = pass_time(made, 0.6 + DECIDE_S)

        assert "another board is on this port: 23946; 99 is expected" == told[-1][1][1].detail
        assert made.wrong_device

    def test_exchanged_in_place(self) -> None:
        """An adapter stays when the board behind it is changed."""
        made = link("23946")
        made.receive(VERSION + SERIAL, 0.6)

        assert [] == made.receive(dgt.build_serial("11111") + DUMP, 5.0)
        made.receive(dgt.build_long_serial("3000011111"), 5.1)
        assert made.wrong_device

    def test_says_no_number(self) -> None:
        """Down with that detail; it may yet say it."""
        made = link("99")
        made.receive(VERSION, 0.6)
        told = pass_time(made, 0.6 + DECIDE_S)

        assert [LinkState("board", False, "does not say its serial number; 99 is expected")] == [
            what for _, (_, what) in told
        ]
        assert not made.wrong_device
        assert UP == made.receive(dgt.build_serial("99"), 5.0)[0]


class TestBus:
    """Many tables on one port."""

    def bus(self) -> Link:
        """Two tables, opened at 0."""
        made = Link(DRIVERS["dgt"], {1: ("a", "chess"), 2: ("b", "draughts")})
        made.opened(0.0)
        return made

    def test_to_whom(self) -> None:
        """Each table hears its own board; what was refused was refused for all; a stranger is not heard."""
        made = self.bus()
        assert [("a", LinkState("board", True)), ("a", Identity("bus_address", "1"))] == made.receive(
            dgt_bus.build_bus_ping(1), 0.6
        )
        clock = ClockTimes(60, 60, None, "left")
        told = made.receive(dgt_bus.build_bus_clock(2, clock) + dgt_bus.build_bus_ping(3), 0.7)
        assert [("b", LinkState("board", True)), ("b", clock)] == told
        refused = FrameRejected(Reject.UNKNOWN, 6)
        assert [("a", refused), ("b", refused)] == made.receive(dgt_bus.build_bus_message(0xC0, 1), 0.8)

    def test_one_dies(self) -> None:
        """Its table is told within 10 s, the port stays open, the other goes on."""
        made = self.bus()
        answers = {}
        for address in (1, 2):
            told = {
                0x87: dgt_bus.build_bus_ping(address),
                0x83: dgt_bus.build_bus_changes(address, []),
                0x81: dgt_bus.build_bus_clock(address, ClockTimes(60, 60, None, "left")),
                0x8B: dgt_bus.build_bus_version(address, 1, 7),
            }
            answers[address] = {bytes((c, 0, address, (c + address) & 0x7F)): reply for c, reply in told.items()}
        pass_time(made, 20.0, answers[1] | answers[2])
        states = [(at, what) for at, what in pass_time(made, 60.0, answers[1]) if isinstance(what[1], LinkState)]

        assert [("b", LinkState("board", False, NO_ANSWER))] == [what for _, what in states]
        assert states[0][0] < 30.0
        assert not made.failed
        back = [what for _, what in pass_time(made, 70.0, answers[1] | answers[2])]
        assert ("b", LinkState("board", True)) in back
        assert 1 == made.counters["b"].reconnects
        pass_time(made, 100.0)
        assert made.failed


class TestReplay:
    """Only decode."""

    def test_no_states_no_questions(self) -> None:
        """The capture has them."""
        made = link(replaying=True)

        assert [("12", Identity("version", "1.8"))] == made.receive(VERSION, 0.6)
        assert [] == made.outgoing()
        assert made.deadline is None
        assert [] == made.closed(1.0, "unplugged")
        made.opened(2.0)
        assert [("12", BoardDump({"e1": "K"}))] == made.receive(DUMP, 2.1)

    def test_never_opened(self) -> None:
        """A capture may begin with bytes."""
        made = Link(DRIVERS["dgt"], {None: ("12", "chess")}, replaying=True)

        assert [("12", Identity("version", "1.8"))] == made.receive(VERSION, 0.6)

    def test_same_as_live(self) -> None:
        """With the same bytes a table hears the same, states aside; also while the board is not yet known."""
        stream = VERSION + SERIAL + DUMP + b"\0" + LONG + DUMP
        for serial in (None, "3000023946", "5"):
            live, replayed = link(serial), link(serial, replaying=True)
            heard = [what for i in range(len(stream)) for what in live.receive(stream[i : i + 1], 0.6)]
            again = [what for i in range(len(stream)) for what in replayed.receive(stream[i : i + 1], 0.6)]

            assert [what for what in heard if not isinstance(what[1], LinkState)] == again


def test_occupancy_is_told_first() -> None:
    """A table must know that pieces have no names before it hears of the first."""
    entry = replace(DRIVERS["generic"], senses="occupancy", serial=SerialSettings(38400))
    made = Link(entry, {None: ("12", "chess")})
    made.opened(0.0)

    assert [UP, ("12", Senses(False)), ("12", FieldUpdate("e2", None))] == made.receive(generic.build_lift("e2"), 0.1)
    made.closed(1.0)
    made.opened(2.0)
    assert [UP, ("12", FieldUpdate("e2", None))] == made.receive(generic.build_lift("e2"), 2.1)


def test_clock_with_a_port_of_its_own() -> None:
    """Its link is the clock's."""
    made = Link(replace(DRIVERS["generic"], device="clock"), {None: ("12", "chess")})
    made.opened(0.0)

    assert ("12", LinkState("clock", True)) == made.receive(generic.build_battery(5), 0.1)[0]


def test_counters() -> None:
    """What the technician sees."""
    made = link()
    made.receive(VERSION + dgt.build_battery(50) + b"\x8e\x00" + DUMP, 1.0)
    made.closed(2.0)
    made.opened(3.0)
    made.receive(VERSION, 4.0)

    counters = made.counters["12"]
    assert (4, 1, 4.0) == (counters.frames, counters.reconnects, counters.last_frame)
    assert {"truncated": 1} == counters.rejected


def test_write_is_offered_once() -> None:
    """And what was not sent before the port closed is not sent after."""
    made = link()
    made.tick(0.5)
    assert [(b"\x4d", None)] == made.outgoing()
    assert [] == made.outgoing()
    made.tick(2.5)
    made.closed(2.6)
    assert [] == made.outgoing()
