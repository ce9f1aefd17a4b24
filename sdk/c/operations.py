#!/usr/bin/python3
"""Writes src/operations.inc, the table of all operations that ms_call() knows, from schemas/openapi.json.

With --check it only says whether the table is the one that would be written.
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE / "src" / "operations.inc"
SPECIFICATION = HERE.parent.parent / "schemas" / "openapi.json"

# A second time these would be refused although the first was carried out, or do something else: make another secret, of
# which nobody got to know the first.
ONCE = {"deleteSpace", "createKey", "rotateKey"}
METHODS = ("get", "put", "post", "patch", "delete")


def kind(specification, method, operation):
    names = set()
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            parameter = specification["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
        names.add(parameter["name"])
    if "Spine-Task" in names:
        return "STORES"
    if method == "post" and "Idempotency-Key" in names:
        return "CREATES"
    return "ONCE" if operation["operationId"] in ONCE else "REPEATABLE"


def table(specification):
    rows = []
    for path, methods in specification["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                row = f'\t{{"{operation["operationId"]}", "{method.upper()}", "{path}", '
                rows.append((operation["operationId"], row + f"{kind(specification, method, operation)}}},\n"))
    return "".join(row for _, row in sorted(rows))


def main():
    text = table(json.loads(SPECIFICATION.read_text(encoding="utf-8")))
    if "--check" not in sys.argv:
        TABLE.write_text(text, encoding="utf-8")
    elif not TABLE.exists() or TABLE.read_text(encoding="utf-8") != text:
        sys.exit("sdk/c/src/operations.inc is not what schemas/openapi.json says: run make operations")


main()
