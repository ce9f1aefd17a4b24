"""Where the blocks of one document run: a server of its own, a folder that looks like the repository, an empty home.

A command that says spine or build/spine gets the built binary. SPINE_URL and SPINE_DATA name the document's server.
Where the document says port 8788, or /tmp/, it is the private port and folder. Some lines are looked at, not run
(run.py), and one is changed:

    make TARGET             the Makefile has that target
    git clone …, cd FOLDER  the two first lines of a quick start
    spine serve …           it is started with these options on a free port, and stopped as soon as it serves
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import ROOT, Server, binary, clean_environment  # noqa: E402

PYTHON = "/usr/bin/python3"
BLOCK_TIMEOUT_S = 120.0
PORT = re.compile(r"\b8788\b")
HERE = Path(__file__).resolve().parent

SPINE = """#!/bin/sh
case "$1" in
serve) exec {python} -B {here}/serve_once.py {binary} "$@" ;;
*) exec {binary} "$@" ;;
esac
"""
PIP = """#!/bin/sh
exec {python} -m pip --quiet "$@"
"""
# What a block sets is there in the next one, as in a terminal.
SHELL = """
[ -f "$DOCS_STATE" ] && . "$DOCS_STATE"
cd "$(cat "$DOCS_CWD")"
docs_keep() {
	docs_code=$?
	pwd >"$DOCS_CWD"
	declare -p | grep -vE "^declare -[a-zA-Z]*r|BASH|DOCS_|FUNCNAME|PIPESTATUS|docs_code" >"$DOCS_STATE"
	exit $docs_code
}
trap docs_keep EXIT
set -e -o pipefail
"""


class Wrong(Exception):
    """The document says something that is not so. `line` counts from the block's first one."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class Sandbox:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.place = directory / "repository"
        self.temporary = directory / "tmp"
        self.site = directory / "site-packages"
        self.python: subprocess.Popen[str] | None = None
        self._make_folders()
        self.server = Server(directory / "data").wait_until_ready()
        self.environment = clean_environment(
            PATH=f"{directory / 'bin'}:{os.environ['PATH']}",
            HOME=str(directory / "home"),
            TMPDIR=str(self.temporary),
            PYTHONPATH=f"{self.site}:{ROOT / 'sdk' / 'python'}",
            PYTHONDONTWRITEBYTECODE="1",
            PIP_TARGET=str(self.site),
            PIP_NO_INDEX="1",
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            SPINE_URL=self.server.url,
            SPINE_DATA=str(directory / "data"),
            DOCS_STATE=str(directory / "state"),
            DOCS_CWD=str(directory / "cwd"),
        )

    def _make_folders(self) -> None:
        for path in (
            self.place / "build",
            self.temporary,
            self.directory / "home",
            self.directory / "bin",
            self.site,
        ):
            path.mkdir(parents=True)
        for entry in ROOT.iterdir():
            if entry.name not in ("build", ".git"):
                (self.place / entry.name).symlink_to(entry)
        (self.directory / "cwd").write_text(f"{self.place}\n")
        names = {"python": PYTHON, "here": HERE, "binary": binary()}
        for path, text in (
            (self.directory / "bin" / "spine", SPINE),
            (self.place / "build" / "spine", SPINE),
            (self.directory / "bin" / "pip", PIP),
            (self.directory / "bin" / "pip3", PIP),
        ):
            path.write_text(text.format(**names))
            path.chmod(0o755)
        for name in ("python", "python3"):
            (self.directory / "bin" / name).symlink_to(PYTHON)

    def close(self) -> None:
        if self.python is not None:
            self.python.kill()
            self.python.wait()
        self.server.kill()
        shutil.rmtree(self.directory)

    def private(self, text: str) -> str:
        return PORT.sub(str(self.server.address[1]), text).replace("/tmp/", f"{self.temporary}/")

    # --- Shell ---

    def shell(self, code: str) -> tuple[int, str]:
        """Runs lines of shell. Returns the exit code and what was printed, errors included."""
        command = ["bash", "-c", SHELL + self.private(code)]
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=BLOCK_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Wrong(0, f"it did not end within {BLOCK_TIMEOUT_S:.0f} s") from None
        return process.returncode, printed

    # --- Python ---

    def run_python(self, code: str, name: str, line: int) -> dict[str, object]:
        """Runs a block in the document's interpreter, which lives from block to block."""
        if self.python is None:
            self.python = subprocess.Popen(
                [PYTHON, "-B", str(HERE / "interpreter.py")],
                env=self.environment,
                cwd=self.place,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.python.stdin is not None and self.python.stdout is not None
        self.python.stdin.write(json.dumps({"code": self.private(code), "name": name, "line": line}) + "\n")
        self.python.stdin.flush()
        if not select.select([self.python.stdout], [], [], BLOCK_TIMEOUT_S)[0]:
            raise Wrong(0, f"it did not end within {BLOCK_TIMEOUT_S:.0f} s")
        answer = self.python.stdout.readline()
        if not answer:
            raise Wrong(0, "the interpreter ended")
        told: dict[str, object] = json.loads(answer)
        return told
