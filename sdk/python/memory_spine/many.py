"""The calls on many handoffs at once: all that fit a filter, or those that are named. Each is written once, as steps
(see call.py).

The server does a hundred in a call, which is one transaction, and says where to go on; here that is done to the end. It
is safe to repeat: what was done does not fit any more. An answer that is lost costs nothing but its part of `done`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .board import Bulk, Decided, Refused
from .call import Steps, post
from .deliveries import HandoffId, handoff_id
from .given import chosen, given
from .wire import Time

# In a call of the server: others wait for the end of its transaction.
_AT_A_TIME = 100
# As many ids as the server takes in one call.
_IDS_MAX = 1000


def _ids(handoffs: Iterable[HandoffId]) -> list[str]:
    if isinstance(handoffs, (str, bytes)):
        raise TypeError(f"ids must be a list of handoffs or their ids, not one text: [{handoffs!r}]")
    return [handoff_id(one) for one in handoffs]


_FILTERS = ("to", "from_", "reason", "task", "since", "before", "all")
# What is said of the decision: to whom it goes instead, why, and who decides.
_SAID = ("reroute_to", "move_to", "why", "by")


def _which(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Which handoffs are meant, as it is sent: once for a filter, and for every thousand ids."""
    ids, fits = arguments["ids"], chosen(_FILTERS, arguments)
    if ids is None and "all" in arguments:  # restore_many has no filters
        return [fits]
    if fits:
        raise ValueError(f"give ids or a filter ({', '.join(fits)}), not both")
    return _named(ids)


def _named(ids: Iterable[HandoffId]) -> list[dict[str, Any]]:
    names = _ids(ids)
    return [{"ids": names[at : at + _IDS_MAX]} for at in range(0, len(names), _IDS_MAX)]


def _part(answer: Mapping[str, Any]) -> tuple[int, list[Decided], list[Refused], Optional[str]]:
    done = [Decided.from_wire(entry) for entry in answer["done"]]
    return answer["matched"], done, [Refused.from_wire(entry) for entry in answer["refused"]], answer["next_after"]


def _many(where: str, verb: str, arguments: Mapping[str, Any]) -> Steps[Bulk]:
    """Decides about many to the end. The arguments are those of the function that was called (its locals())."""
    which, said = _which(arguments), chosen(_SAID, arguments)
    limit, dry_run = arguments["limit"], arguments["dry_run"]
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit!r}; it must be positive")
    matched = 0
    done: list[Decided] = []
    refused: list[Refused] = []
    for meant in which:
        after: Optional[str] = None
        while True:
            left = _AT_A_TIME if limit is None else min(limit - len(done), _AT_A_TIME)
            if left == 0:
                return Bulk(verb, dry_run, matched, done, refused, True)
            more = given(limit=left, dry_run=dry_run or None, after=after)
            response = yield post(f"/v1/{where}/{verb}", {**meant, **said, **more}, safe=True)
            is_first = after is None
            fitted, now_done, now_refused, after = response.read(_part)
            matched += fitted if is_first else 0
            done += now_done
            refused += now_refused
            if after is None:
                break
    return Bulk(verb, dry_run, matched, done, refused, False)


def redrive_many(
    ids: Optional[Iterable[HandoffId]] = None,
    *,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    reason: Optional[str] = None,
    task: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    all: bool = False,
    limit: Optional[int] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Sends all that is parked and fits to its agent again, with new attempts.

    ids            handoffs or their ids, such as `parked(…)` lists them (a thousand and more are several calls); or
    to, from_      what was for this agent; what this agent has sent
    reason         what was parked for a reason that holds this text, in upper or lower case
    task           what is of this task
    since, before  what was parked at this time or later; before it
    all            everything that is parked: it must be said where there is no filter
    limit          ends it after so many
    dry_run        changes nothing, and tells what would be done
    why, by        for whoever asks later; who decides

    The filters hold together. Each handoff is done or refused by itself: see `Bulk`. Repeating it does no harm.
    """
    return (yield from _many("parked", "redrive", locals()))


def reroute_many(
    ids: Optional[Iterable[HandoffId]] = None,
    *,
    reroute_to: str,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    reason: Optional[str] = None,
    task: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    all: bool = False,
    limit: Optional[int] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Sends all that is parked and fits to another agent, `reroute_to`; `to` is whose it was. The other arguments are
    those of `redrive_many`."""
    return (yield from _many("parked", "reroute", locals()))


def discard_many(
    ids: Optional[Iterable[HandoffId]] = None,
    *,
    why: str,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    reason: Optional[str] = None,
    task: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    all: bool = False,
    limit: Optional[int] = None,
    dry_run: bool = False,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Takes all that is parked and fits out of the queue for good; it stays visible, as discarded, and `restore_many`
    brings it back. The arguments are those of `redrive_many`; `why` must be given."""
    return (yield from _many("parked", "discard", locals()))


def cancel_many(
    ids: Optional[Iterable[HandoffId]] = None,
    *,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    reason: Optional[str] = None,
    task: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    all: bool = False,
    limit: Optional[int] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Takes back all that is queued and fits: nobody gets it any more. It stays visible, as discarded, and
    `restore_many` brings it back, as parked. The arguments are those of `redrive_many`, of what is queued; `reason` is
    why it failed before."""
    return (yield from _many("queued", "cancel", locals()))


def move_many(
    ids: Optional[Iterable[HandoffId]] = None,
    *,
    move_to: str,
    to: Optional[str] = None,
    from_: Optional[str] = None,
    reason: Optional[str] = None,
    task: Optional[str] = None,
    since: Optional[Time] = None,
    before: Optional[Time] = None,
    all: bool = False,
    limit: Optional[int] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Gives all that is queued and fits to another agent, `move_to`; `to` is whose it was. The other arguments are those
    of `redrive_many`, of what is queued."""
    return (yield from _many("queued", "move", locals()))


def restore_many(
    ids: Iterable[HandoffId],
    *,
    limit: Optional[int] = None,
    dry_run: bool = False,
    why: Optional[str] = None,
    by: Optional[str] = None,
) -> Steps[Bulk]:
    """Undoes decisions: what was discarded or cancelled, and what was redriven or rerouted and that nobody has taken
    since, is parked again. `ids` are handoffs or their ids, such as the `done` of the call that is undone."""
    return (yield from _many("parked", "restore", locals()))
