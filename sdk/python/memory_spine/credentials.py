"""What a client proves itself with, and what it trusts: its key, its certificate, the authorities of the server's.

THE KEY is a text that `spine key create` shows once. It comes from the argument `key`, else from the file `key_file`,
else from SPINE_KEY, else from the file that SPINE_KEY_FILE names. A file that cannot be read, is empty, or that others
could read, too, is an error: never "no key". The key is in no repr, log line or exception of this package.

CERTIFICATES. The server's is checked against the authorities of the system, or against `ca_file` (SPINE_CA_FILE) alone.
A server that asks for the client's certificate gets `cert_file` (SPINE_CERT_FILE) with its private key, `cert_key_file`
(SPINE_CERT_KEY_FILE), where that is in a file of its own.
"""

from __future__ import annotations

import os
import ssl
import stat
from typing import Optional, Union

from .wire import Endpoint

Path = Union[str, "os.PathLike[str]"]

# A key has 50 characters or so. What is larger is another file than the one that was meant.
_KEY_MAX_BYTES = 4096


def find_key(key: Optional[str], key_file: Optional[Path]) -> Optional[str]:
    """The key that was given, or that the environment has; None where there is none."""
    if key is not None and key_file is not None:
        raise ValueError("key and key_file are both given: give one of them")
    if key is not None:
        return _checked(key, "key")
    if key_file is not None:
        return _read_key(os.fspath(key_file), "key_file")
    if os.environ.get("SPINE_KEY"):
        return _checked(os.environ["SPINE_KEY"], "SPINE_KEY")
    if os.environ.get("SPINE_KEY_FILE"):
        return _read_key(os.environ["SPINE_KEY_FILE"], "SPINE_KEY_FILE")
    return None


def _checked(key: str, what: str) -> str:
    """A key can be a header. What it is instead is not shown: it may be the secret with a slip in it."""
    if not isinstance(key, str) or not key:
        raise ValueError(f"{what} is empty: give the text that `spine key create` showed, or leave it out")
    if any(not 0x21 <= ord(c) <= 0x7E for c in key):
        raise ValueError(f"{what} is no key: it holds blanks, line breaks or characters beyond ASCII")
    return key


def _read_key(path: str, what: str) -> str:
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_KEY_MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{what} {path!r} cannot be read: {error.strerror}") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ValueError(
            f"{what} {path!r} can be read by others (mode {stat.S_IMODE(mode):04o}): make it yours alone, chmod 600"
        )
    try:
        key = text.decode("ascii").strip()
    except ValueError:
        key = ""
    if not key or len(text) > _KEY_MAX_BYTES or any(c.isspace() or not c.isprintable() for c in key):
        raise ValueError(f"{what} {path!r} holds no key: it must have the text that `spine key create` showed, alone")
    return key


def tls_context(
    endpoint: Endpoint, ca_file: Optional[Path], cert_file: Optional[Path], cert_key_file: Optional[Path]
) -> Optional[ssl.SSLContext]:
    """How connections are made secure; None where the address begins with http://."""
    if not endpoint.is_tls:
        return None
    ca = _path(ca_file, "SPINE_CA_FILE")
    cert = _path(cert_file, "SPINE_CERT_FILE")
    cert_key = _path(cert_key_file, "SPINE_CERT_KEY_FILE")
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise ValueError(f"ca_file {ca!r} has no certificates that can be read (PEM): {error}") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert is None:
        if cert_key is not None:
            raise ValueError("cert_key_file is given and cert_file is not: name the certificate, too")
        return context
    try:
        # A password is never asked for: nobody may be at the terminal.
        context.load_cert_chain(cert, cert_key, password="")
    except OSError as error:
        raise ValueError(
            f"cert_file {cert!r} and cert_key_file {cert_key!r} are no certificate with its private key (PEM, no "
            f"password): {error}"
        ) from None
    return context


def _path(given: Optional[Path], variable: str) -> Optional[str]:
    return os.fspath(given) if given is not None else os.environ.get(variable) or None
