"""The calls on alerts: what is wrong in the space, and by which rules. Each is written once, as steps (see call.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional
from urllib.parse import quote

from .call import Listing, Steps, get, post
from .models import Alert, AlertRule
from .wire import Query


def _path(id: str, verb: str) -> str:
    if not isinstance(id, str):
        raise TypeError(f"an alert's id is a text such as 'al-3', not {id!r}")
    return f"/v1/alerts/{quote(id, safe='')}{verb}"


def _rules(answer: Mapping[str, Any]) -> tuple[AlertRule, ...]:
    return tuple(AlertRule.from_wire(rule) for rule in answer["rules"])


def alerts(*, state: str = "firing", page_size: int = 100) -> Listing[Alert]:
    """The alerts of the space, the newest first: those that are "firing", "resolved", or "all"."""
    query = Query().add("state", state).add("page_size", page_size)
    return Listing(get("/v1/alerts", tuple(query.pairs)), "alerts", Alert.from_wire)


def alert_rules() -> Steps[tuple[AlertRule, ...]]:
    """When alerts fire: what each measures, and the threshold that is in force."""
    response = yield get("/v1/alerts", (("page_size", "1"),))
    return response.read(_rules)


def ack_alert(id: str, *, by: Optional[str] = None) -> Steps[Alert]:
    """Notes who has seen an alert; else it is the agent that the client was made with. The first stays."""
    response = yield post(_path(id, "/ack"), {} if by is None else {"by": by}, safe=True)
    return response.read(Alert.from_wire)


def silence_alert(id: str, for_s: float, *, by: Optional[str] = None, why: Optional[str] = None) -> Steps[Alert]:
    """The webhook hears nothing of the alert for so many seconds, also where it fires anew meanwhile. 0 ends it."""
    body: dict[str, Any] = {"for_s": for_s}
    if by is not None:
        body["by"] = by
    if why is not None:
        body["why"] = why
    response = yield post(_path(id, "/silence"), body, safe=True)
    return response.read(Alert.from_wire)
