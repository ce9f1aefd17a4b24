"""An authority of a test's own, and certificates that it signs. Needs openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Authority:
    """Files in the folder: ca.pem, and NAME.pem with NAME.key for each certificate that was made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._openssl("req", "-x509", *self._key("ca"), "-subj", "/CN=Authority of a test", "-out", "ca.pem",
                      "-addext", "basicConstraints=critical,CA:TRUE")

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def make(self, name: str, names: str = "IP:127.0.0.1,DNS:localhost", days: int = 2) -> Authority:
        """A certificate for these subjectAltNames."""
        self._openssl("req", *self._key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        (self.folder / "names").write_text(f"subjectAltName={names}\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                      "-days", str(days), "-extfile", "names", "-out", f"{name}.pem")
        return self

    def serving(self, name: str, *more: str) -> tuple[str, ...]:
        """The options of a server that has this certificate."""
        return ("--tls-cert", self.file(f"{name}.pem"), "--tls-key", self.file(f"{name}.key"), *more)

    @staticmethod
    def _key(name: str) -> tuple[str, ...]:
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60)
