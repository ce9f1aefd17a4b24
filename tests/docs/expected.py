"""Compares what a command printed with what the document shows.

In the document "…" stands for anything within a line, and a line of nothing else for any number of lines. Ids, times,
digests and numbers with a fraction may differ, and so may the width of white space. Empty lines do not count.
"""

from __future__ import annotations

import re

ANYTHING = "…"
VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"\bsha256:[0-9a-f]*(…|[0-9a-f])"), "<digest>"),
    (re.compile(r"\b(ms|env|ho)-(…|[0-9][0-9A-Za-z]*)"), r"\1-<id>"),
    (re.compile(r"\b\d+\.\d+\b"), "<number>"),
]


def lines_of(text: str) -> list[str]:
    for pattern, stand_in in VARYING:
        text = pattern.sub(stand_in, text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def pattern_of(line: str) -> str:
    if line == ANYTHING:
        return r"(?:[^\n]*\n)*?"
    return "[^\n]*?".join(re.escape(part) for part in line.split(ANYTHING)) + "\n"


def difference(shown: str, printed: str) -> str | None:
    """None where what was printed is what is shown."""
    wanted, got = lines_of(shown), lines_of(printed)
    text = "".join(line + "\n" for line in got)
    if re.fullmatch("".join(map(pattern_of, wanted)), text):
        return None
    # The longest beginning of what is shown that was printed tells where they part.
    for count in range(len(wanted) - 1, -1, -1):
        match = re.match("".join(map(pattern_of, wanted[:count])), text)
        if match:
            rest = text[match.end() :].splitlines()
            return (
                f"shown is {wanted[count]!r}, printed was {rest[0]!r}"
                if rest
                else f"shown is {wanted[count]!r}, but nothing more was printed"
            )
    return f"shown is {wanted[0]!r}, printed was {got[:1]!r}"
