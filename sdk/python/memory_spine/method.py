"""How a call becomes a method of a client.

    class MemorySpine:
        get = blocking(memories.get)        # def get(self, id: str, version: int | None = None) -> Memory

    class AsyncMemorySpine:
        get = awaiting(memories.get)        # async def get(self, id: str, version: int | None = None) -> Memory

Type checkers see the parameters of the call with the client's kind of result; help() and inspect see them, too.

A method may `bind` what its call returns to the client, for results that go on asking it:

    class MemorySpine:
        envelope = blocking(handoffs.envelope, Handoff.bind)    # Handoff.bind(client._run, the call's result)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, cast, overload

from .call import Listing, Page, Steps

if TYPE_CHECKING:
    # typing has ParamSpec since Python 3.10; type checkers know it from here whatever they check for.
    from typing_extensions import Concatenate, ParamSpec, Protocol

    P = ParamSpec("P")
    R_co = TypeVar("R_co", covariant=True)

    class Method(Protocol[P, R_co]):
        """A function that was put into a class: reading it from an object binds it."""

        def __get__(self, client: object, owner: object = None) -> Callable[P, R_co]: ...


T = TypeVar("T")
R = TypeVar("R")


class Pages(Generic[T]):
    """A list that is read page by page while it is iterated over. Each iteration starts anew."""

    def __init__(self, run: Callable[[Steps[Page[T]]], Page[T]], listing: Listing[T]) -> None:
        self._run = run
        self._listing = listing

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[T]]:
        """The pages themselves, each with its `items` and its `next_page_token`."""
        page = self._run(self._listing.page(self._listing.page_token))
        yield page
        while page.next_page_token is not None:
            page = self._run(self._listing.page(page.next_page_token))
            yield page

    def all(self) -> list[T]:
        """Everything, read to the end."""
        return list(self)


class AsyncPages(Generic[T]):
    """A list that is read page by page while it is iterated over. Each iteration starts anew."""

    def __init__(self, run: Callable[[Steps[Page[T]]], Coroutine[Any, Any, Page[T]]], listing: Listing[T]) -> None:
        self._run = run
        self._listing = listing

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def pages(self) -> AsyncIterator[Page[T]]:
        """The pages themselves, each with its `items` and its `next_page_token`."""
        page = await self._run(self._listing.page(self._listing.page_token))
        yield page
        while page.next_page_token is not None:
            page = await self._run(self._listing.page(page.next_page_token))
            yield page

    async def all(self) -> list[T]:
        """Everything, read to the end."""
        return [item async for item in self]


def dress(method: Any, call: Callable[..., Any], result: str) -> Any:
    """Gives a method the name, the documentation and the parameters of its call, and says what it returns."""
    functools.update_wrapper(method, call)
    del method.__wrapped__
    signature = inspect.signature(call)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inner = str(signature.return_annotation).partition("[")[2][:-1]  # of "Steps[Memory]"
    returns = result.format(inner)
    parameters = [itself, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters, return_annotation=returns)
    method.__annotations__ = {**call.__annotations__, "return": returns}
    return method


def _bound_result(bind: Optional[Callable[[Any, Any], Any]]) -> str:
    """What `bind` returns, by name; "{}", the call's own result, where there is none."""
    return "{}" if bind is None else str(bind.__annotations__["return"])


@overload
def blocking(call: Callable[P, Steps[T]]) -> Method[P, T]: ...
@overload
def blocking(call: Callable[P, Steps[T]], bind: Callable[[Any, T], R]) -> Method[P, R]: ...
def blocking(call: Callable[..., Steps[Any]], bind: Optional[Callable[[Any, Any], Any]] = None) -> Method[Any, Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._run(call(*args, **kwargs))
        return result if bind is None else bind(self._run, result)

    return cast("Method[Any, Any]", dress(method, call, _bound_result(bind)))


@overload
def awaiting(call: Callable[P, Steps[T]]) -> Method[P, Coroutine[Any, Any, T]]: ...
@overload
def awaiting(call: Callable[P, Steps[T]], bind: Callable[[Any, T], R]) -> Method[P, Coroutine[Any, Any, R]]: ...
def awaiting(call: Callable[..., Steps[Any]], bind: Optional[Callable[[Any, Any], Any]] = None) -> Method[Any, Any]:
    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = await self._run(call(*args, **kwargs))
        return result if bind is None else bind(self._run, result)

    return cast("Method[Any, Any]", dress(method, call, _bound_result(bind)))


def blocking_of(call: Callable[P, Steps[T]]) -> Method[P, T]:
    """The same on a handoff in hand: `_for_it` says what the call has to do with it."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._client._run(self._for_it(call(*args, **kwargs)))

    return cast("Method[P, T]", dress(method, call, "{}"))


def awaiting_of(call: Callable[P, Steps[T]]) -> Method[P, Coroutine[Any, Any, T]]:
    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await self._client._run(self._for_it(call(*args, **kwargs)))

    return cast("Method[P, Coroutine[Any, Any, T]]", dress(method, call, "{}"))


def _on_it(call: Callable[..., Any], method: Any, result: str) -> Any:
    """Dresses a method whose call takes the object itself first."""
    dress(method, call, result)
    shown = list(method.__signature__.parameters.values())
    method.__signature__ = method.__signature__.replace(parameters=[shown[0], *shown[2:]])
    return method


def blocking_on(call: Callable[Concatenate[Any, P], Steps[T]]) -> Method[P, T]:
    """A method of a handoff in hand whose call takes the handoff."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._client._run(call(self, *args, **kwargs))

    return cast("Method[P, T]", _on_it(call, method, "{}"))


def awaiting_on(call: Callable[Concatenate[Any, P], Steps[T]]) -> Method[P, Coroutine[Any, Any, T]]:
    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await self._client._run(call(self, *args, **kwargs))

    return cast("Method[P, Coroutine[Any, Any, T]]", _on_it(call, method, "{}"))


def blocking_pages(call: Callable[P, Listing[T]]) -> Method[P, Pages[T]]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return Pages(self._run, call(*args, **kwargs))

    return cast("Method[P, Pages[T]]", dress(method, call, "Pages[{}]"))


def awaiting_pages(call: Callable[P, Listing[T]]) -> Method[P, AsyncPages[T]]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return AsyncPages(self._run, call(*args, **kwargs))

    return cast("Method[P, AsyncPages[T]]", dress(method, call, "AsyncPages[{}]"))
