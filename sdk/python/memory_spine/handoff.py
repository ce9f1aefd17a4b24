"""What `agent_handoff` and `envelope` return: an envelope with the way back to the client that it came from.

The calls themselves (handoffs.py) know no client and make plain envelopes; `bind` of these classes is what a client's
method does with the result. An envelope that was pickled comes back without its client: all it says is there, `verify`
works, and what would have to be fetched is not.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Callable, NoReturn, TypeVar, Union, overload

from . import handoffs
from .call import Steps
from .envelope import DryRun, Envelope

if TYPE_CHECKING:
    from typing_extensions import Literal, Protocol

    T = TypeVar("T")

    class Run(Protocol):
        """How the blocking client carries out a call."""

        def __call__(self, steps: Steps[T]) -> T: ...

    class AsyncRun(Protocol):
        """How the asynchronous client carries out a call."""

        def __call__(self, steps: Steps[T]) -> Coroutine[Any, Any, T]: ...


def _no_client(steps: Steps[Any]) -> NoReturn:
    raise RuntimeError("this envelope was unpickled and has no client: read it again with the client's envelope(id)")


def _fields_of(envelope: Envelope) -> dict[str, Any]:
    return {one.name: getattr(envelope, one.name) for one in fields(Envelope)}


@dataclass(frozen=True)
class _Bound(Envelope):
    """An envelope that was sealed does not change, so a rendering is fetched once and kept."""

    _renderings: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickle, (type(self), _fields_of(self))


@dataclass(frozen=True)
class Handoff(_Bound):
    """An envelope of the blocking client."""

    _run: Run = field(default=_no_client, repr=False, compare=False)

    __doc__ = Envelope.__doc__

    @classmethod
    def bind(cls, run: Run, envelope: Envelope) -> Handoff:
        return cls(**_fields_of(envelope), _run=run)

    def prompt(self) -> str:
        """What the receiving model reads, in Markdown. Asked for once and remembered."""
        if "prompt" not in self._renderings:
            self._renderings["prompt"] = self._run(handoffs.prompt(self.id))
        return str(self._renderings["prompt"])

    @overload
    def render(self, form: Literal["prompt"]) -> str: ...
    @overload
    def render(self, form: Literal["v1", "v2", "both"]) -> dict[str, Any]: ...
    def render(self, form: str) -> Union[str, dict[str, Any]]:
        """The envelope in another form: "v1" for agents of the old protocol, "v2", "both" for a time between, "prompt"."""
        if form == "prompt":
            return self.prompt()
        if form not in self._renderings:
            self._renderings[form] = self._run(handoffs.render(self.id, form))
        return dict(self._renderings[form])


@dataclass(frozen=True)
class AsyncHandoff(_Bound):
    """An envelope of the asynchronous client: `prompt` and `render` are awaited."""

    _run: AsyncRun = field(default=_no_client, repr=False, compare=False)

    __doc__ = Envelope.__doc__

    @classmethod
    def bind(cls, run: AsyncRun, envelope: Envelope) -> AsyncHandoff:
        return cls(**_fields_of(envelope), _run=run)

    async def prompt(self) -> str:
        """What the receiving model reads, in Markdown. Asked for once and remembered."""
        if "prompt" not in self._renderings:
            self._renderings["prompt"] = await self._run(handoffs.prompt(self.id))
        return str(self._renderings["prompt"])
