"""Handing work on: finishing a handoff, sending the next one and, in a loop, taking the next, in one call and one commit.

    def code(work):
        patch = write(work.prompt)
        work.hand_on("tester", "Test the patch.", result=patch)

No crash can fall between finishing and handing on: either both are done, or neither, and the work comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional

from . import deliveries, handoffs
from .call import Steps
from .delivery import Delivery
from .handoffs import EnvelopeId
from .wire import Time

if TYPE_CHECKING:
    from .received import _Received


def hand_on(
    handoff: _Received,
    to: str,
    summary: str,
    *,
    result: Any = None,
    gaps: Iterable[Any] = (),
    remember: bool = True,
    input_tokens: Optional[int] = None,
    constraints: Optional[Mapping[str, Any]] = None,
    state: Optional[str] = None,
    history: Iterable[Mapping[str, Any]] = (),
    refs: Iterable[str] = (),
    open_decisions: Iterable[str] = (),
    resolved_decisions: Iterable[Mapping[str, Any]] = (),
    expected_output: Optional[Mapping[str, Any]] = None,
    waive: Iterable[Mapping[str, Any]] = (),
    locked: Iterable[str] = (),
    new_root: bool = False,
    parent: Optional[EnvelopeId] = None,
    include_recent: Optional[int] = None,
    include_pins: Optional[bool] = None,
    scope: Optional[str] = None,
    strategy: Optional[str] = None,
    max_hops: Optional[int] = None,
    ack_timeout_s: Optional[float] = None,
    max_attempts: Optional[int] = None,
    fallbacks: Optional[Iterable[str]] = None,
    priority: Optional[int] = None,
    not_before: Optional[Time] = None,
    queue_timeout_s: Optional[float] = None,
) -> Steps[Delivery]:
    """Finishes this handoff and hands the work on to the next agent, in one call: both are done or neither is. Returns
    the new handoff.

    to, summary   who goes on, and what it is to accomplish. Intent, constraints, history and memories go on by
                  themselves, and so does the result
    result        what came of the work, any JSON; the next agent finds it in its prompt
    gaps, remember, input_tokens    as `complete` takes them
    ack_timeout_s, max_attempts, fallbacks, priority, not_before, queue_timeout_s    as `send` takes them
    parent        the envelope that the next one continues; this handoff's, where none is named
    new_root      the next one continues none, and begins a second chain in the task: intent, constraints, history and
                  the result do not go on

    The rest is what `pack` takes. In a loop the next handoff that is ready is taken in the same call: hand on last.

    Where it is refused (BudgetTooSmall, ConstraintConflict, HopLimit, RoutingLoop, …) nothing was changed: the handoff
    is still in hand.
    """
    envelope = handoffs.packing(to, summary, {**locals(), "task": handoff.task if new_root else None})
    then = deliveries.order(None, locals())
    more = {"remember": remember, "input_tokens": input_tokens}
    return (yield from handoff._hand_on({"envelope": envelope, **then}, result, gaps, more))
