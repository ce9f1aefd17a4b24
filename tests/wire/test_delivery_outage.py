"""A bad day against the real server: three agents in a row, and one of them is away, or its model is. The same is played in
simulated time and with default settings by tests/unit/test_outage.c; here the times are short."""

import threading

import pytest
from api import wait_until
from delivery import Desk

AGENTS = ("planner", "coder", "reviewer")
TASKS = 60


class Worker(threading.Thread):
    """Takes, works, completes and hands on to the next, until it is stopped; whatever its handler raises is the nack."""

    def __init__(self, address, name, following, handler):
        super().__init__(daemon=True)
        self.desk = Desk(address)
        self.agent, self.following, self.handler = name, following, handler
        self.is_stopped = threading.Event()
        self.is_killed = threading.Event()
        self.finished = 0
        self.start()

    def run(self):
        while not self.is_stopped.is_set():
            for got in self.desk.receive(self.agent, wait_s=0.5, lease_s=1):
                self.work(got)
        self.desk.close()

    def work(self, got):
        try:
            self.handler(self.agent)
        except OSError as error:
            self.desk.settle("nack", got, reason=str(error), delay_s=0.05)
            return
        if self.is_killed.is_set():
            return
        self.desk.settle("complete", got)
        self.finished += 1
        if self.following:
            self.desk.send(self.following)

    def stop(self):
        self.is_stopped.set()
        self.join(30)

    def kill(self):
        """What it holds is lost."""
        self.is_killed.set()
        self.stop()


def well(_):
    pass


@pytest.fixture
def pipeline(start):
    """Starts the server and the workers: pipeline(handler, *options)."""
    workers = []

    def begin(handler, *options):
        server = start(*options).wait_until_ready()
        for at, name in enumerate(AGENTS):
            workers.append(Worker(server.address, name, AGENTS[at + 1] if at + 1 < len(AGENTS) else None, handler))
        return server, workers

    yield begin
    for worker in workers:
        worker.stop()


def feed(desk, count):
    for _ in range(count):
        assert desk.send("planner")["state"] == "queued", "nothing is refused at the front door"


def check_all_finished(desk, finished):
    wait_until(lambda: finished() >= TASKS, "every task is finished")
    wait_until(lambda: not desk.ok("GET", "/v1/handoffs?state=queued")["handoffs"], "nothing is queued")
    assert desk.parked() == []
    done = desk.ok("GET", "/v1/handoffs?to=reviewer&state=completed&page_size=1000")["handoffs"]
    assert len(done) == TASKS, "each of them once"
    for name in AGENTS:
        assert desk.agent(name)["breaker"]["state"] == "closed", name


def test_the_last_agent_is_restarted_and_every_task_is_finished(pipeline):
    server, workers = pipeline(well)
    desk = Desk(server.address)
    feed(desk, TASKS // 2)
    workers[2].kill()
    before = workers.pop()
    feed(desk, TASKS - TASKS // 2)
    wait_until(lambda: workers[1].finished == TASKS, "the others go on while it is away")
    assert desk.parked() == [] and desk.agent("reviewer")["breaker"]["failures"] == 0
    workers.append(Worker(server.address, "reviewer", None, well))
    check_all_finished(desk, lambda: before.finished + workers[2].finished)


def test_a_model_that_answers_529_for_a_while_costs_no_task(pipeline):
    is_down = threading.Event()

    def handler(_):
        if is_down.is_set():
            raise OSError("529: the model is overloaded")

    server, workers = pipeline(handler, "--breaker-reset", "1s")
    desk = Desk(server.address)
    feed(desk, TASKS // 3)
    is_down.set()
    feed(desk, TASKS // 3)
    wait_until(lambda: desk.agent("planner")["breaker"]["state"] != "closed", "the breaker opens")
    held = desk.send("planner")
    assert held["held_until"] and held["attempt"] == 1
    parked = desk.parked()
    assert len(parked) >= 3 and {one["reason"] for one in parked} == {"529: the model is overloaded"}
    is_down.clear()
    feed(desk, TASKS - 2 * (TASKS // 3) - 1)
    check_all_finished(desk, lambda: workers[2].finished)
    back = [one for one in desk.ok("GET", "/v1/handoffs?page_size=1000")["handoffs"] if one["auto_redriven"]]
    assert {one["id"] for one in parked} <= {one["id"] for one in back}
    redriven = [event for event in desk.look(parked[0])["events"] if event["event"] == "handoff.redriven"]
    assert len(redriven) == 1 and redriven[0]["actor"] is None and parked[0]["to"] in redriven[0]["note"]
