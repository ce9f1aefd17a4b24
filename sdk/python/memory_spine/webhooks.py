"""Receiving webhooks: is this really from the server, and is it new?

    from memory_spine import verify_webhook

    def do_POST(self):                                  # of an http.server.BaseHTTPRequestHandler
        body = self.rfile.read(int(self.headers["Content-Length"]))
        handoff = verify_webhook(self.headers, body, SECRET)
        ...                                             # handoff["prompt"], handoff["envelope"], handoff["lease"]

The signatures are those of Standard Webhooks (standardwebhooks.com): any library for them verifies ours, too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import Any, Union

from .errors import SpineError

_PREFIX = "whsec_"


class WebhookError(SpineError):
    """A request that is not a webhook of the server's: answer it with 401, and do nothing else.

    code  "webhook_headers" (missing or malformed), "webhook_timestamp" (too old, or from the future),
          "webhook_signature" (of another secret, or of something else), "webhook_body" (signed, but not JSON)
    """


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len(_PREFIX) :], validate=True) if secret.startswith(_PREFIX) else b""
    except (binascii.Error, ValueError):
        key = b""
    if not 24 <= len(key) <= 64:
        # The secret itself is not shown: tracebacks end in logs.
        raise ValueError("secret is not what registering the webhook answered: whsec_ and the base64 of 24 to 64 bytes")
    return key


def verify_webhook(
    headers: Mapping[str, str], body: Union[bytes, str], secret: str, *, tolerance_s: float = 300
) -> dict[str, Any]:
    """The handoff that the body holds, where the server that knows the secret has sent it within the last tolerance_s
    seconds. Anything else raises `WebhookError`.

    headers  of the request, in any case
    body     as it came, byte for byte: JSON that was read and written again has another signature
    secret   the agent's `webhook_secret`, as registering the webhook answered it
    """
    key = _key(secret)
    found = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    data = body.encode() if isinstance(body, str) else bytes(body)
    message, timestamp, signatures = (found.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not message or not signatures or not re.fullmatch(r"[0-9]{1,15}", timestamp, re.ASCII):
        raise WebhookError("webhook-id, webhook-timestamp or webhook-signature is missing", code="webhook_headers")
    expected = hmac.new(key, f"{message}.{timestamp}.".encode() + data, hashlib.sha256).digest()
    right = b"v1," + base64.b64encode(expected)
    # There may be several: of the old secret and of the new, or of other versions.
    if not any(hmac.compare_digest(one.encode(), right) for one in signatures.split(" ")):
        raise WebhookError("the signature is not that of this body with this secret", code="webhook_signature")
    if abs(time.time() - int(timestamp)) > tolerance_s:
        raise WebhookError(f"the webhook is not of the last {tolerance_s:g} seconds", code="webhook_timestamp")
    try:
        handoff = json.loads(data)
    except ValueError:
        handoff = None
    if not isinstance(handoff, dict):
        raise WebhookError("the body is not a JSON object", code="webhook_body")
    return handoff
