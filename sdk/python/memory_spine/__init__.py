"""Memory Spine: what agents remember, and hand on.

    from memory_spine import MemorySpine

    with MemorySpine() as spine:
        memory = spine.store("The gateway answers 429 with Retry-After in seconds.", tags=["gateway"])
        for found in spine.search("how does the gateway limit requests?"):
            print(found.id, found.score, found.content)

        handoff = spine.agent_handoff("code-generator", f"Implement the retry logic, based on {memory.id}.")
        print(handoff.prompt())

`AsyncMemorySpine` has the same calls, to be awaited. Errors are `SpineError`s (see memory_spine.errors).
"""

from ._version import __version__
from .call import Page, SpineWarning
from .client import AsyncMemorySpine, MemorySpine
from .envelope import Budget, DryRun, Envelope, Finding, Guard, News, Ref, Trimmed, Waived
from .errors import (
    BudgetTooSmall,
    Conflict,
    ConstraintConflict,
    CredentialsFound,
    HopLimit,
    NotFound,
    PreconditionFailed,
    ProtocolError,
    ServerError,
    SpineError,
    Unavailable,
    ValidationError,
)

# Also the built-ins of these names, which "from memory_spine import *" must not replace: they are not in __all__.
from .errors import ConnectionError as ConnectionError
from .errors import TimeoutError as TimeoutError
from .handoff import AsyncHandoff, Handoff
from .memories import UNSET, Unset
from .method import AsyncPages, Pages
from .models import (
    Agent,
    Blame,
    Change,
    Difference,
    Explanation,
    FetchResult,
    Fidelity,
    Hop,
    HopFidelity,
    Memory,
    Missing,
    Receipt,
    Space,
    Task,
    TaskEntry,
    TaskHop,
    Term,
    Verification,
)

__all__ = [
    "UNSET",
    "Agent",
    "AsyncHandoff",
    "AsyncMemorySpine",
    "AsyncPages",
    "Blame",
    "Budget",
    "BudgetTooSmall",
    "Change",
    "Conflict",
    "ConstraintConflict",
    "CredentialsFound",
    "Difference",
    "DryRun",
    "Envelope",
    "Explanation",
    "FetchResult",
    "Fidelity",
    "Finding",
    "Guard",
    "Handoff",
    "Hop",
    "HopFidelity",
    "HopLimit",
    "Memory",
    "MemorySpine",
    "Missing",
    "News",
    "NotFound",
    "Page",
    "Pages",
    "PreconditionFailed",
    "ProtocolError",
    "Receipt",
    "Ref",
    "ServerError",
    "Space",
    "SpineError",
    "SpineWarning",
    "Task",
    "TaskEntry",
    "TaskHop",
    "Term",
    "Trimmed",
    "Unavailable",
    "Unset",
    "ValidationError",
    "Verification",
    "Waived",
    "__version__",
]
