"""Memories by their ids, however many answers that takes: `fetch`, `resolve` and `need` ask so.

An answer has 8 MiB of text at most. What it has no room for is missing as "not_given"; it is asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from .call import Steps, post
from .models import FetchResult


def fetching(path: str, name: str, ids: Optional[list[str]], said: Mapping[str, Any]) -> Steps[FetchResult]:
    """All of them, put together. `name` is what the ids are called in the body; None asks for what the server thinks
    fit."""
    whole = FetchResult([], [])
    wanted = ids
    while True:
        response = yield post(path, {**said, **({} if wanted is None else {name: wanted})}, safe=True)
        found = response.read(FetchResult.from_wire)
        later = [one.id for one in found.missing if one.reason == "not_given"]
        whole.memories.extend(found.memories)
        whole.missing.extend(one for one in found.missing if one.reason != "not_given" or not found.memories)
        if not later or not found.memories:  # each answer gives one at least: so it ends
            return whole
        wanted = later
