"""The forms of things on the wire: endpoints, names, times, JSON, query parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple, Optional, Union
from urllib.parse import urlsplit

Time = Union[datetime, str]
"""A time in a request: an aware datetime, or text in RFC 3339."""

Strings = Union[str, Iterable[str]]
"""One text or several."""

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)")


class Unset:
    """The type of UNSET: a field that a change leaves as it is. (None clears the field.)"""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


class Endpoint(NamedTuple):
    host: str
    port: int
    is_tls: bool = False

    @property
    def authority(self) -> str:
        """What goes into the Host header."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self.is_tls else 'http'}://{self.authority}"

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Reads "http://HOST[:PORT]", or https; anything more or other is a ValueError that says what."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"endpoint {url!r} must begin with http:// or https://")
        if not parts.hostname:
            raise ValueError(f"endpoint {url!r} names no host")
        if parts.username is not None or parts.password is not None:
            raise ValueError(f"endpoint {parts.hostname!r} carries a user name or password: there are none")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(f"endpoint {url!r} carries a path: give only http://HOST:PORT")
        try:
            port = parts.port
        except ValueError:
            raise ValueError(f"endpoint {url!r} has no valid port") from None
        is_tls = parts.scheme == "https"
        return cls(parts.hostname, (443 if is_tls else 80) if port is None else port, is_tls)


def header_value(what: str, value: str) -> str:
    """Checks that a text arrives as it is in a header: no control characters, no blank at either end."""
    if not value or value != value.strip() or any(ord(c) < 0x20 or ord(c) == 0x7F for c in value):
        raise ValueError(
            f"{what} {value!r} must not be empty, nor hold control characters, nor begin or end with a blank"
        )
    return value


def parse_time(text: str) -> datetime:
    """An aware datetime in UTC. (datetime.fromisoformat reads neither "Z" nor every fraction before Python 3.11.)"""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time in RFC 3339")
    date, clock, fraction, offset = match.groups()
    micros = ((fraction or "") + "000000")[:6]
    offset = "+00:00" if offset in "Zz" else offset
    return datetime.fromisoformat(f"{date}T{clock}.{micros}{offset}").astimezone(timezone.utc)


def format_time(time: Time) -> str:
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        raise ValueError(f"{time!r} has no time zone: give an aware datetime, such as datetime.now(timezone.utc)")
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _json_default(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}")


def dump_json(value: Any) -> bytes:
    """UTF-8 JSON. NaN and infinities, which JSON does not have, are a ValueError, and so is half a surrogate pair."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_json_default)
    return text.encode("utf-8")


def load_json(data: bytes) -> Any:
    return json.loads(data.decode("utf-8"))


def string_list(what: str, value: Iterable[str]) -> list[str]:
    """A list of texts. One text is refused: it would be taken apart into its characters."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} must be a list of texts, not one text: [{value!r}]")
    return list(value)


def _query_text(value: Union[str, int, float, bool]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


class Query:
    """Query parameters, in the order given; what is None is left out."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def add(self, name: str, value: Optional[Union[str, int, float, bool]]) -> Query:
        if value is not None:
            self.pairs.append((name, _query_text(value)))
        return self

    def add_each(self, name: str, values: Optional[Strings]) -> Query:
        for value in (values,) if isinstance(values, str) else (values or ()):
            self.pairs.append((name, value))
        return self

    def add_time(self, name: str, time: Optional[Time]) -> Query:
        return self if time is None else self.add(name, format_time(time))
