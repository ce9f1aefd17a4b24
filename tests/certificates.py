"""Certificates for tests, made by the openssl command: an authority, and what it has signed for 127.0.0.1.

SPINE_TEST_TLS=1 has every server of the wire tests speak HTTPS (tests/server.py), and every connection to one of them
go over TLS (over_tls, below).
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path


class Authority:
    """An authority of the test's own; and certificates that it has signed, NAME.pem with NAME.key."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        self.name = name
        self.file = folder / f"{name}.pem"
        self.openssl("req", "-x509", *new_key(name), "-subj", f"/CN={name} of a test", "-out", f"{name}.pem",
                     "-addext", "basicConstraints=critical,CA:TRUE")

    def openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def sign(self, name: str, names: str = "IP:127.0.0.1", days: int = 2) -> tuple[Path, Path]:
        """A certificate for these subjectAltNames and its key, new ones where they exist already."""
        self.openssl("req", *new_key(f"{name}.new"), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        (self.folder / "names").write_text(f"subjectAltName={names}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey", f"{self.name}.key",
                     "-CAcreateserial", "-days", str(days), "-extfile", "names", "-out", f"{name}.new.pem")
        for ending in ("pem", "key"):
            (self.folder / f"{name}.new.{ending}").rename(self.folder / f"{name}.{ending}")
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def path(self, file: str) -> str:
        """Of one of its files: NAME.pem, NAME.key."""
        return str(self.folder / file)

    def serving(self, name: str, *more: str) -> tuple[str, ...]:
        """The options of a server that has this certificate."""
        return ("--tls-cert", self.path(f"{name}.pem"), "--tls-key", self.path(f"{name}.key"), *more)

    def client(self, **options: ssl.TLSVersion) -> ssl.SSLContext:
        """What trusts this authority and nobody else."""
        context = ssl.create_default_context(cafile=str(self.file))
        for option, value in options.items():
            setattr(context, option, value)
        return context


def new_key(name: str) -> tuple[str, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")


# --- Everything over TLS ---


def wanted() -> bool:
    return os.environ.get("SPINE_TEST_TLS") == "1"


@functools.cache
def authority() -> Authority:
    """One for all servers of a run."""
    folder = Path(tempfile.mkdtemp(prefix="spine-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    one = Authority(folder)
    one.sign("server")
    return one


def server_options() -> list[str]:
    """What a server is started with."""
    if not wanted():
        return []
    return [*authority().serving("server")]


def over_tls(plain: socket.socket) -> socket.socket:
    """A connection that was just made to a server of the test's own: with TLS where it is wanted."""
    return authority().client().wrap_socket(plain, server_hostname="127.0.0.1") if wanted() else plain


def patch_connections() -> None:
    """socket.create_connection, which http.client uses, goes over TLS."""
    if not wanted():
        return
    connect = socket.create_connection

    def create_connection(*arguments: object, **options: object) -> socket.socket:
        return over_tls(connect(*arguments, **options))

    socket.create_connection = create_connection
