"""spine serve, as a document shows it: started on a free port, and stopped as soon as it serves.

    serve_once.py BINARY serve OPTIONS…

Ends with the server's exit code after SIGTERM, which is 0 where it started and drained.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 20.0


def main() -> int:
    command = [*sys.argv[1:], "--listen", "127.0.0.1:0", "--log-level", "info", "--log-format", "json"]
    environment = {name: value for name, value in os.environ.items() if name != "SPINE_DATA"}
    with tempfile.TemporaryDirectory() as directory:
        if not any(option.split("=")[0] == "--data" for option in command):
            command += ["--data", directory]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        log, deadline = b"", time.monotonic() + TIMEOUT_S
        while b'"msg":"serving"' not in log and time.monotonic() < deadline:
            if select.select([process.stderr], [], [], 0.1)[0]:
                data = os.read(process.stderr.fileno(), 65536)
                if not data:
                    break
                log += data
        process.send_signal(signal.SIGTERM)
        rest = process.communicate()[1]
    if process.returncode != 0:
        sys.stderr.write((log + rest).decode(errors="replace"))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
