"""Canonical JSON (RFC 8785): one form for one value, so that its digest can be checked by whoever holds it.

Members stand in the order of their names as UTF-16, numbers in the shortest form that reads back as the same double (as
ECMAScript writes them), texts with no more escapes than JSON needs, and nothing stands in between.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_EXACT_MAX = 2**53

# Where ECMAScript changes to the form with an exponent: 1e21 and 1e-7.
_PLAIN_DIGITS_MAX = 21
_PLAIN_ZEROS_MAX = 6


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")


def _number(value: float) -> str:
    """As Number::toString of ECMAScript. repr has the same digits, the shortest ones, in another form."""
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{value} has no form in JSON")
    if value == 0:
        return "0"  # of minus zero, too
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS × 10^point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= _PLAIN_DIGITS_MAX:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN_DIGITS_MAX:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -_PLAIN_ZEROS_MAX < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _write(value: Any, out: list[str]) -> None:
    if value is None or isinstance(value, (bool, str)):
        out.append(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, int):
        out.append(str(value) if abs(value) <= _EXACT_MAX else _number(float(value)))
    elif isinstance(value, float):
        out.append(_number(value))
    elif isinstance(value, Mapping):
        for index, name in enumerate(sorted(value, key=_utf16)):
            out.append("," if index else "{")
            out.append(json.dumps(name, ensure_ascii=False) + ":")
            _write(value[name], out)
        out.append("}" if value else "{}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            out.append("," if index else "[")
            _write(item, out)
        out.append("]" if value else "[]")
    else:
        raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}")


def canonical_json(value: Any) -> bytes:
    """The canonical form, in UTF-8. NaN, infinities and half a surrogate pair are a ValueError."""
    out: list[str] = []
    _write(value, out)
    return "".join(out).encode("utf-8")


def digest_of(value: Any) -> str:
    """ "sha256:" and the SHA-256 of the canonical form."""
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()
