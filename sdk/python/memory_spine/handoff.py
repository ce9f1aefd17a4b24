"""What `pack` and `envelope` return: an envelope with the way back to the client that it came from.

The calls themselves (handoffs.py) know no client and make plain envelopes. A client's method binds what they return:

    class MemorySpine:
        envelope = blocking(handoffs.envelope, SyncEnvelope.bind)   # def envelope(self, id: str) -> SyncEnvelope
        pack = blocking_handoff(handoffs.pack)                      # the same, or a DryRun with dry_run=True

An envelope that was pickled comes back without its client: all that it says is there, and `verify` works, but what
would have to be fetched is not.
"""

from __future__ import annotations

import inspect
from collections.abc import Coroutine
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional, Protocol, TypeVar, Union, cast, overload

from . import handoffs
from .call import Steps
from .envelope import DryRun, Envelope
from .method import awaiting, blocking, dress

T = TypeVar("T")
B = TypeVar("B", bound="_Bound")

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    H_co = TypeVar("H_co", covariant=True)
    D_co = TypeVar("D_co", covariant=True)

    class HandoffCall(Protocol[P, H_co, D_co]):
        """A call that returns one thing, and another with dry_run=True, of which the parameters are not checked."""

        @overload
        def __call__(self, *args: Any, dry_run: Literal[True], **kwargs: Any) -> D_co: ...
        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> H_co: ...

    class HandoffMethod(Protocol[P, H_co, D_co]):
        def __get__(self, client: object, owner: object = None) -> HandoffCall[P, H_co, D_co]: ...


class Run(Protocol):
    """How the blocking client carries out a call."""

    def __call__(self, steps: Steps[T], timeout: Optional[float] = None) -> T: ...


class AsyncRun(Protocol):
    """How the asynchronous client carries out a call."""

    def __call__(self, steps: Steps[T], timeout: Optional[float] = None) -> Coroutine[Any, Any, T]: ...


def _no_client(steps: Steps[Any], timeout: Optional[float] = None) -> NoReturn:
    raise RuntimeError("this envelope was unpickled and has no client: read it again, with a client's envelope(id)")


def _values(envelope: Envelope) -> dict[str, Any]:
    return {one.name: getattr(envelope, one.name) for one in fields(Envelope)}


def _unpickle(kind: type[Envelope], values: dict[str, Any]) -> Envelope:
    return kind(**values)


@dataclass(frozen=True)
class _Bound(Envelope):
    """What both kinds have in common: renderings, which are fetched once, because an envelope does not change."""

    _fetched: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[..., Envelope], tuple[Any, ...]]:
        return _unpickle, (type(self), _values(self))

    def _knowing(self: B, prompt: Optional[str]) -> B:
        """Takes a prompt that came with the envelope, so that it need not be fetched."""
        if prompt is not None:
            self._fetched["prompt"] = prompt
        return self

    def _prompt(self) -> Steps[str]:
        if "prompt" not in self._fetched:
            self._fetched["prompt"] = yield from handoffs.prompt(self.id)
        return cast(str, self._fetched["prompt"])

    def _render(self, form: str) -> Steps[dict[str, Any]]:
        if form not in self._fetched:
            self._fetched[form] = yield from handoffs.render(self.id, form)
        return dict(self._fetched[form])


@dataclass(frozen=True)
class SyncEnvelope(_Bound):
    """An envelope of the blocking client. Its attributes are those of `Envelope`."""

    _run: Run = field(default=_no_client, repr=False, compare=False)

    @classmethod
    def bind(cls, run: Run, envelope: Envelope, prompt: Optional[str] = None) -> SyncEnvelope:
        return cls(**_values(envelope), _run=run)._knowing(prompt)

    def prompt(self) -> str:
        """What the receiving model reads, in Markdown."""
        return self._run(self._prompt())

    def render(self, form: str) -> dict[str, Any]:
        """The envelope for agents of version "v1"; "both" has that and version 2, as members "v1" and "v2"."""
        return self._run(self._render(form))


@dataclass(frozen=True)
class AsyncEnvelope(_Bound):
    """An envelope of the asynchronous client. Its attributes are those of `Envelope`."""

    _run: AsyncRun = field(default=_no_client, repr=False, compare=False)

    @classmethod
    def bind(cls, run: AsyncRun, envelope: Envelope, prompt: Optional[str] = None) -> AsyncEnvelope:
        return cls(**_values(envelope), _run=run)._knowing(prompt)

    async def prompt(self) -> str:
        """What the receiving model reads, in Markdown."""
        return await self._run(self._prompt())

    async def render(self, form: str) -> dict[str, Any]:
        """The envelope for agents of version "v1"; "both" has that and version 2, as members "v1" and "v2"."""
        return await self._run(self._render(form))


# The older names.
Handoff = SyncEnvelope
AsyncHandoff = AsyncEnvelope


# --- pack as a method ----------------------------------------------------------------------------


def _bind_blocking(run: Run, envelope: Envelope) -> Union[SyncEnvelope, DryRun]:
    return envelope if isinstance(envelope, DryRun) else SyncEnvelope.bind(run, envelope)


def _bind_awaiting(run: AsyncRun, envelope: Envelope) -> Union[AsyncEnvelope, DryRun]:
    return envelope if isinstance(envelope, DryRun) else AsyncEnvelope.bind(run, envelope)


def blocking_handoff(call: Callable[P, Steps[Envelope]]) -> HandoffMethod[P, SyncEnvelope, DryRun]:
    return cast("HandoffMethod[P, SyncEnvelope, DryRun]", blocking(call, _bind_blocking))


def awaiting_handoff(
    call: Callable[P, Steps[Envelope]],
) -> HandoffMethod[P, Coroutine[Any, Any, AsyncEnvelope], Coroutine[Any, Any, DryRun]]:
    method = awaiting(call, _bind_awaiting)
    return cast("HandoffMethod[P, Coroutine[Any, Any, AsyncEnvelope], Coroutine[Any, Any, DryRun]]", method)


# --- pack of a received handoff ------------------------------------------------------------------


def _handing_on(call: Callable[..., Any], result: str) -> Any:
    """The client's call with the received handoff as its parent. What it returns, or what awaits that, is what the
    client's returns: so this is the same for both kinds."""
    name = call.__name__

    def method(self: Any, *first: Any, **more: Any) -> Any:
        if len(first) > 2:
            raise TypeError(f"{name} of a handoff takes two arguments by their place, the others by name")
        if more.get("new_root") and more.get("parent") is None:
            # A second chain in the same task, which continues nothing.
            more = {"task": self.task, "from_": self.to_agent, **more}
            return getattr(self._client, name)(*first, **more)
        return getattr(self._client, name)(*first, parent=self, **more)

    dress(method, call, result)
    method.__doc__ = f"""Packs an envelope that continues the work: what `{name}` of the client does, with this handoff
        as the parent.

        It is from the agent that received this one; intent, constraints, history and memories go on. With new_root it
        begins a second chain in the task instead, and nothing goes on. To finish this handoff and send the next in one
        call, use `hand_on`.
        """
    shown = inspect.signature(method).parameters.values()
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters = [one if number < 3 else one.replace(kind=by_name) for number, one in enumerate(shown)]
    signature = inspect.signature(method).replace(parameters=[one for one in parameters if one.name != "parent"])
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def handing_on(call: Callable[P, Steps[Envelope]]) -> HandoffMethod[P, SyncEnvelope, DryRun]:
    return cast("HandoffMethod[P, SyncEnvelope, DryRun]", _handing_on(call, "Union[SyncEnvelope, DryRun]"))


def awaiting_handing_on(
    call: Callable[P, Steps[Envelope]],
) -> HandoffMethod[P, Coroutine[Any, Any, AsyncEnvelope], Coroutine[Any, Any, DryRun]]:
    method = _handing_on(call, "Coroutine[Any, Any, Union[AsyncEnvelope, DryRun]]")
    return cast("HandoffMethod[P, Coroutine[Any, Any, AsyncEnvelope], Coroutine[Any, Any, DryRun]]", method)
