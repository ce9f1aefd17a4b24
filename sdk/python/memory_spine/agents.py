"""The calls on agents: what a receiver of handoffs can take. Each is written once, as steps (see call.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union
from urllib.parse import quote

from . import errors
from .call import Listing, Request, Response, Sleep, Steps, backoff_s, get, post, put
from .models import Agent
from .wire import UNSET, Query, Unset, header_value, string_list

# The settings that stay when others are changed. (The secret of the webhook the server keeps by itself.)
_KEPT = (
    *("accepts", "tokenizer", "max_tokens", "description", "fetch_hint"),
    *("ack_timeout_s", "queue_timeout_s", "max_attempts", "fallbacks", "webhook"),
)
_TRIES_MAX = 50


def path_of(name: str, verb: str = "") -> str:
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is a text, not {name!r}")
    if not name:
        raise ValueError("an agent's name must not be empty")
    return f"/v1/agents/{quote(name, safe='')}{verb}"


def _with_etag(agent: Agent, response: Response) -> Agent:
    return dataclasses.replace(agent, etag=response.headers.get("etag"))


def _if_match(agent: Union[Agent, str, None]) -> tuple[tuple[str, str], ...]:
    if agent is None:
        return ()
    tag = agent.etag if isinstance(agent, Agent) else agent
    if tag is None:
        raise ValueError("if_match is an agent of a list, which has no ETag; read it with agent_info")
    return (("If-Match", header_value("if_match", tag)),)


def _settings(given: Mapping[str, Any], present: Optional[Agent]) -> dict[str, Any]:
    """What is to hold: what is given, and of the rest what there is. A PUT replaces everything, and what is None or not
    there gets the server's default."""
    kept = {} if present is None else {name: present.raw.get(name) for name in _KEPT}
    named = {name: value for name, value in given.items() if not isinstance(value, Unset)}
    return {name: value for name, value in {**kept, **named}.items() if value is not None}


def _present(name: str) -> Steps[Optional[Agent]]:
    try:
        return (yield from agent_info(name))
    except errors.NotFound:
        return None


def register_agent(
    name: str,
    *,
    accepts: Union[Iterable[str], None, Unset] = UNSET,
    tokenizer: Union[str, None, Unset] = UNSET,
    max_tokens: Union[int, None, Unset] = UNSET,
    description: Union[str, None, Unset] = UNSET,
    fetch_hint: Union[str, None, Unset] = UNSET,
    ack_timeout_s: Union[float, None, Unset] = UNSET,
    queue_timeout_s: Union[float, None, Unset] = UNSET,
    max_attempts: Union[int, None, Unset] = UNSET,
    fallbacks: Union[Iterable[str], None, Unset] = UNSET,
    webhook: Union[str, None, Unset] = UNSET,
    webhook_secret: Union[str, Unset] = UNSET,
    if_match: Union[Agent, str, None] = None,
    replace: bool = False,
) -> Steps[Agent]:
    """Registers an agent, or changes its settings. What is not named stays as it is; None takes it away, so that the
    server's default holds.

    accepts         the versions of the envelope that it reads; ["2"] where nobody said
    tokenizer       how its tokens are counted
    max_tokens      how many a handoff to it may have
    description     what it does
    fetch_hint      how it fetches a memory by its id, so that its prompts say how: "mcp", "command" or "http"
    ack_timeout_s   how long it has to ack a handoff
    queue_timeout_s how long a handoff to it waits for somebody to take it, before it is parked
    max_attempts    how often it gets one that failed
    fallbacks       which agents get it then, in order
    webhook         where the server posts its handoffs
    webhook_secret  what they are signed with; else the one there is, else one that the server makes and that the answer
                    has as `webhook_secret`
    if_match        an agent as `agent_info` or this call returned it: refused (PreconditionFailed) where somebody has
                    registered it anew since; "*": where nobody has registered it yet
    replace         forgets the settings that are not named, instead of keeping them

    Two who change different settings of an agent at once do not undo one another's. Only where both are the first to
    register it, the later one's hold alone.
    """
    given: dict[str, Any] = {
        "accepts": accepts if accepts is None or isinstance(accepts, Unset) else string_list("accepts", accepts),
        "tokenizer": tokenizer,
        "max_tokens": max_tokens,
        "description": description,
        "fetch_hint": fetch_hint,
        "ack_timeout_s": ack_timeout_s,
        "queue_timeout_s": queue_timeout_s,
        "max_attempts": max_attempts,
        "fallbacks": (
            fallbacks if fallbacks is None or isinstance(fallbacks, Unset) else string_list("fallbacks", fallbacks)
        ),
        "webhook": webhook,
        "webhook_secret": webhook_secret,
    }
    path, condition = path_of(name), _if_match(if_match)
    if replace:
        response = yield put(path, _settings(given, None), condition)
        return _with_etag(response.read(Agent.from_wire), response)
    attempt = 0
    while True:
        present = yield from _present(name)
        # Where the caller made no condition, that it is still what was read is ours.
        ours = if_match in (None, "*") and present is not None
        request = put(path, _settings(given, present), _if_match(present) if ours else condition)
        try:
            # Sending ours again is safe: should the first have arrived, the second is refused, and all is read anew.
            response = yield dataclasses.replace(request, safe=request.safe or ours)
            return _with_etag(response.read(Agent.from_wire), response)
        except errors.PreconditionFailed:
            if not ours or attempt >= _TRIES_MAX:
                raise
        yield Sleep(backoff_s(attempt))
        attempt += 1


def agent_info(name: str) -> Steps[Agent]:
    """The settings of a registered agent, what waits for it, and its circuit breaker."""
    response = yield get(path_of(name))
    return _with_etag(response.read(Agent.from_wire), response)


def agents(*, page_size: int = 100) -> Listing[Agent]:
    """All registered agents of the space, by name, read page by page as they are used."""
    query = Query().add("page_size", page_size)
    return Listing(get("/v1/agents", tuple(query.pairs)), "agents", Agent.from_wire)


def delete_agent(name: str) -> Steps[None]:
    """Forgets an agent that has no open work: its settings, breaker and subscriptions go, what it had stays in the
    history, and whoever uses the name again begins anew. Raises Conflict where something is queued for it, in its hands
    or parked."""
    try:
        yield Request("DELETE", path_of(name), safe=True)
    except errors.NotFound as error:
        if not error.repeated:
            raise


def reset_breaker(agent: str) -> Steps[None]:
    """Closes the circuit breaker of an agent by hand: it is sent handoffs again."""
    yield post(path_of(agent, "/reset"), safe=True)
