"""DGT: what is asked, in which order, and what is never said. The other side is a small fake speaking the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import ClockTimes, FrameRejected, GameKind, LogEntry
from gateway.protocol import Reject, dgt, dgt_bus
from gateway.protocol.dgt_commands import FORBIDDEN, BusCommand, Command, Said, measure, read_command
from gateway.protocol.dgt_dialogue import BUS_QUESTIONS, QUESTIONS, DgtBusDialogue, DgtDialogue, decoder, dialogue
from gateway.protocol.framing import Framer

CLOCK = ClockTimes(180, 180, None, "left")

ANSWERS: dict[int, bytes] = {
    Command.SEND_VERSION: dgt.build_version(1, 8),
    Command.RETURN_SERIALNR: dgt.build_serial("23946"),
    Command.RETURN_LONG_SERIALNR: dgt.build_long_serial("3000023946"),
    Command.SEND_BRD: dgt.build_board_dump({"e1": "K"}),
    Command.SEND_CLK: dgt.build_clock_times(CLOCK),
    Command.SEND_BATTERY_STATUS: dgt.build_battery(80),
    Command.SEND_EE_MOVES: dgt.build_log([LogEntry(tag="end")]),
}


def bus_answer(said: Said) -> bytes:
    """What a board on a bus says."""
    address = said.address or 0
    match said.command:
        case BusCommand.PING:
            return dgt_bus.build_bus_ping(address)
        case BusCommand.SEND_VERSION:
            return dgt_bus.build_bus_version(address, 1, 7)
        case BusCommand.SEND_BRD:
            return dgt_bus.build_bus_dump(address, {"e1": "K"})
        case BusCommand.SEND_CHANGES | BusCommand.REPEAT_CHANGES:
            return dgt_bus.build_bus_changes(address, [])
        case BusCommand.SEND_CLK:
            return dgt_bus.build_bus_clock(address, CLOCK)
        case BusCommand.SEND_FROM_START:
            return dgt_bus.build_bus_from_start(address, [LogEntry(tag="end")])
    raise AssertionError(said)


Answer = Callable[[Said, float], bytes | None]


class Talk:
    """A dialogue and a decoder against a fake board, on virtual time; notes what was asked, and when."""

    def __init__(self, games: Any, options: dict[str, Any] | None = None, delay: float = 0.02) -> None:
        self.dialogue = dialogue(games, options or {})
        self.decoder = decoder(games, options or {})
        self.asked: list[tuple[float, Said]] = []
        self.delay = delay
        self.now = 0.0
        self._heard = Framer(measure)
        self._coming: list[tuple[float, bytes]] = []

    def open(self) -> None:
        """(Re)open the port."""
        self._coming.clear()
        self._note(self.dialogue.opened(self.now), lambda said, at: None)

    def run(self, until: float, answer: Answer) -> list[int]:
        """Let time pass; return the commands asked in it."""
        start = len(self.asked)
        while True:
            due = [time for time in (self.dialogue.deadline, *(time for time, _ in self._coming)) if time is not None]
            if not due or min(due) > until:
                break
            self.now = max(self.now, min(due))
            if self._coming and self._coming[0][0] <= self.now:
                _, data = self._coming.pop(0)
                for address, observation in self.decoder.feed(data, self.now):
                    self._note(self.dialogue.heard(address, observation, self.now), answer)
            else:
                self._note(self.dialogue.tick(self.now), answer)
        self.now = until
        return [said.command for _, said in self.asked[start:]]

    def say(self, data: bytes) -> None:
        """The board speaks unasked."""
        self._coming.append((self.now, data))

    def _note(self, sent: list[bytes], answer: Answer) -> None:
        for data in sent:
            for frame in self._heard.feed(data, self.now):
                assert isinstance(frame, bytes)
                said = read_command(frame)
                self.asked.append((self.now, said))
                if reply := answer(said, self.now):
                    self._coming.append((self.now + self.delay, reply))


def well(said: Said, at: float) -> bytes | None:
    """A board that answers everything."""
    return ANSWERS.get(said.command)


def never(said: Said, at: float) -> bytes | None:
    """A dead board."""
    return None


def but(*silent: int) -> Answer:
    """A board that does not know some commands."""
    return lambda said, at: None if said.command in silent else ANSWERS.get(said.command)


def single(game: GameKind = "chess", **options: Any) -> Talk:
    """One board, just opened."""
    talk = Talk({None: game}, options)
    talk.open()
    return talk


class TestSingle:
    """One board on its own port."""

    def test_introduction(self) -> None:
        """After half a second: version, serials, board, updates, clock, battery."""
        talk = single()

        assert [0x4D, 0x45, 0x55, 0x42, 0x4B, 0x41, 0x4C] == talk.run(1.5, well)
        assert 0.5 == talk.asked[0][0]

    def test_version_is_asked_until_it_comes(self) -> None:
        """Every 2 s, and nothing else before."""
        talk = single()

        assert [0x4D] * 4 == talk.run(7.0, never)
        assert [0.5, 2.5, 4.5, 6.5] == [at for at, _ in talk.asked]

    def test_old_firmware(self) -> None:
        """What is not answered is not waited for longer than a second, and not asked again."""
        talk = single()

        assert [0x4D, 0x45, 0x55, 0x42, 0x4B, 0x41, 0x4C] == talk.run(3.0, but(0x55, 0x4C))
        assert 0x4C not in talk.run(200.0, but(0x55, 0x4C))

    def test_idle_board_is_asked(self) -> None:
        """Two seconds of silence, and something is asked; within 10 s a full dump."""
        talk = single()
        talk.run(1.5, well)

        assert {0x41, 0x45, 0x42, 0x4B} == set(talk.run(13.0, well))
        gaps = [later - at for (at, _), (later, _) in zip(talk.asked, talk.asked[1:], strict=False)]
        assert max(gaps) < 2.2

    def test_talking_board_is_not_asked(self) -> None:
        """A board that reports by itself is left alone between dumps."""
        talk = single()
        talk.run(1.5, well)
        asked = []
        for second in range(2, 10):
            talk.say(dgt.build_clock_times(CLOCK))
            asked += talk.run(float(second), well)

        assert [] == asked

    def test_refused_frame_asks_for_a_dump(self) -> None:
        """The update may have been the one that was lost; a noisy line is not flooded."""
        talk = single()
        talk.run(3.0, well)
        talk.say(bytes.fromhex("8e0005") + dgt.build_field_update("e2", None))

        assert [0x4B, 0x42] == talk.run(3.5, well)
        for _ in range(20):
            talk.say(bytes.fromhex("8e0005") * 2)
        assert [0x4B, 0x42] == talk.run(4.5, well)

    def test_press_asks_for_a_dump(self) -> None:
        """A turn is judged by what stands then; the first report of a clock is no press, nor is its running on."""
        talk = single()
        talk.run(3.0, well)
        talk.say(dgt.build_clock_times(CLOCK))
        talk.say(dgt.build_clock_times(replace(CLOCK, left=179)))

        assert [] == talk.run(3.5, well)
        talk.say(dgt.build_clock_times(replace(CLOCK, lever="right")))
        assert [0x4B, 0x42] == talk.run(4.0, well)

    def test_draughts_board_that_scans_50(self) -> None:
        """The other form of dump is tried, and kept."""
        answers = {**ANSWERS, Command.SEND_BRD_50B: dgt.build_half_dump({"31": "w"})}
        answers.pop(Command.SEND_BRD)
        talk = single("draughts")
        asked = talk.run(30.0, lambda said, at: answers.get(said.command))

        assert 1 == asked.count(0x42)
        assert asked.count(0x50) > 2

    def test_log_is_read_only_if_wanted(self) -> None:
        """And only after a break."""
        plain, wanted = single(), single(eeprom_recovery=True)
        for talk in (plain, wanted):
            assert 0x49 not in talk.run(5.0, well)
            talk.open()

        assert 0x49 not in plain.run(10.0, well)
        assert 1 == wanted.run(10.0, well).count(0x49)

    def test_before_opening(self) -> None:
        """A closed port is not talked to."""
        talk = DgtDialogue()

        assert talk.deadline is None
        assert [] == talk.tick(1.0)
        assert [] == talk.heard(None, FrameRejected(Reject.NOISE, 1), 1.0)

    @given(st.lists(st.sampled_from(["answer", "silent", "broken", "noise"]), max_size=60), st.booleans())
    def test_one_question_at_a_time(self, moods: list[str], draughts: bool) -> None:
        """Whatever the board does: no question before the last was answered or waited for; never a forbidden one."""
        talk = single("draughts" if draughts else "chess", eeprom_recovery=True)
        outstanding: list[tuple[float, int]] = []

        def board(said: Said, at: float) -> bytes | None:
            if outstanding:
                asked_at, command = outstanding.pop()
                waited = at - asked_at
                answered = command in ANSWERS and waited >= talk.delay - 1e-9
                assert answered or waited >= QUESTIONS[Command(command)].patience - 1e-9
            outstanding.append((at, said.command))
            assert Command(said.command) in QUESTIONS
            assert Command(said.command) not in FORBIDDEN
            mood = moods.pop() if moods else "answer"
            reply = ANSWERS.get(said.command)
            return {"answer": reply, "broken": reply and reply[:-1], "noise": b"\x01\xff"}.get(mood)

        talk.run(120.0, board)
        talk.open()
        outstanding.clear()
        talk.run(240.0, board)


class TestBus:
    """Boards on a shared bus."""

    def bus(self, *addresses: int, **options: Any) -> Talk:
        """Boards on a bus, just opened."""
        talk = Talk(dict.fromkeys(addresses, "chess"), options)
        talk.open()
        return talk

    def test_introduction(self) -> None:
        """Ping; then version, what changed, board and clock."""
        talk = self.bus(1025)

        assert [0x87, 0x8B, 0x83, 0x82, 0x81] == talk.run(0.7, lambda said, at: bus_answer(said))

    def test_in_turn(self) -> None:
        """All boards get their turn, twice a second, and a dump every ten seconds."""
        talk = self.bus(1, 2, 300)
        talk.run(10.0, lambda said, at: bus_answer(said))
        start = len(talk.asked)
        talk.run(30.0, lambda said, at: bus_answer(said))
        asked = [(said.command, said.address) for _, said in talk.asked[start:]]

        for address in (1, 2, 300):
            assert 35 <= asked.count((0x83, address)) <= 41
            assert 35 <= asked.count((0x81, address)) <= 41
            assert asked.count((0x82, address)) == 2

    def test_press_asks_for_a_dump(self) -> None:
        """In the next round, from that board alone."""
        talk = self.bus(1, 2)
        talk.run(4.0, lambda said, at: bus_answer(said))
        start = len(talk.asked)

        def pressed(said: Said, at: float) -> bytes | None:
            if (said.command, said.address) == (BusCommand.SEND_CLK, 2):
                return dgt_bus.build_bus_clock(2, replace(CLOCK, lever="right"))
            return bus_answer(said)

        talk.run(7.0, pressed)
        asked = [(said.command, said.address) for _, said in talk.asked[start:]]

        assert [(0x82, 2)] == [question for question in asked if question[0] == 0x82]

    def test_only_bus_commands(self) -> None:
        """A single-board command would take every board out of bus mode."""
        talk = self.bus(1, 2)
        talk.run(60.0, lambda said, at: bus_answer(said) if said.address == 1 else None)

        assert {said.command for _, said in talk.asked} <= set(BUS_QUESTIONS)

    def test_changes_are_repeated(self) -> None:
        """A bad check after "send changes": the repetition is asked for, and nothing is lost; then a dump."""
        talk = self.bus(1025)
        talk.run(2.0, lambda said, at: bus_answer(said))
        spoilt = []

        def spoil_once(said: Said, at: float) -> bytes:
            reply = bus_answer(said)
            if said.command == 0x83 and not spoilt:
                spoilt.append(at)
                return reply[:-1] + bytes((reply[-1] ^ 1,))
            return reply

        asked = talk.run(3.5, spoil_once)
        first = asked.index(0x83)
        assert [0x83, 0x84] == asked[first : first + 2]
        assert 0x82 in asked[first:]

    def test_other_questions_are_repeated(self) -> None:
        """A bad check after any other: the same again."""
        talk = self.bus(1025)
        spoilt = []

        def spoil_once(said: Said, at: float) -> bytes:
            reply = bus_answer(said)
            if said.command == 0x82 and not spoilt:
                spoilt.append(at)
                return reply[:-1] + bytes((reply[-1] ^ 1,))
            return reply

        assert [0x87, 0x8B, 0x83, 0x82, 0x82, 0x81] == talk.run(0.9, spoil_once)

    @pytest.mark.parametrize("recover", [False, True])
    def test_board_goes_and_comes(self, recover: bool) -> None:
        """A silent board is pinged now and then; the others go on; back again it is asked for all."""
        talk = self.bus(1, 2, eeprom_recovery=recover)
        gone: set[int] = set()

        def board(said: Said, at: float) -> bytes | None:
            return None if said.address in gone else bus_answer(said)

        talk.run(3.0, board)
        gone.add(2)
        start = len(talk.asked)
        talk.run(20.0, board)
        asked = [(said.command, said.address) for _, said in talk.asked[start:]]
        assert 5 <= asked.count((0x87, 2)) <= 9
        assert asked.count((0x83, 1)) > 20
        gone.clear()
        start = len(talk.asked)
        talk.run(24.0, board)
        asked = [(said.command, said.address) for _, said in talk.asked[start:]]
        assert (0x82, 2) in asked
        assert recover == ((0x86, 2) in asked)

    def test_board_without_clock_command(self) -> None:
        """It is given up on, and the round goes on."""
        talk = self.bus(1025)
        asked = talk.run(10.0, lambda said, at: None if said.command == 0x81 else bus_answer(said))

        assert asked.count(0x83) > 5

    @given(st.lists(st.sampled_from(["answer", "silent", "broken"]), max_size=60))
    def test_one_question_at_a_time(self, moods: list[str]) -> None:
        """No question before the last was answered, or refused and the line quiet, or waited for."""
        talk = self.bus(1, 2)
        outstanding: list[tuple[float, int]] = []

        def board(said: Said, at: float) -> bytes | None:
            if outstanding:
                assert at - outstanding.pop()[0] >= talk.delay - 1e-9
            outstanding.append((at, said.command))
            mood = moods.pop() if moods else "answer"
            reply = bus_answer(said)
            return {"answer": reply, "broken": reply[:-1] + bytes((reply[-1] ^ 1,))}.get(mood)

        talk.run(30.0, board)

    def test_before_opening(self) -> None:
        """A closed port is not talked to."""
        talk = DgtBusDialogue({1: "chess"})

        assert talk.deadline is None
        assert [] == talk.tick(1.0)
