"""The Python in which a document's blocks run, one after the other, in one namespace.

Reads a line of JSON for each block from standard input: {"code", "name", "line"}, and answers with one: {"error",
"line", "printed"}, where printed is a list of [line, text], one for each print.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings


def run(namespace: dict[str, object], request: dict[str, object]) -> dict[str, object]:
    name, first = str(request["name"]), int(str(request["line"]))
    printed: list[tuple[int, str]] = []

    def note(*values: object, **options: object) -> None:
        text = io.StringIO()
        print(*values, **{**options, "file": text})  # type: ignore[call-overload]
        printed.append((sys._getframe(1).f_lineno, text.getvalue()))

    namespace["print"] = note
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # The lines before it are left empty, so that a traceback names the document's own.
            exec(compile("\n" * (first - 1) + str(request["code"]), name, "exec"), namespace)
    except BaseException as error:  # noqa: BLE001
        frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1] if frames else first
        return {"error": f"{type(error).__name__}: {error}", "line": line or first, "printed": printed}
    return {"error": None, "line": first, "printed": printed}


def main() -> None:
    # What a block writes to the real standard output must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line in sys.stdin:
        answers.write(json.dumps(run(namespace, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
