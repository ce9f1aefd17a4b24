"""A server whose clock_gettime is a shim's (wrong_clock.c), which shifts the wall clock by what a file says."""

import os
import subprocess
from pathlib import Path


def build(directory):
    """The library that is preloaded."""
    library = directory / "wrong_clock.so"
    source = Path(__file__).with_name("wrong_clock.c")
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", str(source), "-o", str(library), "-ldl"], check=True)
    return library


def environment(library, shift, boot):
    """shift, boot: files; seconds, and the name of the boot."""
    return {
        "LD_PRELOAD": str(library),
        "SPINE_NO_SANDBOX": "1",  # the shim reads its files again and again
        "CLOCK_SHIFT_FILE": str(shift),
        "CLOCK_BOOT_FILE": str(boot),
    }
