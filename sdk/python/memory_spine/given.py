"""What a caller has given, as it is sent. A call passes its arguments on whole, as its locals(), so that no list of them
is written twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .wire import format_time

_TIMES = ("since", "before", "not_before")


def given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def chosen(names: Iterable[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments that are named and say something: neither None nor False. Times are text, and `from_` is
    `from`."""
    found = {}
    for name in names:
        value = arguments.get(name)
        if value is not None and value is not False:
            found[name.rstrip("_")] = format_time(value) if name in _TIMES else value
    return found
