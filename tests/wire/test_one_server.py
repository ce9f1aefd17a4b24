"""One server for a store, whatever happens to the names of its files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from api import Api, wait_until
from server import StartError, binary
from stores import needs_embedded_store


def move(data, name):
    (data / name).rename(data / f"{name}.away")


def delete(data, name):
    (data / name).unlink()


def replace(data, name):
    """Another file of that name, with another process's number in it."""
    other = data / f"{name}.other"
    other.write_text("1\n")
    other.rename(data / name)


def refusal(start, data):
    with pytest.raises(StartError) as caught:
        start(data=data).wait_until_ready()
    return str(caught.value)


def check_goes_on(server):
    api = Api(server.address)
    memory = api.store("it goes on")
    assert api.get(memory["id"])["content"] == "it goes on"


def wait_for_threads(server):
    """Each thread opens the database when it starts, by its name: until then nobody takes that away."""
    seen = []

    def look():
        fds = [os.readlink(one) for one in Path(f"/proc/{server.process.pid}/fd").iterdir() if one.is_symlink()]
        seen.append(sum(name.endswith("spine.db") for name in fds))
        return len(seen) > 20 and len(set(seen[-20:])) == 1

    check_goes_on(server)
    wait_until(look, "all threads have the database open")


@pytest.mark.parametrize("change", [move, delete, replace])
def test_a_second_server_is_refused_though_the_lock_file_is_gone(start, change):
    server = start().wait_until_ready()
    change(server.data, "lock")
    assert "is using the data directory" in refusal(start, server.data)
    assert "is using the data directory" in refusal(start, server.data), "the one before has not helped either"
    check_goes_on(server)
    assert server.terminate() == 0
    start(data=server.data).wait_until_ready()


@needs_embedded_store("it is about its files")
@pytest.mark.parametrize("change", [move, delete])
def test_a_second_server_is_refused_though_the_database_is_gone_from_its_place(start, change):
    """It would begin with an empty store, under the eyes of the first."""
    server = start().wait_until_ready()
    wait_for_threads(server)
    change(server.data, "lock")
    change(server.data, "spine.db")
    assert "is using the data directory" in refusal(start, server.data)


@needs_embedded_store("it is about its files")
@pytest.mark.parametrize("how", ["moved", "linked"])
def test_a_second_server_is_refused_on_the_same_database_elsewhere(start, tmp_path, how):
    server = start().wait_until_ready()
    wait_for_threads(server)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if how == "moved":
        (server.data / "spine.db").rename(elsewhere / "spine.db")
    else:
        os.link(server.data / "spine.db", elsewhere / "spine.db")
    assert "from another directory" in refusal(start, elsewhere)


def test_a_second_server_is_refused_by_another_name_of_the_directory(start, tmp_path):
    server = start().wait_until_ready()
    delete(server.data, "lock")
    (tmp_path / "name").symlink_to(server.data)
    assert "is using the data directory" in refusal(start, tmp_path / "name")


def test_a_server_that_was_killed_leaves_no_lock(start):
    server = start().wait_until_ready()
    check_goes_on(server)
    server.kill()
    again = start(data=server.data).wait_until_ready()
    check_goes_on(again)
    assert again.terminate() == 0


def spine(*arguments):
    return subprocess.run([str(binary()), *map(str, arguments)], capture_output=True, text=True)


@needs_embedded_store("backups are copies of its files")
def test_backup_and_check_run_beside_a_server_and_a_restore_does_not(start, tmp_path):
    server = start().wait_until_ready()
    check_goes_on(server)
    backup = tmp_path / "backup.db"
    assert spine("backup", backup, "--data", server.data).returncode == 0
    assert spine("check", "--data", server.data).returncode == 0
    check_goes_on(server)
    delete(server.data, "lock")
    refused = spine("restore", backup, "--data", server.data, "--replace")
    assert refused.returncode != 0 and "is using the data directory" in refused.stderr, refused
    assert "is using the data directory" in refusal(start, server.data), "its locks have outlived all of it"
    check_goes_on(server)
    assert server.terminate() == 0
    copy = tmp_path / "copy"
    shutil.copytree(server.data, copy)
    check_goes_on(start(data=copy).wait_until_ready())
