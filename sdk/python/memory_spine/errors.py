"""What can go wrong, as exceptions.

Every error of this package is a `SpineError`. The server's refusals (RFC 9457 problems) become the class that fits
their status, with the problem's `code` on it; what never got an answer becomes `ConnectionError` or `TimeoutError`,
which are also the built-in exceptions of these names, so that code which knows only the built-ins catches them.

A wrong argument that never leaves this process is Python's own `TypeError` or `ValueError`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

__all__ = [
    "AckTimeoutError",
    "BudgetTooSmall",
    "CircuitOpenError",
    "Conflict",
    "ConstraintConflict",
    "ConstraintLocked",
    "CredentialsFound",
    "Forbidden",
    "HandoffConflict",
    "HandoffError",
    "HandoffParkedError",
    "HopLimit",
    "LineageUnverified",
    "NoRoute",
    "NotFound",
    "OutcomeUnknown",
    "ParentUnclear",
    "PreconditionFailed",
    "ProtocolError",
    "QuotaExceeded",
    "RoutingLoop",
    "ServerError",
    "SpineError",
    "StaleLeaseError",
    "TlsError",
    "Unauthorized",
    "Unavailable",
    "ValidationError",
]


class SpineError(Exception):
    """Base of all errors.

    code         a name for programs; the server's own, or one of those given below
    status       the HTTP status, None where there was no answer
    detail       a sentence for people
    field        the place in the request that the error is about, None where there is none
    retryable    whether the same request may succeed later
    retry_after  seconds after which it is worth trying again, None where unknown
    problem      the whole problem as the server sent it, {} where it sent none
    repeated     whether the request was sent before, and its answer lost: it may have been carried out then
    """

    repeated = False

    def __init__(
        self,
        detail: str,
        *,
        code: str = "error",
        status: Optional[int] = None,
        field: Optional[str] = None,
        retryable: bool = False,
        retry_after: Optional[float] = None,
        problem: Optional[Mapping[str, Any]] = None,
    ) -> None:
        # args is the detail alone: that is what pickle calls the class with, the rest travels in __dict__.
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status = status
        self.field = field
        self.retryable = retryable
        self.retry_after = retry_after
        self.problem: dict[str, Any] = dict(problem or {})

    def __str__(self) -> str:
        status = "" if self.status is None else f"{self.status} "
        return f"{self.detail} ({status}{self.code})"


class Unauthorized(SpineError):
    """401: the server asks for a key, or the one that was sent is unknown, expired or revoked. It is not tried again."""


class Forbidden(SpineError):
    """403: the key may not do this: too little scope, another space, another agent's name. The text says what is
    missing, `field` what it is about. Also a page or a host that the server does not allow."""


class NotFound(SpineError):
    """404: no such memory, version, envelope, handoff, task, agent, channel, route or call."""


class Conflict(SpineError):
    """409: the object is in a state that does not allow this. Also an Idempotency-Key used for two requests."""


class ConstraintConflict(Conflict):
    """A handoff would change or loosen a constraint of its parent. `waive` it, with a reason, or leave it as it is."""


class ConstraintLocked(ConstraintConflict):
    """A handoff would waive a constraint that is locked. No agent can; a person may, for the whole task (`spine waive`,
    or the dashboard)."""


class ParentUnclear(Conflict):
    """The task has a chain, and more than one envelope that this one could continue. Name one of them, which the text
    lists, as the `parent`; or begin a second chain with `new_root`."""


class LineageUnverified(Conflict):
    """An envelope was sent back changed: its id, digest and lineage do not belong together. Send it as it came, or pack
    from it as the `parent`."""


class PreconditionFailed(SpineError):
    """412: the memory has moved on since `if_version`, or the agent since `if_match`."""

    @property
    def current_version(self) -> Optional[int]:
        """The version that the memory has now; None where it is about an agent."""
        version = self.problem.get("current_version")
        return version if isinstance(version, int) else None


class ValidationError(SpineError):
    """400, 413, 414, 415, 422, 431: the request is wrong or too large; `field` says where."""


class BudgetTooSmall(ValidationError):
    """Not even the task with its constraints fits into max_tokens, or not everything with strategy="full"."""

    @property
    def minimum(self) -> Optional[int]:
        """The budget that would do."""
        minimum = self.problem.get("minimum")
        return minimum if isinstance(minimum, int) else None


class CredentialsFound(ValidationError):
    """A handoff that must be free of credentials is not."""


class QuotaExceeded(SpineError):
    """429: the space has as much of something as it may have: `field` says of what, `limit` how much. Nothing was
    changed. Where time helps, `retry_after` says how much of it."""

    @property
    def limit(self) -> Optional[int]:
        limit = self.problem.get("limit")
        return limit if isinstance(limit, int) else None


class ServerError(SpineError):
    """5xx: the server failed."""


class Unavailable(ServerError):
    """503: overloaded, shutting down, or its store has failed."""


class OutcomeUnknown(ServerError):
    """The server's disk failed while this was being stored: whether it is there shows when the server was restarted.

    Nothing sends it again by itself. `retryable` is true where the request had an Idempotency-Key, which the detail
    names: the same request with the same key, after the restart, is carried out once.
    """


class ProtocolError(SpineError):
    """The peer did not answer as the protocol says: code `invalid_response`, or `response_too_large`."""


class ConnectionError(SpineError, builtins.ConnectionError):
    """No answer. Code `connect_failed`: the request was not sent; `connection_lost`: it may have been carried out."""


class TlsError(SpineError):
    """No secure connection could be made: code `tls_failed`. The text says why (an authority that is not trusted here,
    another host's certificate, a client certificate that is asked for) and what to do. Nothing was sent, and it is not
    tried again."""


class TimeoutError(SpineError, builtins.TimeoutError):
    """No answer in time: code `timeout`, and the request may have been carried out. Also the server's 408."""


# --- Handoffs ------------------------------------------------------------------------------------


class HandoffError(SpineError):
    """A handoff could not be delivered, or not be settled."""

    @property
    def handoff(self) -> Optional[str]:
        """The id of the handoff that it is about, None where there is none."""
        id = self.problem.get("handoff")
        return id if isinstance(id, str) else None


class AckTimeoutError(HandoffError, TimeoutError):
    """Nobody acked while the sender waited. The handoff is withdrawn: delivering it again is its next attempt."""


class CircuitOpenError(HandoffError):
    """Handoffs to this agent failed again and again, so that it gets none until `reset_at`. Only who waits for an ack is
    told, and nothing was sent; what `send` sends is held, and goes on by itself."""

    def __init__(self, detail: str, **more: Any) -> None:
        super().__init__(detail, **more)
        self.reset_at: Optional[datetime] = None
        if self.retry_after is not None:
            self.reset_at = datetime.now(timezone.utc) + timedelta(seconds=self.retry_after)


class HandoffConflict(HandoffError, Conflict):
    """The handoff is in a state that does not allow this: not parked, not queued, settled already, sent to that agent
    already."""


class HandoffParkedError(HandoffConflict):
    """The handoff is parked, or was discarded, and is not delivered until somebody uses one of the `remedies`."""

    @property
    def remedies(self) -> list[str]:
        return [str(remedy) for remedy in self.problem.get("remedies") or ()]


class StaleLeaseError(HandoffConflict):
    """The lease has ended, and somebody else may have the handoff by now. Nothing was changed."""


class HopLimit(HandoffConflict):
    """The chain has had as many handoffs as it may have (`max_hops`). Nothing was changed: who holds the last handoff
    still holds it."""


class RoutingLoop(HandoffConflict):
    """The work would go back to an agent that had it, and nothing is new since. Nothing was changed: who holds the last
    handoff still holds it."""


class NoRoute(HandoffError, ValidationError):
    """target_agent="next", and no route leads on from here."""


_CLASS_OF_STATUS: dict[int, type[SpineError]] = {
    400: ValidationError,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: TimeoutError,
    409: Conflict,
    412: PreconditionFailed,
    413: ValidationError,
    414: ValidationError,
    415: ValidationError,
    422: ValidationError,
    431: ValidationError,
    503: Unavailable,
}

# Where the code says more than the status does.
_CLASS_OF_CODE: dict[str, type[SpineError]] = {
    "ack_timeout": AckTimeoutError,
    "already_sent": HandoffConflict,
    "already_settled": HandoffConflict,
    "budget_too_small": BudgetTooSmall,
    "circuit_open": CircuitOpenError,
    "constraint_conflict": ConstraintConflict,
    "constraint_locked": ConstraintLocked,
    "credentials_found": CredentialsFound,
    "handoff_parked": HandoffParkedError,
    "hop_limit": HopLimit,
    "idempotency_conflict": Conflict,
    "lineage_unverified": LineageUnverified,
    "loop": RoutingLoop,
    "no_route": NoRoute,
    "outcome_unknown": OutcomeUnknown,
    "not_parked": HandoffConflict,
    "not_restorable": HandoffConflict,
    "not_queued": HandoffConflict,
    "parent_unclear": ParentUnclear,
    "quota_exceeded": QuotaExceeded,
    "stale_lease": StaleLeaseError,
}


def from_problem(status: int, problem: Mapping[str, Any], retry_after: Optional[float]) -> SpineError:
    """The exception for a refusal. `retry_after` is the header's, used where the problem has no `retry_after_ms`."""
    code = str(problem.get("code") or f"http_{status}")
    detail = str(problem.get("detail") or problem.get("title") or f"the server answered {status}")
    field = problem.get("field")
    wait_ms = problem.get("retry_after_ms")
    if isinstance(wait_ms, (int, float)):
        retry_after = wait_ms / 1000
    cls = _CLASS_OF_CODE.get(code) or _CLASS_OF_STATUS.get(status) or (ServerError if status >= 500 else SpineError)
    return cls(
        detail,
        code=code,
        status=status,
        field=None if field is None else str(field),
        retryable=bool(problem.get("retryable", False)),
        retry_after=retry_after,
        problem=problem,
    )
