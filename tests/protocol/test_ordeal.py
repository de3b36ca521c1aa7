"""What every decoder must stand, whatever board it is for. A driver joins by its table in `frames/`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorthand import Sample, samples

from gateway.events import FrameRejected
from gateway.protocol import Reject, chunks
from gateway.registry import DRIVERS

SAMPLES = [sample for driver in DRIVERS for sample in samples(driver)]
GOOD = [sample for sample in SAMPLES if sample.meaning and not any(told.startswith("!") for told in sample.meaning)]
"""Lines that say something and nothing wrong."""

NOISE = (b"\0", b"\x7f" * 70, b"\xff\xfe\x80", b"\x8e\x00", b"position ", bytes(range(256)))
LATER = 60.0

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
every_good_sample = pytest.mark.parametrize("sample", GOOD, ids=str)
every_noise = pytest.mark.parametrize("noise", NOISE, ids=lambda noise: noise[:4].hex())


def _decoder(sample: Sample):
    return sample.decoder(DRIVERS[sample.driver])


def test_every_driver_has_a_table() -> None:
    """A driver that nothing is known to say cannot be tested, so it cannot be in the registry."""
    assert set(DRIVERS) == {sample.driver for sample in GOOD}


@every_sample
def test_whole(sample: Sample) -> None:
    """A line's frames in one chunk say what the table says."""
    assert list(sample.meaning) == sample.read(_decoder(sample))


@every_sample
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_cut(sample: Sample, size: int) -> None:
    """However it is cut, it says the same."""
    decoder = _decoder(sample)
    heard = [told for chunk in chunks(sample.frames, size) for told in sample.read(decoder, chunk)]

    assert list(sample.meaning) == heard


@every_good_sample
@every_noise
def test_garbage_before(sample: Sample, noise: bytes) -> None:
    """Garbage may swallow the frame that follows, never the one after that."""
    decoder = _decoder(sample)
    sample.read(decoder, noise)
    sample.read(decoder, at=LATER)

    assert list(sample.meaning) == sample.read(decoder, at=2 * LATER)[-len(sample.meaning) :]


@every_good_sample
@every_noise
def test_garbage_inside(sample: Sample, noise: bytes) -> None:
    """A frame broken by garbage does not break the next but one."""
    half = len(sample.frames) // 2
    decoder = _decoder(sample)
    sample.read(decoder, sample.frames[:half] + noise + sample.frames[half:])
    sample.read(decoder, at=LATER)

    assert list(sample.meaning) == sample.read(decoder, at=2 * LATER)[-len(sample.meaning) :]


@every_good_sample
@every_noise
def test_garbage_after(sample: Sample, noise: bytes) -> None:
    """What follows a frame changes nothing about it."""
    heard = sample.read(_decoder(sample), sample.frames + noise)

    assert list(sample.meaning) == heard[: len(sample.meaning)]


@every_good_sample
def test_truncated(sample: Sample) -> None:
    """A frame that stops short says nothing that the whole does not say, and the next but one is whole again."""
    for size in range(1, len(sample.frames)):
        decoder = _decoder(sample)
        told = sample.read(decoder, sample.frames[:size])
        sample.read(decoder, at=LATER)

        assert list(sample.meaning[: len(told)]) == told
        assert list(sample.meaning) == sample.read(decoder, at=2 * LATER)[-len(sample.meaning) :]


@every_sample
@pytest.mark.parametrize("step", [1 / 32, 1 / 4])
def test_taken_up(sample: Sample, step: float) -> None:
    """A decoder made from another's state, in the middle of a frame or later, goes on as that one does."""
    undisturbed, taken_up = _decoder(sample), _decoder(sample)
    at = elsewhere = 0.0
    for chunk in chunks(sample.frames * 9, 7):
        state = json.dumps(taken_up.state(elsewhere), allow_nan=False)
        taken_up, elsewhere = _decoder(sample), elsewhere + LATER
        taken_up.restore(json.loads(state), elsewhere)

        assert undisturbed.feed(chunk, at, sample.channel) == taken_up.feed(chunk, elsewhere, sample.channel)

        at, elsewhere = at + step, elsewhere + step


@pytest.mark.parametrize("driver", DRIVERS)
@settings(max_examples=200, deadline=None)
@given(data=st.lists(st.binary(max_size=60) | st.sampled_from([sample.frames for sample in SAMPLES]), max_size=8))
def test_anything(driver: str, data: list[bytes]) -> None:
    """Random bytes among good ones never raise, give the same however cut, and refuse no more than what came."""
    stream = b"".join(data)
    for sample in {(sample.game, sample.address): sample for sample in samples(driver)}.values():
        whole, cut = _decoder(sample), _decoder(sample)
        expected = whole.feed(stream, 0.0, sample.channel)
        heard = [told for chunk in chunks(stream, 1) for told in cut.feed(chunk, 0.0, sample.channel)]
        refused = [told for _, told in expected if isinstance(told, FrameRejected)]

        assert expected == heard
        assert all(told.size >= 1 and told.reason in set(Reject) for told in refused)
        assert sum(told.size for told in refused) <= len(stream)
