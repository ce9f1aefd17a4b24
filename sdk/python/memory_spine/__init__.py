"""Memory Spine: what agents remember, and hand on.

    from memory_spine import MemorySpine

    with MemorySpine() as spine:
        memory = spine.store("The gateway answers 429 with Retry-After in seconds.", tags=["gateway"])
        for found in spine.search("how does the gateway limit requests?"):
            print(found.id, found.score, found.content)

`AsyncMemorySpine` has the same calls, to be awaited. Errors are `SpineError`s (see memory_spine.errors).
"""

from ._version import __version__
from .call import Page, SpineWarning
from .client import AsyncMemorySpine, MemorySpine
from .errors import (
    Conflict,
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
from .memories import UNSET, Unset
from .method import AsyncPages, Pages
from .models import Explanation, FetchResult, Memory, Missing, Term

__all__ = [
    "UNSET",
    "AsyncMemorySpine",
    "AsyncPages",
    "Conflict",
    "Explanation",
    "FetchResult",
    "Memory",
    "MemorySpine",
    "Missing",
    "NotFound",
    "Page",
    "Pages",
    "PreconditionFailed",
    "ProtocolError",
    "ServerError",
    "SpineError",
    "SpineWarning",
    "Term",
    "Unavailable",
    "Unset",
    "ValidationError",
    "__version__",
]
