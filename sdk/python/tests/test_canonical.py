"""Canonical JSON: known forms, and the same forms as the server's."""

import json
import random
import struct

import pytest

from memory_spine.canonical import canonical_json, digest_of

# Of RFC 8785, appendix B: the bits of a double, and how it is written.
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.parametrize("bits, text", NUMBERS)
def test_numbers_are_written_as_rfc_8785_says(bits, text):
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value).decode() == text


@pytest.mark.parametrize("text", ["1", "10", "1.5", "0.1", "100.25", "0.001", "1e-7", "1e+21", "123456789012345680000"])
def test_numbers_in_canonical_form_stay_as_they_are(text):
    assert canonical_json(json.loads(text)).decode() == text
    assert canonical_json(float(text)).decode() == text
    assert canonical_json(-float(text)).decode() == "-" + text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), "\ud800"])
def test_what_json_does_not_have_is_refused(value):
    with pytest.raises(ValueError):
        canonical_json([value])


def test_members_stand_in_the_order_of_utf_16():
    # By code points U+FB33 comes before U+1F600, in UTF-16 it comes after: D83D DE00.
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    order = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(names)))) == order


def test_texts_have_the_escapes_that_they_need():
    text = '\u20ac$\x0f\nA\'B"\\\\"/\b\t\f\r\x7f\u2028'
    assert canonical_json(text).decode() == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\\b\\t\\f\\r\x7f\u2028"'


def test_nothing_stands_in_between():
    value = {"b": [1, {}, [], (True, None)], "a": {"x": "y"}}
    assert canonical_json(value) == b'{"a":{"x":"y"},"b":[1,{},[],[true,null]]}'


def test_a_digest_is_that_of_the_canonical_form():
    assert digest_of({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randint(-(2**53) + 1, 2**53 - 1)
    if kind == 2:
        (value,) = struct.unpack(">d", rng.getrandbits(64).to_bytes(8, "big"))
        return storable(value)
    if kind == 3:
        return storable(rng.uniform(-1, 1) * 10 ** rng.randint(-9, 25))
    if kind in (4, 5):
        return random_text(rng)
    if kind == 6:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {random_text(rng): random_value(rng, depth + 1) for _ in range(rng.randrange(5))}


def storable(value):
    """The server refuses whole numbers beyond 2^53 that would be written with all their digits."""
    return value if abs(value) < 2**53 or 1e21 <= abs(value) < 1e300 else 0.5


def random_text(rng):
    ranges = [(1, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    return "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randrange(8)))


def test_the_server_writes_the_same_bytes_and_counts_what_it_renders(spine):
    """Whatever is in an envelope, its digest and its token count can be checked on this side."""
    rng = random.Random(8785)
    for _ in range(40):
        output = {f"k{n}": random_value(rng) for n in range(20)}
        handoff = spine.agent_handoff("b", random_text(rng) + "x", expected_output=output)
        assert canonical_json(handoff.expected_output) == canonical_json(output)
        assert handoff.verify()
        assert handoff.token_count == spine.tokens(handoff.prompt())
