"""The calls on agents: what a receiver of handoffs can take. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Optional, Union
from urllib.parse import quote

from .call import Listing, Response, Steps, get, post, put
from .models import Agent
from .wire import Query, header_value, string_list


def path_of(name: str, verb: str = "") -> str:
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is a text, not {name!r}")
    if not name:
        raise ValueError("an agent's name must not be empty")
    return f"/v1/agents/{quote(name, safe='')}{verb}"


def _with_etag(agent: Agent, response: Response) -> Agent:
    return replace(agent, etag=response.headers.get("etag"))


def _if_match(agent: Union[Agent, str, None]) -> tuple[tuple[str, str], ...]:
    if agent is None:
        return ()
    tag = agent.etag if isinstance(agent, Agent) else agent
    if tag is None:
        raise ValueError("if_match is an agent of a list, which has no ETag; read it with agent_info")
    return (("If-Match", header_value("if_match", tag)),)


def register_agent(
    name: str,
    *,
    accepts: Optional[Iterable[str]] = None,
    tokenizer: Optional[str] = None,
    max_tokens: Optional[int] = None,
    description: Optional[str] = None,
    ack_timeout_s: Optional[float] = None,
    max_attempts: Optional[int] = None,
    fallbacks: Optional[Iterable[str]] = None,
    webhook: Any = None,
    if_match: Union[Agent, str, None] = None,
) -> Steps[Agent]:
    """Registers an agent, or replaces its settings: the envelope versions that it accepts (["2"] where none are given),
    how its tokens are counted, and how many a handoff to it may have; how long it has to ack a handoff, how often it
    gets one that failed, which agents get it then, in order, and where the server calls when there is one.

    With if_match, an agent as `agent_info` or this call returned it, it is refused (PreconditionFailed) where somebody
    has registered the agent anew since; with "*", where nobody has registered it yet.
    """
    fields: dict[str, Any] = {
        "accepts": None if accepts is None else string_list("accepts", accepts),
        "tokenizer": tokenizer,
        "max_tokens": max_tokens,
        "description": description,
        "ack_timeout_s": ack_timeout_s,
        "max_attempts": max_attempts,
        "fallbacks": None if fallbacks is None else string_list("fallbacks", fallbacks),
        "webhook": webhook,
    }
    settings = {field: value for field, value in fields.items() if value is not None}
    response = yield put(path_of(name), settings, _if_match(if_match))
    return _with_etag(response.read(Agent.from_wire), response)


def agent_info(name: str) -> Steps[Agent]:
    """The settings of a registered agent, what waits for it, and its circuit breaker."""
    response = yield get(path_of(name))
    return _with_etag(response.read(Agent.from_wire), response)


def agents(*, page_size: int = 100) -> Listing[Agent]:
    """All registered agents of the space, by name, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/agents", tuple(query.pairs)), "agents", Agent.from_wire)


def reset_breaker(agent: str) -> Steps[None]:
    """Closes the circuit breaker of an agent by hand: it is sent handoffs again."""
    yield post(path_of(agent, "/reset"), safe=True)
