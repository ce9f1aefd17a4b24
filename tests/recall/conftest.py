"""Where the program is that measures."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent.parent / "bench" / "recall")]
