"""What both transports share of HTTP/1.1: the head of a request, and limits for the answer."""

from __future__ import annotations

import select
import ssl
from dataclasses import dataclass, field
from typing import Optional

from . import errors
from .call import Request
from .wire import Endpoint

HEAD_MAX_BYTES = 64 * 1024
READ_BYTES = 64 * 1024

Header = tuple[str, bytes]


@dataclass(frozen=True)
class Settings:
    """What a transport is told once. `headers` go with every request; the key is one of them, so none is shown."""

    endpoint: Endpoint
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    max_connections: int
    max_response_bytes: int
    tls: Optional[ssl.SSLContext] = None


def request_headers(settings: Settings, request: Request) -> list[Header]:
    """All headers of a request; their values are UTF-8, which the names of agents need.

    What the request says itself (who is calling, what it accepts) takes the place of what the client was told once; ""
    leaves it out.
    """
    own = {name for name, _ in request.headers}
    usual = (("Host", settings.endpoint.authority), ("Accept", "application/json"), *settings.headers)
    headers = [*((name, value) for name, value in usual if name not in own), *request.headers]
    if request.body is not None:
        if request.body:
            headers.append(("Content-Type", "application/json"))
        headers.append(("Content-Length", str(len(request.body))))
    return [(name, value.encode("utf-8")) for name, value in headers if value]


def is_readable(fileno: int) -> bool:
    """Whether there is something to read right now. On an idle connection that is its end, or what nobody asked for."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(fileno, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([fileno], [], [], 0)[0])


def connect_failed(endpoint: Endpoint, error: Exception) -> errors.ConnectionError:
    return errors.ConnectionError(
        f"no Memory Spine at {endpoint.url}: {error}", code="connect_failed", retryable=True
    )


def is_tls_failure(error: object) -> bool:
    """Whether the two could not agree on a secure connection, so that trying again would end in the same way."""
    ended = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    return isinstance(error, ssl.SSLError) and not isinstance(error, ended)


def tls_failed(endpoint: Endpoint, error: ssl.SSLError) -> errors.TlsError:
    return errors.TlsError(f"no secure connection to {endpoint.url}: {_tls_reason(endpoint, error)}", code="tls_failed")


def _tls_reason(endpoint: Endpoint, error: ssl.SSLError) -> str:
    """What went wrong, and what to do."""
    reason = str(error.reason or "")
    if isinstance(error, ssl.SSLCertVerificationError):
        # By their numbers in x509_vfy.h: the name, the address; expired, not yet valid.
        if error.verify_code in (62, 64):
            return (
                f"its certificate is not for {endpoint.host!r} ({error.verify_message}); use the name that the "
                "certificate has, or have one made for this one"
            )
        if error.verify_code in (9, 10):
            return f"its certificate is not valid now ({error.verify_message}); renew it, or set this machine's clock"
        return (
            f"its certificate is not from an authority that is trusted here ({error.verify_message}); name the "
            "authority's certificate, as ca_file or SPINE_CA_FILE"
        )
    if "CERTIFICATE_REQUIRED" in reason or reason == "SSLV3_ALERT_HANDSHAKE_FAILURE":
        return f"it asks for a client certificate ({reason}); name one, as cert_file or SPINE_CERT_FILE"
    if "ALERT" in reason and ("CERT" in reason or "UNKNOWN_CA" in reason):
        return f"it does not accept the client certificate ({reason}); see cert_file, SPINE_CERT_FILE"
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"):
        return f"what answers there does not speak TLS ({reason}); is it http://{endpoint.authority}?"
    return f"{reason or error}"


def connection_lost(request: Request, error: object) -> errors.ConnectionError:
    return errors.ConnectionError(
        f"the connection was lost during {request.method} {request.path}: {error}",
        code="connection_lost",
        retryable=request.safe,
    )


def timed_out(request: Request) -> errors.TimeoutError:
    return errors.TimeoutError(
        f"no answer in time to {request.method} {request.path}", code="timeout", retryable=request.safe
    )


def invalid(what: object) -> errors.ProtocolError:
    return errors.ProtocolError(f"this is no HTTP answer: {what}", code="invalid_response")


def too_large(settings: Settings) -> errors.ProtocolError:
    return errors.ProtocolError(
        f"the answer is larger than max_response_bytes ({settings.max_response_bytes}): ask for less at a time",
        code="response_too_large",
    )
