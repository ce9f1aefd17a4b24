"""Memory Spine: what agents remember, and hand on.

    from memory_spine import MemorySpine

    with MemorySpine() as spine:
        memory = spine.store("The gateway answers 429 with Retry-After in seconds.", tags=["gateway"])
        for found in spine.search("how does the gateway limit requests?"):
            print(found.id, found.score, found.content)

        spine.send(spine.pack("coder", f"Implement the retry logic, based on {memory.id}."))

    def code(work):                                                     # the receiving agent
        print(work.prompt)
        work.hand_on("reviewer", "Review the patch.", result="…")

    with MemorySpine() as spine:
        spine.agent("coder").run(code)

`AsyncMemorySpine` has the same calls, to be awaited. Errors are `SpineError`s (see memory_spine.errors).
"""

from ._version import __version__
from .board import AgentQueue, Bulk, Decided, QueueEntry, Refused, Waiver
from .call import Page, SpineWarning
from .channel import AsyncChannel, Channel
from .client import AsyncMemorySpine, MemorySpine
from .delivery import (
    Ack,
    AuditEntry,
    ChannelInfo,
    Delivery,
    Event,
    Join,
    Notice,
    Parked,
    Route,
    SpaceEvent,
    Trace,
    TraceEnvelope,
)
from .envelope import (
    Budget,
    Considered,
    ConsideredMemory,
    DryRun,
    Envelope,
    Finding,
    Guard,
    News,
    Ref,
    Trimmed,
    Waived,
)
from .errors import (
    AckTimeoutError,
    BudgetTooSmall,
    CircuitOpenError,
    Conflict,
    ConstraintConflict,
    ConstraintLocked,
    CredentialsFound,
    Forbidden,
    HandoffConflict,
    HandoffError,
    HandoffParkedError,
    HopLimit,
    LineageUnverified,
    NoRoute,
    NotFound,
    OutcomeUnknown,
    ParentUnclear,
    PreconditionFailed,
    ProtocolError,
    QuotaExceeded,
    RoutingLoop,
    ServerError,
    SpineError,
    StaleLeaseError,
    TlsError,
    Unauthorized,
    Unavailable,
    ValidationError,
)

# Also the built-ins of these names, which "from memory_spine import *" must not replace: they are not in __all__.
from .errors import ConnectionError as ConnectionError
from .errors import TimeoutError as TimeoutError
from .events import AsyncEvents, Events
from .handoff import AsyncEnvelope, AsyncHandoff, Handoff, SyncEnvelope
from .handoff_client import AsyncHandoffClient, HandoffClient
from .idempotent import idempotent
from .inbox import AsyncInbox, Inbox
from .method import AsyncPages, Pages
from .models import (
    Agent,
    Alert,
    AlertRule,
    Blame,
    Breaker,
    Change,
    Difference,
    Explanation,
    FetchResult,
    Fidelity,
    Hop,
    HopFidelity,
    Key,
    Memory,
    Missing,
    NewKey,
    Origin,
    Queue,
    Receipt,
    Session,
    SessionKey,
    Space,
    SpaceEntry,
    Task,
    TaskEntry,
    TaskHop,
    Term,
    Verification,
)
from .received import AsyncReceivedHandoff, ReceivedHandoff
from .receiver import AsyncReceiver, Receiver
from .stats import AgentFigures, Completeness, Figures, Hops, Latency, Point, Stats, Utilization
from .webhooks import WebhookError, verify_webhook
from .wire import UNSET, Unset

__all__ = [
    "UNSET",
    "Ack",
    "AckTimeoutError",
    "Agent",
    "AgentFigures",
    "AgentQueue",
    "Alert",
    "AlertRule",
    "AsyncChannel",
    "AsyncEnvelope",
    "AsyncEvents",
    "AsyncHandoff",
    "AsyncHandoffClient",
    "AsyncInbox",
    "AsyncMemorySpine",
    "AsyncPages",
    "AsyncReceivedHandoff",
    "AsyncReceiver",
    "AuditEntry",
    "Blame",
    "Breaker",
    "Budget",
    "BudgetTooSmall",
    "Bulk",
    "Change",
    "Channel",
    "ChannelInfo",
    "CircuitOpenError",
    "Completeness",
    "Conflict",
    "Considered",
    "ConsideredMemory",
    "ConstraintConflict",
    "ConstraintLocked",
    "CredentialsFound",
    "Decided",
    "Delivery",
    "Difference",
    "DryRun",
    "Envelope",
    "Event",
    "Events",
    "Explanation",
    "FetchResult",
    "Fidelity",
    "Figures",
    "Finding",
    "Forbidden",
    "Guard",
    "Handoff",
    "HandoffClient",
    "HandoffConflict",
    "HandoffError",
    "HandoffParkedError",
    "Hop",
    "HopFidelity",
    "HopLimit",
    "Hops",
    "Inbox",
    "Join",
    "Key",
    "Latency",
    "LineageUnverified",
    "Memory",
    "MemorySpine",
    "Missing",
    "NewKey",
    "News",
    "NoRoute",
    "NotFound",
    "Notice",
    "Origin",
    "Page",
    "Pages",
    "OutcomeUnknown",
    "ParentUnclear",
    "Parked",
    "Point",
    "PreconditionFailed",
    "ProtocolError",
    "QuotaExceeded",
    "Queue",
    "QueueEntry",
    "Receipt",
    "ReceivedHandoff",
    "Receiver",
    "Ref",
    "Refused",
    "Route",
    "RoutingLoop",
    "ServerError",
    "Session",
    "SessionKey",
    "Space",
    "SpaceEntry",
    "SpaceEvent",
    "SpineError",
    "SpineWarning",
    "StaleLeaseError",
    "Stats",
    "SyncEnvelope",
    "Task",
    "TaskEntry",
    "TaskHop",
    "Term",
    "TlsError",
    "Trace",
    "TraceEnvelope",
    "Trimmed",
    "Unauthorized",
    "Unavailable",
    "Unset",
    "Utilization",
    "ValidationError",
    "Verification",
    "Waived",
    "Waiver",
    "WebhookError",
    "__version__",
    "idempotent",
    "verify_webhook",
]
