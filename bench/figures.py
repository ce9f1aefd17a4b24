"""What was measured, whether it is what was promised, and how that is told."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Figure:
    name: str
    values: list[float]
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    digits: int = 0
    ratio: bool = False  # of two speeds: others on the machine may slow one side more than the other
    busy: bool = False  # others were at work while it was measured

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def _number(self, value: float) -> str:
        return f"{value:,.{self.digits}f}"

    def measured(self) -> str:
        text = f"{self._number(self.median)} {self.unit}".rstrip()
        if len(self.values) > 1:
            text += f" ({self._number(min(self.values))} to {self._number(max(self.values))})"
        return text

    def target(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:g} {self.unit}".rstrip()
        return f"at least {self.at_least:g} {self.unit}".rstrip() if self.at_least is not None else ""

    def _reached(self, value: float) -> bool:
        if self.at_most is not None:
            return value <= self.at_most
        return self.at_least is None or value >= self.at_least

    def verdict(self) -> str:
        """Where some runs reach the target and some do not, it is unsteady. A busy machine proves nothing about a
        ratio, and does not prove that something is too slow; what is fast enough there, is."""
        if self.at_most is None and self.at_least is None:
            return ""
        reached = {self._reached(value) for value in self.values}
        if self.busy and (self.ratio or reached != {True}):
            return "busy"
        return "unsteady" if len(reached) > 1 else "OK" if reached == {True} else "short"

    def row(self) -> list[str]:
        return [self.name, self.measured(), self.target(), self.verdict()]


@dataclass
class Part:
    """Some figures that were measured together, and how."""

    title: str
    how: str
    figures: list[Figure] = field(default_factory=list)

    def add(self, *args: Any, **kwargs: Any) -> None:
        self.figures.append(Figure(*args, **kwargs))


def print_table(parts: list[Part]) -> None:
    rows = [figure.row() for part in parts for figure in part.figures]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for part in parts:
        print(f"\n{part.title}")
        for figure in part.figures:
            print("  " + "  ".join(text.ljust(width) for text, width in zip(figure.row(), widths)).rstrip())


def markdown(parts: list[Part], about: list[str]) -> str:
    lines = [
        "# Figures",
        "",
        "Written by `make bench`. Medians, with the least and the most of several runs in brackets.",
        "",
    ]
    lines += [f"- {line}" for line in about] + [""]
    for part in parts:
        lines += [
            f"## {part.title}",
            "",
            part.how,
            "",
            "| figure | measured | target | |",
            "| --- | --- | --- | --- |",
        ]
        lines += ["| " + " | ".join(cell.strip() for cell in figure.row()) + " |" for figure in part.figures] + [""]
    return "\n".join(lines)
