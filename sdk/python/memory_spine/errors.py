"""What can go wrong, as exceptions.

Every error of this package is a `SpineError`. The server's refusals (RFC 9457 problems) become the class that fits
their status, with the problem's `code` on it; what never got an answer becomes `ConnectionError` or `TimeoutError`,
which are also the built-in exceptions of these names, so that code which knows only the built-ins catches them.

A wrong argument that never leaves this process is Python's own `TypeError` or `ValueError`.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Optional

__all__ = [
    "BudgetTooSmall",
    "Conflict",
    "ConstraintConflict",
    "CredentialsFound",
    "HopLimit",
    "NotFound",
    "PreconditionFailed",
    "ProtocolError",
    "ServerError",
    "SpineError",
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
    """

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


class NotFound(SpineError):
    """404: no such memory, version, envelope, task, agent or call."""


class Conflict(SpineError):
    """409: the object is in a state that does not allow this. Also an Idempotency-Key used for two requests."""


class ConstraintConflict(Conflict):
    """A handoff would change or loosen a constraint of its parent. `waive` it, with a reason, or leave it as it is."""


class HopLimit(Conflict):
    """The chain has had as many handoffs as it may have (`max_hops`)."""


class PreconditionFailed(SpineError):
    """412: the memory has moved on since `if_version`."""

    @property
    def current_version(self) -> Optional[int]:
        """The version that the memory has now."""
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


class ServerError(SpineError):
    """5xx: the server failed."""


class Unavailable(ServerError):
    """503: overloaded, shutting down, or its store has failed."""


class ProtocolError(SpineError):
    """The peer did not answer as the protocol says: code `invalid_response`, or `response_too_large`."""


class ConnectionError(SpineError, builtins.ConnectionError):
    """No answer. Code `connect_failed`: the request was not sent; `connection_lost`: it may have been carried out."""


class TimeoutError(SpineError, builtins.TimeoutError):
    """No answer in time: code `timeout`, and the request may have been carried out. Also the server's 408."""


_CLASS_OF_STATUS: dict[int, type[SpineError]] = {
    400: ValidationError,
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
    "budget_too_small": BudgetTooSmall,
    "constraint_conflict": ConstraintConflict,
    "credentials_found": CredentialsFound,
    "hop_limit": HopLimit,
    "idempotency_conflict": Conflict,
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
