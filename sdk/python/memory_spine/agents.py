"""The calls on agents: what a receiver of handoffs can take. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional
from urllib.parse import quote

from .call import Listing, Steps, get, put
from .models import Agent
from .wire import Query, string_list


def _path(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is a text, not {name!r}")
    if not name:
        raise ValueError("an agent's name must not be empty")
    return f"/v1/agents/{quote(name, safe='')}"


def register_agent(
    name: str,
    *,
    accepts: Optional[Iterable[str]] = None,
    tokenizer: Optional[str] = None,
    max_tokens: Optional[int] = None,
    description: Optional[str] = None,
) -> Steps[Agent]:
    """Registers an agent, or replaces its settings: the envelope versions that it accepts (["2"] where none are given),
    how its tokens are counted, and how many a handoff to it may have."""
    fields: dict[str, Any] = {"tokenizer": tokenizer, "max_tokens": max_tokens, "description": description}
    if accepts is not None:
        fields["accepts"] = string_list("accepts", accepts)
    response = yield put(_path(name), {name: value for name, value in fields.items() if value is not None})
    return response.read(Agent.from_wire)


def agent_info(name: str) -> Steps[Agent]:
    """The settings of a registered agent."""
    response = yield get(_path(name))
    return response.read(Agent.from_wire)


def agents(*, page_size: int = 100) -> Listing[Agent]:
    """All registered agents of the space, by name, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/agents", tuple(query.pairs)), "agents", Agent.from_wire)
