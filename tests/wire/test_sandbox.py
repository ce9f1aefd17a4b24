"""The server's own fences (src/serve/sandbox.h): which are up, that they hold, and that all it does works behind them.

Builds with sanitizers have none, and not every kernel has all: what should be up is asked of the kernel itself.
"""

import ctypes
import os
import platform
import signal
import subprocess
from pathlib import Path

import pytest
from api import wait_until
from certificates import wanted
from server import binary
from test_tls import Authority, log_lines

LANDLOCK_CREATE_RULESET = 444  # the number is the same on every architecture
VERSION_ONLY = 1


def landlock_version():
    return ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, 0, VERSION_ONLY)


def fences(server):
    return log_lines(server, "serving")[0]["fences"].split()


def is_built_without():
    built = subprocess.run([str(binary()), "version", "--json"], capture_output=True, text=True, check=True).stdout
    return "SPINE_NO_FENCES" in built


def status_of(path):
    lines = (line.split(":", 1) for line in path.read_text().splitlines())
    return {name: value.strip() for name, value in lines}


needs_fences = pytest.mark.skipif(
    platform.system() != "Linux" or is_built_without(), reason="this system or this build has no fences"
)
needs_landlock = pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")
own_certificates = pytest.mark.skipif(wanted(), reason="these servers have certificates of their own")


@needs_fences
def test_every_thread_is_behind_the_fences(start):
    server = start().wait_until_ready()
    threads = list(Path(f"/proc/{server.process.pid}/task").iterdir())
    assert len(threads) > 3
    for thread in threads:
        status = status_of(thread / "status")
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), thread  # 2: a filter
    assert fences(server) == ["no_new_privs"] + ["landlock"] * (landlock_version() >= 1) + ["seccomp"]
    assert server.terminate() == 0


def test_no_sandbox_switches_them_off(start):
    server = start("--no-sandbox").wait_until_ready()
    assert fences(server) == ["none"]
    before = status_of(Path("/proc/self/status"))["Seccomp"]
    assert status_of(Path(f"/proc/{server.process.pid}/status"))["Seccomp"] == before
    assert server.terminate() == 0


def serve_by_link(start, tmp_path, *options):
    """A server whose certificate is a link that leads, from now on, to a folder that it was not told of."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    authority = Authority(inside)
    authority.sign("server")
    server = start(*authority.serving("server"), *options).wait_until_ready()
    shown = inside / "server.pem"
    (outside / "server.pem").write_bytes(shown.read_bytes())
    shown.unlink()
    shown.symlink_to(outside / "server.pem")
    os.kill(server.process.pid, signal.SIGHUP)
    return server


@needs_fences
@needs_landlock
@own_certificates
def test_a_file_elsewhere_cannot_be_opened(start, tmp_path):
    server = serve_by_link(start, tmp_path)
    refused = wait_until(lambda: log_lines(
        server, "the certificate could not be read again; the one before stays in use"), "it was refused")
    assert "Permission denied" in refused[0]["error"]
    assert server.terminate() == 0


@own_certificates
def test_without_fences_the_same_file_is_read(start, tmp_path):
    server = serve_by_link(start, tmp_path, "--no-sandbox")
    wait_until(lambda: log_lines(server, "the certificate was read again"), "it was read again")
    assert server.terminate() == 0


@needs_fences
@own_certificates
def test_certificates_that_are_replaced_as_tools_do_are_read_again(start, tmp_path):
    """Over a link to a folder that is made anew each time, and by renaming."""
    folder = tmp_path / "mounted"
    first = folder / "..first"
    first.mkdir(parents=True)
    authority = Authority(first)
    authority.sign("server")
    (folder / "..data").symlink_to("..first")
    for name in ("server.pem", "server.key"):
        (folder / name).symlink_to(f"..data/{name}")
    server = start("--tls-cert", str(folder / "server.pem"), "--tls-key", str(folder / "server.key")).wait_until_ready()
    second = folder / "..second"
    second.mkdir()
    other = Authority(second)
    other.sign("server")
    (folder / "..new").symlink_to("..second")
    (folder / "..new").rename(folder / "..data")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: log_lines(server, "the certificate was read again"), "it was read again")
    (folder / "next").write_bytes((second / "server.pem").read_bytes())
    (folder / "next").rename(folder / "server.pem")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: len(log_lines(server, "the certificate was read again")) == 2, "it was read again")
    assert server.terminate() == 0
