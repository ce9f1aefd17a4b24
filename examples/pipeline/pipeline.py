"""Four agents in a row: researcher, analyst, coder, reviewer.

    make run                                                       in one terminal
    PYTHONPATH=sdk/python python3 examples/pipeline/pipeline.py    in another

Each agent is a function here, and all run in this one program so that there is one thing to start. In real life each is
a program of its own, on any machine: it needs the `agent(...).run(...)` line, and no agent knows where the others are.
"""

import threading

from memory_spine import MemorySpine
from model import model

INTENT = "Customers are charged twice when the network is slow. Stop that, and leave the public API as it is."


def research(work):
    work.store("The gateway's log of last week: 52 timeouts, 47 of them charged.", kind="fact", importance="high")
    work.hand_on("analyst", "Find the cause and decide what to change.", result=model("You research.", work.prompt))


def analyse(work):
    cause = model("You analyse.", work.prompt)
    work.store("Make the request id from the order id.", kind="decision")   # a decision goes along to every later agent
    work.hand_on("coder", "Implement the decision.", result=cause, constraints={"max_retries": 3})  # and so does a constraint


def code(work):
    work.hand_on("reviewer", "Review the patch against the constraints.", result=model("You write code.", work.prompt))


def review(work):
    print(work.prompt)                              # what the last model reads: nothing was lost on the way
    return model("You review.", work.prompt)        # a result without a next agent ends the chain


def main():
    with MemorySpine(agent="user", space="pipeline") as spine:
        envelope = spine.pack("researcher", "Find out what happens.", intent=INTENT, constraints={"public_api": "unchanged"})
        spine.send(envelope)
        agents = {"researcher": research, "analyst": analyse, "coder": code, "reviewer": review}
        threads = [threading.Thread(target=spine.agent(name).run, args=(work,), kwargs={"limit": 1}) for name, work in agents.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        kept = spine.fidelity(envelope.task).intent_and_constraints
        last = spine.handoff(spine.trace(envelope.task).deliveries[-1])
        print(f"{last.to_agent}: {last.result}")
        print(f"intent and constraints kept over all hops: {kept:.0%}")


if __name__ == "__main__":
    main()
