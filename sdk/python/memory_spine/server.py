"""The calls about the server itself: tokens, health, status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import errors
from .call import Steps, get, post


def _tokens(answer: Mapping[str, Any]) -> int:
    return int(answer["tokens"])


def tokens(text: str, tokenizer: str = "o200k_base") -> Steps[int]:
    """How many tokens a text has: exactly, in o200k_base and cl100k_base; about, with tokenizer="estimate"."""
    response = yield post("/v1/tokens", {"text": text, "tokenizer": tokenizer}, safe=True)
    return response.read(_tokens)


def status() -> Steps[dict[str, Any]]:
    """What the server says about itself: version, uptime, store, memories in the space, connections, requests."""
    response = yield get("/v1/status")
    return response.read(dict)


def cluster() -> Steps[dict[str, Any]]:
    """The servers that share a database ("nodes"), and which of them owns which part of it ("shards").

    A server that keeps everything itself is the only node, and has no shards.
    """
    response = yield get("/v1/cluster")
    return response.read(dict)


def _answers(path: str) -> Steps[bool]:
    """Asks once: whoever wants to know whether the server is there does not want to wait until it is."""
    try:
        yield replace(get(path), retry=False)
    except errors.SpineError:
        return False
    return True


def healthy() -> Steps[bool]:
    """Whether the server's process serves. False, not an error, where nobody answers."""
    return (yield from _answers("/healthz"))


def ready() -> Steps[bool]:
    """Whether the server takes writes: it is not shutting down and its store works. False where nobody answers."""
    return (yield from _answers("/readyz"))
