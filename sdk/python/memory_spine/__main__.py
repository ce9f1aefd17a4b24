"""`memory-spine`, or `python -m memory_spine`: says whether this client reaches a server. Exits with 0 where it does."""

from __future__ import annotations

import argparse
import sys

from . import MemorySpine, SpineError, __version__


def main() -> int:
    about = "Says whether the Python client of Memory Spine reaches its server."
    parser = argparse.ArgumentParser(prog="memory-spine", description=about)
    parser.add_argument("--url", help="where the server is; else SPINE_URL, else http://127.0.0.1:8788")
    parser.add_argument("--version", action="version", version=f"memory-spine {__version__}")
    with MemorySpine(parser.parse_args().url, retries=0) as spine:
        try:
            status = spine.status()
        except SpineError as error:
            print(f"memory-spine {__version__}: {error}", file=sys.stderr)
            return 1
    print(f"memory-spine {__version__}: the server is version {status['version']}, and {status['status']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
