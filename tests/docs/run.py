"""Runs what the documentation shows, so that it stays true.

Every fenced block marked sh, bash, python or console in the documents below is run, in order, against a server of the
document's own (sandbox.py). A console block shows what its commands print, and that is compared (expected.py); in a
python block a comment "# -> TEXT" behind a print() is what it prints. A block is left out only by a line before it,
which gives the reason:

    <!-- not run: needs a second machine -->

A document that begins with <!-- Made by: COMMAND --> must be what the command prints. Relative links and their anchors
must lead somewhere.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
import tokenize
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from document import Block, Document, broken_links, read  # noqa: E402
from expected import difference  # noqa: E402
from sandbox import Sandbox, Wrong  # noqa: E402
from server import ROOT  # noqa: E402

DOCUMENTS = [
    "README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "deploy/README.md", "deploy/*/README.md", "sdk/*/README.md", "examples/README.md", "examples/*/README.md",
    "bench/README.md", "bench/*/README.md",
]
REQUIRED = ["README.md", "docs/protocol.md", "sdk/python/README.md"]
NOT_FOR_HERE = re.compile(r"^\s*(make\s+([a-z-]+)\b.*|git clone\s+.*)$")


# --- Blocks ---


def targets() -> set[str]:
    makefiles = [ROOT / "Makefile", ROOT / "deploy" / "install.mk"]
    return {name for path in makefiles for name in re.findall(r"^([a-z-]+):", path.read_text(), re.MULTILINE)}


def replace_lines(code: str) -> str:
    """Lines that are looked at instead of run become empty ones."""
    lines = code.splitlines()
    cloned = False
    for at, line in enumerate(lines):
        match = NOT_FOR_HERE.match(line)
        if match and match.group(2) and match.group(2) not in targets():
            raise Wrong(at, f"the Makefile has no target {match.group(2)}")
        if match or (cloned and re.match(r"^\s*cd \S+", line)):
            lines[at] = ":"
        cloned = cloned or (match is not None and match.group(2) is None)
    return "\n".join(lines) + "\n"


def run_shell(sandbox: Sandbox, block: Block) -> None:
    code, printed = sandbox.shell(replace_lines(block.code))
    if code != 0:
        raise Wrong(0, f"it ended with {code}: {printed.strip()[-600:]}")


def run_console(sandbox: Sandbox, block: Block) -> None:
    """Each line that begins with "$ " is a command; the lines behind it, if there are any, are what it prints. A
    command may fail where the document shows how."""
    commands: list[tuple[int, str, str]] = []
    for at, line in enumerate(block.code.splitlines()):
        if line.startswith("$ "):
            commands.append((at, line[2:], ""))
        elif line.startswith("> ") and commands and not commands[-1][2]:
            commands[-1] = (commands[-1][0], f"{commands[-1][1]}\n{line[2:]}", "")
        elif commands:
            commands[-1] = (commands[-1][0], commands[-1][1], f"{commands[-1][2]}{line}\n")
        elif line.strip():
            raise Wrong(at, "a console block begins with a command: $ …")
    for at, command, shown in commands:
        code, printed = sandbox.shell(replace_lines(command))
        wrong = difference(sandbox.private(shown), printed) if shown.strip() else None
        if wrong:
            raise Wrong(at, wrong)
        if code != 0 and not shown.strip():
            raise Wrong(at, f"it ended with {code}: {printed.strip()[-600:]}")


def print_comments(code: str) -> dict[int, str]:
    """What the comments behind a print() say that it prints, by line of the block."""
    comments = {}
    lines = code.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        line = token.start[0]
        shown = re.match(r"# -> (.*)$", token.string) if token.type == tokenize.COMMENT else None
        if shown and re.match(r"\s*print\(", lines[line - 1]):
            comments[line] = shown.group(1)
    return comments


def run_python(sandbox: Sandbox, block: Block, name: str) -> None:
    told = sandbox.run_python(block.code, name, block.line)
    if told["error"]:
        raise Wrong(int(str(told["line"])) - block.line, str(told["error"]))
    printed: dict[int, str] = {}
    for line, text in told["printed"]:  # type: ignore[attr-defined]
        printed[line] = printed.get(line, "") + text
    for line, comment in print_comments(block.code).items():
        wrong = difference(sandbox.private(comment), printed.get(block.line + line - 1, ""))
        if wrong:
            raise Wrong(line - 1, wrong)


def run_block(sandbox: Sandbox, block: Block, name: str) -> None:
    if block.language == "sh":
        run_shell(sandbox, block)
    elif block.language == "console":
        run_console(sandbox, block)
    else:
        run_python(sandbox, block, name)


# --- Documents ---


class Count:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.left_out: list[str] = []

    def fail(self, where: str, what: str) -> None:
        self.failed += 1
        print(f"{where}: {what}", flush=True)


def check_made_by(document: Document, name: str, count: Count) -> None:
    assert document.made_by
    with tempfile.TemporaryDirectory(prefix="spine-docs-") as directory:
        sandbox = Sandbox(Path(directory) / "made")
        _, printed = sandbox.shell(document.made_by)
        sandbox.close()
    if document.path.read_text().splitlines()[1:] == printed.splitlines() or document.path.read_text() == printed:
        count.passed += 1
    else:
        count.fail(f"{name}:1", f"it is not what '{document.made_by}' prints; make it again")


def check_links(document: Document, name: str, count: Count) -> None:
    broken = broken_links(document, ROOT)
    for line, what in broken:
        count.fail(f"{name}:{line}", what)
    if document.links and not broken:
        count.passed += 1


def check_blocks(document: Document, name: str, count: Count) -> None:
    blocks = [block for block in document.blocks if block.not_run is None]
    count.left_out += [
        f"{name}:{block.line}: {block.not_run}" for block in document.blocks if block.not_run is not None
    ]
    if not blocks:
        return
    with tempfile.TemporaryDirectory(prefix="spine-docs-") as directory:
        sandbox = Sandbox(Path(directory) / "docs")
        try:
            for block in blocks:
                try:
                    run_block(sandbox, block, name)
                    count.passed += 1
                except Wrong as wrong:
                    count.fail(f"{name}:{block.line + wrong.line}", str(wrong))
        finally:
            sandbox.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs what the documentation shows.")
    parser.add_argument("documents", nargs="*", help="of the repository (default: all)")
    options = parser.parse_args()
    paths = [Path(name).resolve() for name in options.documents]
    paths = paths or sorted({path for pattern in DOCUMENTS for path in ROOT.glob(pattern)})
    count = Count()
    for name in [] if options.documents else REQUIRED:
        if not (ROOT / name).exists():
            count.fail(name, "there is no such document")
    for path in paths:
        document, name = read(path), str(path.relative_to(ROOT))
        if document.made_by:
            check_made_by(document, name, count)
        check_links(document, name, count)
        check_blocks(document, name, count)
    for line in count.left_out:
        print(f"not run: {line}")
    print(f"{len(paths)} documents, {len(count.left_out)} blocks not run")
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
