"""A backup that only the owner of a private key can read."""

import os
import random
import subprocess

import pytest

from cli import DAMAGED, FAILED, OK, USAGE, Cli  # noqa: F401
from server import Server
from stores import needs_embedded_store

pytestmark = needs_embedded_store("backups are copies of its files")

SECRET = "the-words-that-nobody-may-read "


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_keys(where, name, *how):
    openssl("genpkey", *how, "-out", where / f"{name}.key")
    openssl("pkey", "-in", where / f"{name}.key", "-pubout", "-out", where / f"{name}.pub")
    (where / f"{name}.key").chmod(0o600)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    where = tmp_path_factory.mktemp("keys")
    make_keys(where, "x", "-algorithm", "X25519")
    make_keys(where, "y", "-algorithm", "X25519")
    make_keys(where, "r", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    make_keys(where, "s", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    make_keys(where, "small", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")
    make_keys(where, "e", "-algorithm", "ED25519")
    return where


@pytest.fixture(scope="module")
def made(tmp_path_factory, keys):
    """A store, and backups of it to both kinds of keys."""
    root = tmp_path_factory.mktemp("made")
    server = Server(root / "data").wait_until_ready()
    spine = Cli(root, SPINE_URL=server.url)
    for i in range(30):
        spine.ok("store", f"memory {i} " + SECRET * 200)
    for name in ("x", "r"):
        result = spine.ok("backup", root / f"{name}.bin", "--encrypt-to", keys / f"{name}.pub", "--data", root / "data")
        assert "30 memories" in result.out + result.err
    assert server.terminate() == 0
    assert not list((root / "data").glob("*.tmp"))
    return root


@pytest.fixture
def spine(tmp_path):
    return Cli(tmp_path)


def restore(spine, file, key, into, *more):
    return spine("restore", file, "--decrypt-with", key, "--data", into, *more)


@pytest.mark.parametrize("name", ["x", "r"])
def test_the_owner_of_the_private_key_gets_everything_back(made, keys, spine, tmp_path, name):
    content = (made / f"{name}.bin").read_bytes()
    assert content.startswith(b"SPNENC1\n") and SECRET.encode() not in content and b"SQLite" not in content
    assert (made / f"{name}.bin").stat().st_mode & 0o777 == 0o600
    result = restore(spine, made / f"{name}.bin", keys / f"{name}.key", tmp_path / "data")
    assert result.code == OK, result.err
    assert "30 memories" in spine.ok("check", "--data", tmp_path / "data").out
    assert not list((tmp_path / "data").glob("*.tmp"))
    server = Server(tmp_path / "data").wait_until_ready()
    assert SECRET in Cli(tmp_path, SPINE_URL=server.url).ok("get", "ms-7").out
    assert server.terminate() == 0


@pytest.mark.parametrize("backup, key, says", [
    ("x", "y", "cannot be opened with this key"), ("r", "s", "cannot be opened with this key"),
    ("x", "r", "key of another kind"), ("r", "x", "key of another kind"),
])
def test_a_wrong_key_opens_nothing_and_nothing_is_written(made, keys, spine, tmp_path, backup, key, says):
    result = restore(spine, made / f"{backup}.bin", keys / f"{key}.key", tmp_path / "data")
    assert result.code == FAILED and says in result.err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["x", "r"])
def test_a_changed_byte_and_a_cut_are_found_and_nothing_is_written(made, keys, spine, tmp_path, name):
    content = (made / f"{name}.bin").read_bytes()
    chance, bad = random.Random(7), tmp_path / "bad.bin"
    head = 11 + int.from_bytes(content[9:11], "big")
    flips = [0, 7, 8, 9, 10, 11, head - 1, head, head + 65535, head + 65536, len(content) - 1]
    flips += [chance.randrange(len(content)) for _ in range(10)]
    for at in flips:
        bad.write_bytes(content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1:])
        result = restore(spine, bad, keys / f"{name}.key", tmp_path / "data")
        assert result.code == FAILED and "bad.bin" in result.err, at
        assert not (tmp_path / "data").exists(), at
    part = 65536 + 16
    cuts = {0: "not an encrypted", 5: "not an encrypted", head: "cut off", head + 5: "cut off", head + part: "cut off",
            head + 2 * part: "cut off: its end is missing", len(content) - 1: "", len(content) - 17: ""}
    for at, says in cuts.items():
        bad.write_bytes(content[:at])
        result = restore(spine, bad, keys / f"{name}.key", tmp_path / "data")
        assert result.code == FAILED and says in result.err, (at, result.err)
        assert not (tmp_path / "data").exists(), at
    # Parts in another order, one more at the end, and one left out.
    parts = [content[at:at + part] for at in range(head, len(content), part)]
    assert len(parts) > 3
    for order in ([1, 0] + list(range(2, len(parts))), [*range(len(parts)), 0], [0, *range(2, len(parts))]):
        bad.write_bytes(content[:head] + b"".join(parts[i] for i in order))
        assert restore(spine, bad, keys / f"{name}.key", tmp_path / "data").code == FAILED
        assert not (tmp_path / "data").exists()


def test_each_backup_has_a_key_of_its_own(made, keys, tmp_path):
    spine = Cli(tmp_path)
    for name in ("one", "two"):
        spine.ok("backup", tmp_path / name, "--encrypt-to", keys / "x.pub", "--data", made / "data")
    assert (tmp_path / "one").read_bytes()[11:43] != (tmp_path / "two").read_bytes()[11:43]


@pytest.mark.parametrize("key, says", [
    ("x.key", "holds no public key"), ("e.pub", "neither of X25519 nor of RSA"), ("small.pub", "2048 is the least"),
    ("absent.pub", "No such file"),
])
def test_a_key_that_cannot_be_used_is_named_and_nothing_is_made(made, keys, spine, tmp_path, key, says):
    result = spine("backup", tmp_path / "b.bin", "--encrypt-to", keys / key, "--data", made / "data")
    assert result.code == FAILED and says in result.err and key in result.err
    assert not (tmp_path / "b.bin").exists() and not list((made / "data").glob("*.tmp"))


def test_a_private_key_that_others_can_read_is_refused(made, keys, spine, tmp_path):
    key = tmp_path / "open.key"
    key.write_bytes((keys / "x.key").read_bytes())
    key.chmod(0o640)
    result = restore(spine, made / "x.bin", key, tmp_path / "data")
    assert result.code == FAILED and "chmod 600" in result.err
    assert not (tmp_path / "data").exists()


def test_a_passphrase_comes_from_a_file(made, keys, spine, tmp_path):
    openssl("pkey", "-in", keys / "x.key", "-aes256", "-passout", "pass:correct horse", "-out", tmp_path / "p.key")
    (tmp_path / "p.key").chmod(0o600)
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("correct horse\n")
    bad.write_text("battery staple\n")
    os.chmod(good, 0o600)
    os.chmod(bad, 0o600)
    result = restore(spine, made / "x.bin", tmp_path / "p.key", tmp_path / "data")
    assert result.code == FAILED and "--passphrase-file" in result.err
    result = restore(spine, made / "x.bin", tmp_path / "p.key", tmp_path / "data", "--passphrase-file", bad)
    assert result.code == FAILED and "the passphrase does not open" in result.err
    assert not (tmp_path / "data").exists()
    assert restore(spine, made / "x.bin", tmp_path / "p.key", tmp_path / "data", "--passphrase-file", good).code == OK
    assert spine("restore", made / "x.bin", "--passphrase-file", good, "--data", tmp_path / "other").code == USAGE


def test_what_is_encrypted_and_what_is_not_are_told_apart(made, keys, spine, tmp_path):
    result = spine("restore", made / "x.bin", "--data", tmp_path / "data")
    assert result.code == FAILED and "--decrypt-with" in result.err
    spine.ok("backup", tmp_path / "plain.db", "--data", made / "data")
    result = restore(spine, tmp_path / "plain.db", keys / "x.key", tmp_path / "data")
    assert result.code == FAILED and "not an encrypted backup" in result.err
    result = spine("check", made / "x.bin")
    assert result.code == FAILED and "is encrypted" in result.err
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_there_is_not_overwritten(made, keys, spine, tmp_path):
    (tmp_path / "b.bin").write_text("mine")
    result = spine("backup", tmp_path / "b.bin", "--encrypt-to", keys / "x.pub", "--data", made / "data")
    assert result.code == FAILED and (tmp_path / "b.bin").read_text() == "mine"


def test_what_a_killed_backup_left_in_plain_text_goes_with_the_next_one(keys, spine, tmp_path):
    data = tmp_path / "data"
    server = Server(data).wait_until_ready()
    assert server.terminate() == 0
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = [data / f"backup-{gone.pid}.tmp", data / f"backup-{gone.pid}.tmp.{gone.pid}.part"]
    others = [data / f"backup-{os.getpid()}.tmp", data / "backup-of-mine.tmp"]
    for file in left + others:
        file.write_text(SECRET)
    spine.ok("backup", tmp_path / "new.bin", "--encrypt-to", keys / "x.pub", "--data", data)
    assert not any(file.exists() for file in left) and all(file.exists() for file in others), "one of a process that lives is its own"
