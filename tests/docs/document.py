"""A Markdown document: its code blocks, its links, the anchors of its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = {"sh": "sh", "bash": "sh", "shell": "sh", "python": "python", "py": "python", "console": "console"}

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*(\S*)")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
MADE_BY = re.compile(r"^<!-- Made by: (.+) -->$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} (.+?)\s*#*$")


@dataclass
class Block:
    language: str  # one of the values of LANGUAGES
    line: int  # of its first line of code
    code: str
    not_run: str | None  # the reason


@dataclass
class Document:
    path: Path
    made_by: str | None = None  # the command whose output it is
    blocks: list[Block] = field(default_factory=list)
    links: list[tuple[int, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


def read(path: Path) -> Document:
    document = Document(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    made_by = MADE_BY.match(lines[0]) if lines else None
    document.made_by = made_by.group(1) if made_by else None
    reason = None
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = fence_end(lines, at, fence.group(2))
            language = LANGUAGES.get(fence.group(3).lower())
            if language:
                indent = len(fence.group(1))
                code = "".join(line[indent:] + "\n" for line in lines[at + 1 : end])
                document.blocks.append(Block(language, at + 2, code, reason))
            at, reason = end, None
        elif lines[at].strip():
            match = NOT_RUN.match(lines[at].strip())
            reason = match.group(1) if match else None
            read_line(document, lines[at], at + 1)
        at += 1
    return document


def fence_end(lines: list[str], start: int, fence: str) -> int:
    for at in range(start + 1, len(lines)):
        text = lines[at].strip()
        if len(text) >= len(fence) and set(text) == {fence[0]}:
            return at
    return len(lines)


def read_line(document: Document, line: str, number: int) -> None:
    heading = HEADING.match(line)
    if heading:
        document.anchors.add(unique(anchor_of(heading.group(1)), document.anchors))
    text = re.sub(r"`[^`]*`", "", line)
    document.links += [(number, match.group(1)) for match in LINK.finditer(text)]


def anchor_of(heading: str) -> str:
    """As GitHub makes it: lower case, without punctuation, a hyphen for each space."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def unique(anchor: str, taken: set[str]) -> str:
    candidate, count = anchor, 0
    while candidate in taken:
        count += 1
        candidate = f"{anchor}-{count}"
    return candidate


def broken_links(document: Document, root: Path) -> list[tuple[int, str]]:
    """Line and complaint for each relative link that leads nowhere."""
    broken = []
    for line, link in document.links:
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.path.parent / name).resolve() if name else document.path
        if not target.exists() or not target.is_relative_to(root):
            broken.append((line, f"the link to {link} leads nowhere"))
        elif anchor and target.suffix == ".md" and anchor not in read(target).anchors:
            broken.append((line, f"{name or 'this page'} has no heading for the link to #{anchor}"))
    return broken
