"""Keys and certificates of the C client: where they come from, and what is said where they do not do."""

import subprocess

import pytest
from certificates import Authority
from fake_server import FakeServer, reply
from server import Server

KEY = "spk_7_" + "Ab1-_" * 8 + "xyz"
WELL = reply(b'{"id":"ms-1"}')
TLS_FAILED = 8


@pytest.fixture
def call(program, environment):
    """Makes one call; the status, the code and the sentence of one_call, or (None, what it says) where it was not opened."""

    def start(url, **variables):
        done = subprocess.run(
            [program("one_call"), url, "readMemory", "id=ms-1"],
            env={**environment, "TIMEOUT_MS": "20000", **variables},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert KEY not in done.stdout + done.stderr
        if done.returncode != 0:
            return None, done.stderr
        first, text = done.stdout.split("\n", 1)
        status, code, _, _ = first.split()
        return int(status), code, text

    return start


def key_file(tmp_path, text=KEY + "\n", mode=0o600):
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_the_key_of_the_environment_goes_along(call, tmp_path):
    with FakeServer(lambda connection, _: connection.send(WELL)) as server:
        call(server.url)
        call(server.url, SPINE_KEY=KEY, SPINE_KEY_FILE="/nowhere")
        call(server.url, SPINE_KEY_FILE=key_file(tmp_path))
    sent = [f"Authorization: Bearer {KEY}\r\n".encode() in request for request in server.requests]
    assert sent == [False, True, True]
    assert b"Authorization" not in server.requests[0]


@pytest.mark.parametrize(
    "text, mode, said",
    [
        (KEY, 0o644, "can be read by others (mode 0644): make it yours alone, chmod 600"),
        (KEY, 0o620, "can be read by others (mode 0620)"),
        ("", 0o600, "there is no key in the file"),
        ("\n \n", 0o600, "there is no key in the file"),
        ("two words", 0o600, "there is no key in the file"),
        pytest.param("x" * 5000, 0o600, "there is no key in the file", id="too long"),
    ],
)
def test_a_file_that_does_not_do_is_an_error_and_never_no_key(call, tmp_path, text, mode, said):
    with FakeServer(lambda connection, _: connection.send(WELL)) as server:
        status, why = call(server.url, SPINE_KEY_FILE=key_file(tmp_path, text, mode))
    assert status is None and said in why and server.requests == []


def test_a_missing_file_is_an_error_and_never_no_key(call):
    status, why = call("http://127.0.0.1:1", SPINE_KEY_FILE="/nowhere/key")
    assert status is None and "/nowhere/key cannot be read: No such file" in why


@pytest.mark.parametrize("status, code", [("401 Unauthorized", "unauthorized"), ("403 Forbidden", "forbidden")])
def test_a_refused_key_is_told_and_not_sent_again(call, status, code):
    problem = reply(b'{"code":"%s","detail":"As told."}' % code.encode(), status)
    with FakeServer(lambda connection, _: connection.send(problem)) as server:
        assert call(server.url, SPINE_KEY=KEY)[:2] == (7, code)
    assert len(server.requests) == 1


def test_the_key_does_not_follow_a_redirect(call):
    with FakeServer(lambda connection, _: connection.send(WELL)) as other:
        there = reply(b"{}", "307 Elsewhere", f"Location: {other.url}/v1/memories/ms-1")
        with FakeServer(lambda connection, _: connection.send(there)) as server:
            assert call(server.url, SPINE_KEY=KEY)[0] != 0
    assert other.requests == [] and len(server.requests) == 1


# --- Certificates --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("server")
    made.sign("elsewhere", "DNS:elsewhere.example")
    made.sign("client", "DNS:client")
    return made


@pytest.fixture(scope="module")
def secure(tmp_path_factory, authority):
    running = {}

    def start(*options):
        if options not in running:
            data = tmp_path_factory.mktemp("secure") / "data"
            running[options] = Server(data, *authority.serving(*options)).wait_until_ready()
        return running[options].url

    yield start
    for one in running.values():
        assert one.terminate() == 0, one.log_tail()


def test_a_server_of_an_authority_of_ones_own_is_spoken_to(call, secure, authority):
    status, code, _ = call(secure("server"), SPINE_CA_FILE=authority.path("ca.pem"))
    assert (status, code) == (7, "memory_not_found")


def test_what_is_not_secure_is_told_with_what_to_do(call, secure, authority, tmp_path_factory):
    stranger = Authority(tmp_path_factory.mktemp("stranger"))
    stranger.sign("client", "DNS:client")
    ca = {"SPINE_CA_FILE": authority.path("ca.pem")}
    theirs = {"SPINE_CERT_FILE": stranger.path("client.pem"), "SPINE_CERT_KEY_FILE": stranger.path("client.key")}
    mutual = secure("server", "--tls-client-ca", authority.path("ca.pem"))
    for url, variables, said in [
        (secure("server"), {}, "not from an authority that is trusted here: name the authority's, as SPINE_CA_FILE"),
        (secure("server"), {"SPINE_CA_FILE": stranger.path("ca.pem")}, "not from an authority that is trusted here"),
        (secure("elsewhere"), ca, "its certificate is not for this host: use the name that the certificate has"),
        (mutual, ca, "it asks for a client certificate: name one, as SPINE_CERT_FILE"),
        (mutual, {**ca, **theirs}, "SPINE_CERT_FILE"),
    ]:
        status, code, text = call(url, SPINE_KEY=KEY, **variables)
        assert (status, code) == (TLS_FAILED, "tls_failed") and said in text, text
    mine = {"SPINE_CERT_FILE": authority.path("client.pem"), "SPINE_CERT_KEY_FILE": authority.path("client.key")}
    assert call(mutual, **ca, **mine)[1] == "memory_not_found"


def test_a_plain_server_is_told_from_a_secure_one(call, server):
    status, code, text = call(server.url.replace("http:", "https:"))
    assert (status, code) == (TLS_FAILED, "tls_failed") and "does not speak TLS" in text, text


def test_files_that_are_not_there_are_refused_at_once(call, authority):
    for name in ("SPINE_CA_FILE", "SPINE_CERT_FILE"):
        status, why = call("https://127.0.0.1:1", **{name: "/nowhere.pem"})
        assert status is None and "/nowhere.pem, cannot be read" in why
    status, why = call("https://127.0.0.1:1", SPINE_CERT_KEY_FILE=authority.path("client.key"))
    assert status is None and "name that as cert_file, too" in why
    assert call("http://127.0.0.1:1", SPINE_CA_FILE="/nowhere.pem", TIMEOUT_MS="300")[1] == "connect_failed"

