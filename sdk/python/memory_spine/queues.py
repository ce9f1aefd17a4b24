"""The calls on queues: what waits for whom, since when, and why. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from urllib.parse import quote

from .board import AgentQueue, QueueEntry
from .call import Listing, get
from .wire import Query


def queues(*, page_size: int = 100) -> Listing[AgentQueue]:
    """The agents that have open or parked work, with how much of it waits and why, read page by page as they are
    used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/queues", tuple(query.pairs)), "queues", AgentQueue.from_wire)


def queue(agent: str, *, page_size: int = 100) -> Listing[QueueEntry]:
    """What waits for an agent, the next first: since when, and why. What waits for its time comes last."""
    if not isinstance(agent, str) or not agent:
        raise ValueError(f"an agent is named by a text, not {agent!r}")
    query = Query().add("page_size", page_size)
    return Listing(get(f"/v1/queues/{quote(agent, safe='')}", tuple(query.pairs)), "queue", QueueEntry.from_entry)
