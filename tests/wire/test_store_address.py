"""What --store takes, and that no message has a part of an address that cannot be used: there may be a password in it."""

import ctypes.util
import subprocess

import pytest
from server import binary, clean_environment

COMMANDS = (["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["key", "create", "ops"], ["key", "reset", "--yes"])
OF_LIBPQ = pytest.mark.skipif(ctypes.util.find_library("pq") is None, reason="there is no libpq here")


def run(command, address, tmp_path, **environment):
    data = ["--data", str(tmp_path / "data")] if command[0] == "serve" else []
    store = ["--store", address] if address else []
    return subprocess.run([binary(), *command, *data, *store], capture_output=True, text=True, timeout=30, cwd=tmp_path,
                          env=clean_environment(**environment))


def is_refused(done, says):
    said = done.stdout + done.stderr
    assert done.returncode == 2 and says in said, said
    assert "s3" not in said and "cretPW" not in said and "123456" not in said, said
    return said


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("address", [
    "mysql://spine:s3cretPW@h/d", "POSTGRES://spine:s3cretPW@h/d", "host=127.0.0.1 password=s3cretPW", "./s3", "ram:s3",
    "postgres:/spine",
])
def test_what_is_no_database_is_refused(command, address, tmp_path):
    is_refused(run(command, address, tmp_path), "expected the address of a PostgreSQL database")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("address", [
    "postgres://u:s3#cretPW@h/d", "postgres://u:s3/cretPW@h/d", "postgres://u:s3@cretPW@h/d", "postgresql://u:#s3@h/d#1",
    pytest.param("postgres://u:s3cretPW%zz@h/d", marks=OF_LIBPQ), pytest.param("postgres://u:s3/cr?etPW@h/d", marks=OF_LIBPQ),
    pytest.param("postgres://u:s3cretPW@[::1:5432/d", marks=OF_LIBPQ), pytest.param("postgres://u:s3cretPW/d", marks=OF_LIBPQ),
    pytest.param("postgres://u:1234567/d", marks=OF_LIBPQ), pytest.param("postgres://u:99999,123456/d", marks=OF_LIBPQ),
])
def test_what_a_password_does_to_an_address_is_told_without_it(command, address, tmp_path):
    assert "as %23, %2F, %3F, %40 and %25" in is_refused(run(command, address, tmp_path), "the address of the database cannot be read")


def test_an_address_of_the_environment_or_a_file_is_no_other(tmp_path):
    wrong = "postgres://u:s3#cretPW@h/d"
    for command in (COMMANDS[0], COMMANDS[1]):
        is_refused(run(command, None, tmp_path, SPINE_STORE=wrong), "there is a # in it")
    (tmp_path / "config").write_text(f"store = {wrong}\n")
    is_refused(run([*COMMANDS[0], "--config", str(tmp_path / "config")], None, tmp_path), "there is a # in it")


@OF_LIBPQ
@pytest.mark.parametrize("address", [
    "postgres://u:s3%23cretPW@127.0.0.1:1/d", "postgresql://u:s3cretPW@[::1]:1,127.0.0.1:1/d?connect_timeout=2&application_name=a@b",
    "postgres:///d?host=/nowhere&password=s3cretPW",
])
def test_a_good_address_is_connected_to_and_its_password_is_not_told(address, tmp_path):
    for command in COMMANDS:
        done = run(command, address, tmp_path)
        assert done.returncode == 1 and "PostgreSQL cannot be reached" in done.stderr, done.stderr
        assert "cretPW" not in done.stdout + done.stderr
