"""Webhooks and the collector of traces over https: whom the server trusts, and what it says where it does not."""

import json
import ssl

import pytest
from api import wait_until
from certificates import Authority, new_key
from collector import Collector
from delivery import Desk
from test_alerts import Receiver, exhaust
from test_life import run_serve
from test_webhook import Hook, set_hook, wait_for_state


class Signed(Authority):
    """Signs certificates for the receivers of a test; one receiver has signed its own."""

    def __init__(self, folder):
        super().__init__(folder)
        self.sign("server")
        self.openssl("req", "-x509", *new_key("self"), "-subj", "/CN=receiver", "-out", "self.pem",
                     "-addext", "subjectAltName=IP:127.0.0.1")

    def wrap(self, listener, name):
        """The listener of an http.server, from here on with TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
        listener.handle_error = lambda *_: None  # a client that does not trust it


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Signed(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def opened():
    """Takes what is to be closed at the end."""
    things = []
    yield lambda thing: things.append(thing) or thing
    for thing in reversed(things):
        thing.close()


def https_hook(authority, name, opened):
    hook = opened(Hook())
    authority.wrap(hook.listener, name)
    hook.url = hook.url.replace("http:", "https:")
    return hook


# --- Handoffs ---


def test_a_webhook_that_signed_its_own_certificate_is_refused_with_the_reason(start, authority, opened):
    hook = https_hook(authority, "self", opened)
    desk = opened(Desk(start().wait_until_ready().address, "default"))
    set_hook(desk, hook, max_attempts=1)
    handoff = wait_for_state(desk, desk.send(), "parked")
    assert "certificate is not trusted" in handoff["reason"] and "self-signed" in handoff["reason"], handoff["reason"]
    assert "--ca-file" in handoff["reason"]
    assert hook.posts.empty(), "nothing of the handoff has left"


def test_a_webhook_whose_authority_is_named_is_trusted_and_no_other(start, authority, opened):
    server = start("--ca-file", str(authority.file)).wait_until_ready()
    desk = opened(Desk(server.address, "default"))
    hook, other = https_hook(authority, "server", opened), https_hook(authority, "self", opened)
    set_hook(desk, hook)
    handoff = desk.send()
    hook.next().answer(200)
    wait_for_state(desk, handoff, "acked")
    set_hook(desk, other, "impostor", max_attempts=1)
    assert "not trusted" in wait_for_state(desk, desk.send("impostor"), "parked")["reason"]
    # Signed by the authority, but for another name.
    hook.url = hook.url.replace("127.0.0.1", "localhost")
    set_hook(desk, hook, "misnamed", max_attempts=1)
    assert "not trusted" in wait_for_state(desk, desk.send("misnamed"), "parked")["reason"]


def test_a_certificate_that_signed_itself_is_trusted_where_it_is_named(start, authority, opened):
    server = start("--ca-file", str(authority.folder / "self.pem")).wait_until_ready()
    desk = opened(Desk(server.address, "default"))
    hook = https_hook(authority, "self", opened)
    set_hook(desk, hook)
    handoff = desk.send()
    hook.next().answer(200)
    wait_for_state(desk, handoff, "acked")


def test_without_the_authority_what_it_signed_is_not_trusted(start, authority, opened):
    hook = https_hook(authority, "server", opened)
    desk = opened(Desk(start().wait_until_ready().address, "default"))
    set_hook(desk, hook, max_attempts=1)
    assert "not trusted" in wait_for_state(desk, desk.send(), "parked")["reason"]


# --- Alerts ---


def https_receiver(authority, name, opened):
    receiver = opened(Receiver())
    authority.wrap(receiver.server, name)
    receiver.url = receiver.url.replace("http:", "https:")
    return receiver


def test_an_alert_webhook_that_is_not_trusted_is_told_in_the_log(start, authority, opened):
    receiver = https_receiver(authority, "self", opened)
    server = start("--alert-webhook", receiver.url, "--log-format", "json").wait_until_ready()
    desk = opened(Desk(server.address, "default"))
    exhaust(desk)

    def failures():
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
        return [line["error"] for line in lines if line["msg"].startswith("the alert webhook failed")]

    assert "self-signed" in wait_until(failures, "the log says why")[0]
    assert receiver.posts.empty()


def test_an_alert_webhook_whose_authority_is_named_gets_the_alert(start, authority, opened):
    receiver = https_receiver(authority, "server", opened)
    server = start("--alert-webhook", receiver.url, "--ca-file", str(authority.file)).wait_until_ready()
    desk = opened(Desk(server.address, "default"))
    exhaust(desk)
    assert receiver.wait_for("handoff_failed", "firing")["labels"]["agent"] == "bad"


# --- Traces ---


@pytest.mark.parametrize("name", ["server", "self"])
def test_the_collector_of_traces_must_be_trusted_too(start, authority, opened, name):
    collector = opened(Collector())
    authority.wrap(collector.server, name)
    url = collector.url.replace("http:", "https:")
    options = ("--otlp-endpoint", url, "--otlp-interval", "1ms", "--ca-file", str(authority.file))
    server = start(*options).wait_until_ready()
    desk = opened(Desk(server.address, "default"))
    desk.send()
    if name == "server":
        assert len(collector.wait(2)) == 2
    else:
        wait_until(lambda: "self-signed" in server.log.read_text(), "the log says why")
        assert collector.posts == 0


# --- The option ---


def test_a_file_that_holds_no_authority_is_refused_at_the_start(tmp_path):
    (tmp_path / "empty.pem").write_text("")
    for file, why in ((tmp_path / "none.pem", "cannot read"), (tmp_path / "empty.pem", "holds no certificate")):
        done = run_serve(tmp_path / "data", "--listen", "127.0.0.1:0", "--ca-file", str(file))
        assert done.returncode == 2 and "--ca-file" in done.stderr and why in done.stderr, done.stderr
