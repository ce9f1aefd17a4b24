#!/usr/bin/python3
"""Writes docs/clients.md: every operation of the protocol, and how each client calls it. With --check it only says
whether the page is the one that would be written.

HTTP comes from schemas/openapi.json; the command line and Python from clients.py, whose rows are tried by
test_clients.py; C from sdk/c/src. TypeScript has the names of Python in camelCase, where its source has them; MCP has
the tool that the description of an operation names. These two columns are there when the client is.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))

from clients import ROWS  # noqa: E402

PAGE = ROOT / "docs" / "clients.md"
METHODS = ("get", "put", "post", "patch", "delete")
HEAD = """# Every operation, in every client

<!-- Written by `make clients-table`. -->

One row for each operation of the [protocol](protocol.md). The first column is its name in `/openapi.json`, which `ms_call()` of the
[C client](../sdk/c/README.md) takes for all of them. A method with a dot belongs to what is before it: `work` is a handoff that was
received, `channel` what `get_channel` gives, `agent` what `agent` gives. A dash: call it over HTTP.

"""


def operations() -> dict[str, tuple[str, str, str | None]]:
    """operationId: method, path, the tool of MCP."""
    specification = json.loads((ROOT / "schemas" / "openapi.json").read_text(encoding="utf-8"))
    found = {}
    for path, methods in specification["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                found[operation["operationId"]] = (method.upper(), path, operation.get("x-spine-tool"))
    return found


def command_name(operation: str) -> str | None:
    line = ROWS[operation][0]
    return None if line is None else f"spine {line.split('|')[0]}"


def python_name(operation: str) -> str | None:
    """"spine.get_channel('c').join('env-1')" is channel.join, "work.ack()" is work.ack, "spine.get('ms-1')" is get."""
    expression = ROWS[operation][1]
    if expression is None:
        return None
    names = re.findall(r"(\w+)\(", re.sub(r"^(list|next)\((iter\()?", "", expression))
    if expression.startswith("work."):
        return f"work.{names[0]}"
    owner = {"get_channel": "channel", "agent": "agent"}.get(names[0]) if len(names) > 1 else None
    return f"{owner}.{names[1]}" if owner else names[0]


def c_names() -> dict[str, str]:
    """The typed functions, by the operation that they name."""
    found = {}
    for path in sorted((ROOT / "sdk" / "c" / "src").glob("*.c")):
        for name, body in re.findall(r"^ms_status (ms_\w+)\([^;{]*\)\n{\n(.*?)^}", path.read_text(), re.M | re.S):
            for operation in re.findall(r'(?:\.operation = |\(client, |\(work, )"(\w+)"', body):
                found[operation] = name
    return found


def typescript_names() -> set[str] | None:
    folder = ROOT / "sdk" / "typescript" / "src"
    if not folder.is_dir():
        return None
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ts")))
    return set(re.findall(r"^\s+(?:async\s+)?\*?(\w+)\s*(?:<[^>]*>)?\(", text, re.M))


def camel(name: str) -> str:
    owner, _, last = name.rpartition(".")
    last = re.sub(r"_(\w)", lambda match: match.group(1).upper(), last)
    return f"{owner}.{last}" if owner else last


def page() -> str:
    typed, scripted = c_names(), typescript_names()
    has_mcp = (ROOT / "src" / "api" / "mcp").is_dir()
    columns = ["operation", "HTTP", "command line", "Python"] + ["TypeScript"] * (scripted is not None)
    columns += ["C"] + ["MCP"] * has_mcp
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    for operation, (method, path, tool) in operations().items():
        python = python_name(operation)
        cells: list[str | None] = [operation, f"{method} {path}", command_name(operation), python]
        if scripted is not None:
            name = camel(python) if python else None
            cells.append(name if name and name.rpartition(".")[2] in scripted else None)
        cells.append(typed.get(operation, "ms_call"))
        if has_mcp:
            cells.append(tool)
        lines.append("| " + " | ".join(f"`{cell}`" if cell else "–" for cell in cells) + " |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/clients.md is not what the clients have: run make clients-table")


if __name__ == "__main__":
    main()
