"""The calls on memories that cannot be trusted: quarantine and purge. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .call import Listing, Steps, get, post
from .given import chosen, given
from .models import Memory
from .wire import Query, Time

_FILTERS = ("agent", "key", "task", "trust", "since", "before", "quarantined")
_SAID = ("dry_run", "limit", "after", "why", "by")


def _decide(path: str, arguments: Mapping[str, Any]) -> Steps[dict[str, Any]]:
    """The arguments are those of the function that was called (its locals())."""
    ids = arguments["ids"]
    if isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a list of ids of memories, not one text: [{ids!r}]")
    named = given(ids=None if ids is None else list(ids))
    response = yield post(path, {**named, **chosen((*_FILTERS, *_SAID), arguments)}, safe=True)
    return response.read(dict)


def quarantine(
    ids: Optional[Iterable[str]] = None,
    *,
    agent: Optional[str] = None,
    key: Optional[str] = None,
    task: Optional[str] = None,
    trust: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    dry_run: bool = False,
    limit: Optional[int] = None,
    after: Optional[str] = None,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[dict[str, Any]]:
    """Keeps memories from everybody: they are neither found nor packed nor read. `release_quarantined` undoes it.

    ids            these memories; or
    agent, key     what this agent wrote, or was stored with this key ("key-7"), in any version
    task, trust    what is of this task; what has this trust
    since, before  what was written at this time or later; before it
    dry_run        changes nothing, and tells what would be done
    why, by        for whoever asks later; who decides

    The answer is as the protocol has it: `memories` that were done, and `reached`, the envelopes that refer to them and
    the agents that were given them or opened one. What was forgotten before is found by ids and key, and is told as
    `forgotten`. Where `next_after` is not None there are more: give it as `after`.
    """
    return _decide("/v1/quarantine", locals())


def release_quarantined(
    ids: Optional[Iterable[str]] = None,
    *,
    agent: Optional[str] = None,
    key: Optional[str] = None,
    task: Optional[str] = None,
    trust: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[dict[str, Any]]:
    """Takes memories out of quarantine: they are as they were. The arguments are those of `quarantine`."""
    return _decide("/v1/quarantine/release", locals())


def purge(
    ids: Optional[Iterable[str]] = None,
    *,
    why: str,
    agent: Optional[str] = None,
    key: Optional[str] = None,
    task: Optional[str] = None,
    trust: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    quarantined: bool = False,
    dry_run: bool = False,
    limit: Optional[int] = None,
    after: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[dict[str, Any]]:
    """Forgets memories for good, all that fit; `quarantined` are those that are in quarantine. Otherwise the arguments
    and the answer are those of `quarantine`."""
    return _decide("/v1/purge", locals())


def quarantined(*, page_size: int = 100) -> Listing[Memory]:
    """What is in quarantine, with its text, read page by page as it is used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/quarantine", tuple(query.pairs)), "memories", Memory.from_wire)
