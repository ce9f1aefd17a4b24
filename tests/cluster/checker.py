"""What must follow from the histories of all clients of a cluster. Nothing here asks a server.

  lost        what was acknowledged is there, through every node, as it was acknowledged, and comes to its end
  settles     one settle of a handoff is accepted; a lease is one receiver's, and after a newer one it counts no more
  duplicates  a request that was sent again with its key was carried out once
  chains      what was handed on with a completion is one handoff, and the completion tells which
  joins       a join has the results of all receivers, as soon as all have completed, and not before
  events      who follows the events of handoffs through any node sees each once, in order
  order       what one sender sent to one agent, one after the other, is first given out in that order
  served      each space is served again, through each node that can, in time
  stale       a read shows nothing older than what was acknowledged before it began
  unexpected  an answer that no fault explains

Each check returns sentences, one for each violation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import Callable, Iterable

from history import UNANSWERED, Call, History, View

SERVED_WITHIN_S = 15.0
FINAL = ("ack", "complete")
SETTLES = ("ack", "complete", "nack")
COMMITS = ("send", "store", "probe", "write", "ack", "complete", "nack")
OVER = ("acked", "completed")
# What a call may be answered with beside success: nothing (the node is gone), "not now", and what refuses a lease.
NOT_NOW = {UNANSWERED, 503}
REFUSED = {"send": {504}, "ack": {409}, "complete": {409}, "nack": {409}}

Key = tuple[str, str]


def of(calls: Iterable[Call], *verbs: str) -> list[Call]:
    return [call for call in calls if call.verb in verbs]


def accepted(calls: Iterable[Call], *verbs: str) -> list[Call]:
    return [call for call in of(calls, *verbs) if call.is_accepted]


def by_handoff(calls: Iterable[Call], *verbs: str) -> dict[Key, list[Call]]:
    found: dict[Key, list[Call]] = defaultdict(list)
    for call in of(calls, *verbs):
        found[call.space, call.id].append(call)
    return found


def leases(calls: Iterable[Call]) -> dict[Key, dict[int, list[Call]]]:
    """The receives that were answered with each lease."""
    found: dict[Key, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in accepted(calls, "receive"):
        for handoff, number in call.taken:
            found[call.space, handoff][number].append(call)
    return found


# --- Lost ---


def sent(calls: Iterable[Call]) -> dict[Key, Call]:
    """Every handoff that a sender knows of. One that was withdrawn in the end was made, too."""
    made = {(call.space, call.id): call for call in of(calls, "send") if call.id and (call.is_accepted or call.status == 504)}
    return made | {(call.space, name): call for call in calls for name in call.made}


def lost(calls: list[Call], views: list[View]) -> list[str]:
    wrong = []
    settles = by_handoff(calls, *FINAL)
    for view in views:
        for key, call in sent(calls).items():
            seen = view.handoffs.get(key)
            if seen is None:
                wrong.append(f"{key} was acknowledged to {call.client}, and {view.node} does not know it")
            else:
                wrong += [f"{key} {what}, says {view.node}" for what in unexplained(seen, call, settles[key])]
        for call in accepted(calls, "store", "probe"):
            seen_text = view.memories.get((call.space, call.id))
            if seen_text != call.value:
                wrong.append(f"{call.space}/{call.id} was stored as {call.value!r}, and is {seen_text!r} at {view.node}")
    return wrong


def unexplained(seen: dict[str, object], call: Call, settles: list[Call]) -> list[str]:
    """What is wrong with the state that a handoff has at the end."""
    state, result = seen["state"], seen.get("result")
    completed = [settle for settle in settles if settle.verb == "complete" and settle.is_accepted]
    acked = [settle for settle in settles if settle.verb == "ack" and settle.is_accepted]
    tried = [settle for settle in settles if settle.status != 409]
    if completed and (state != "completed" or result != completed[0].value):
        return [f"was completed with {completed[0].value!r}, and is {state} with {result!r}"]
    if acked and state not in OVER:
        return [f"was acked, and is {state}"]
    if state == "completed" and result not in [settle.value for settle in tried if settle.verb == "complete"]:
        return [f"is completed with {result!r}, which nobody said"]
    if state == "acked" and not any(settle.verb == "ack" for settle in tried):
        return ["is acked, and nobody acked it"]
    if state not in OVER and not (state == "expired" and call.is_waiting):
        return [f"is {state} at the end, and nobody was given it"]
    return []


# --- Settles ---


def settles(calls: list[Call], views: list[View]) -> list[str]:
    wrong = []
    given = leases(calls)
    for key, receives in given.items():
        for number, with_it in receives.items():
            if len(with_it) > 1:
                wrong.append(f"{key}.{number} was given to " + " and to ".join(call.client for call in with_it))
    for key, all_of_it in by_handoff(calls, *SETTLES).items():
        good = [call for call in all_of_it if call.is_accepted]
        final = {call.lease for call in good if call.verb in FINAL}
        if len(final) > 1:
            wrong.append(f"{key} was settled with the leases {sorted(final)}, and all were accepted")
        wrong += [f"{key}: {what}" for what in contradictions(good)]
        wrong += [f"{key}: {what}" for what in after_the_lease(good, given[key])]
    return wrong


def contradictions(good: list[Call]) -> list[str]:
    """Of one lease: it ends the work, or gives it back, and it completes with one result."""
    wrong = []
    for lease in {call.lease for call in good}:
        of_lease = [call for call in good if call.lease == lease]
        kinds = {call.verb in FINAL for call in of_lease}
        if len(kinds) > 1:
            wrong.append(f"lease {lease} was taken for a nack and for {'/'.join(FINAL)}")
        results = {call.value for call in of_lease if call.verb == "complete"}
        if len(results) > 1:
            wrong.append(f"lease {lease} completed it with {sorted(results)}")
    return wrong


def after_the_lease(good: list[Call], given: dict[int, list[Call]]) -> list[str]:
    wrong = []
    for call in good:
        newer = [n for n, with_it in given.items() if n > call.lease and any(r.ended_at < call.began_at for r in with_it)]
        if newer:
            wrong.append(f"{call.verb} of {call.client} with lease {call.lease} was accepted, though {newer[0]} was given out")
        if call.verb not in FINAL:
            continue
        again = [n for n, with_it in given.items() if any(r.began_at > call.ended_at for r in with_it)]
        if again:
            wrong.append(f"it was settled with lease {call.lease}, and then given out with {again[0]}")
    return wrong


# --- Duplicates ---


def duplicates(calls: list[Call], views: list[View]) -> list[str]:
    ids: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for call in of(calls, "send", "store", "probe"):
        if call.key and call.id:
            ids[call.space, call.verb, call.key].add(call.id)
    for call in accepted(calls, "publish"):
        ids[call.space, call.verb, call.key].add(" ".join(sorted(call.made)))
    wrong = [f"{key} was answered with {sorted(found)}" for key, found in ids.items() if len(found) > 1]
    for view in views:
        wrong += listed_twice(calls, view)
    return wrong


def listed_twice(calls: list[Call], view: View) -> list[str]:
    """What is in the lists of a space is what its clients know of, each once."""
    wrong = []
    for space, listed in view.listed_handoffs.items():
        known = {call.id for call in of(calls, "send") if call.space == space and call.id}
        known |= {name for call in calls if call.space == space for name in call.made}
        wrong += [f"{space}/{name} is listed {n} times by {view.node}" for name, n in Counter(listed).items() if n > 1]
        wrong += [f"{space}/{name} is listed by {view.node}, and nobody knows it" for name in set(listed) - known]
        wrong += [f"{space}/{name} is not listed by {view.node}" for name in known - set(listed)]
    for space, memories in view.listed_memories.items():
        count = Counter(content for _, content in memories)
        once = {call.value for call in accepted(calls, "store", "probe") if call.space == space}
        wrong += [f"{text!r} is {n} memories of {space} at {view.node}" for text, n in count.items() if n > 1 and text in once]
        wrong += [f"{text!r} of {space} is not listed by {view.node}" for text in once if text not in count]
    return wrong


# --- Chains ---


def chains(calls: list[Call], views: list[View]) -> list[str]:
    wrong = []
    handed: dict[Key, set[str]] = defaultdict(set)
    by: dict[Key, set[str]] = defaultdict(set)
    for call in accepted(calls, "complete"):
        if len(call.made) != call.hands_on:
            wrong.append(f"{call.space}/{call.id} was completed, and handed on as {call.made}")
        for name in call.made:
            handed[call.space, call.id].add(name)
            by[call.space, name].add(call.id)
    wrong += [f"{key} was handed on as {sorted(found)}" for key, found in handed.items() if len(found) > 1]
    wrong += [f"{key} was handed on from {sorted(found)}" for key, found in by.items() if len(found) > 1]
    for view in views:
        for key, seen in view.handoffs.items():
            told = {seen["handed_on"]} if seen and seen.get("handed_on") else set()
            if seen and told != handed.get(key, set()):
                wrong.append(f"{key} was handed on as {sorted(handed.get(key, set()))}, and {view.node} says {sorted(told)}")
    return wrong


# --- Joins ---


def joins(calls: list[Call], views: list[View]) -> list[str]:
    wrong = []
    published = {(call.space, call.id): call.made for call in accepted(calls, "publish")}
    completed = by_handoff(calls, "complete")
    for call in accepted(calls, "join"):
        receivers = published[call.space, call.id]
        tries = {name: [one for one in completed[call.space, name] if one.status != 409] for name in receivers}
        done = [name for name in receivers if any(one.is_accepted and one.ended_at < call.began_at for one in tries[name])]
        where = f"{call.space}/{call.id} through {call.node}"
        if call.value == "waiting" and len(done) == len(receivers):
            wrong.append(f"{where}: all had completed it, and the join waited")
        elif call.value not in ("waiting", "joined"):
            wrong.append(f"{where}: the join is {call.value}")
        elif call.value == "joined" and set(call.results) != set(receivers):
            wrong.append(f"{where}: joined with {sorted(call.results)}, of {sorted(receivers)}")
        wrong += [f"{where}: {name} is joined with {result!r}, which nobody had said" for name, result in call.results.items()
                  if result not in [one.value for one in tries.get(name, []) if one.began_at < call.ended_at]]
    return wrong


# --- Events ---


def events(calls: list[Call], views: list[View]) -> list[str]:
    followed: dict[tuple[str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for call in of(calls, "stream"):
        followed[call.client, call.space] += call.events
    wrong = []
    for (client, space), seen in followed.items():
        wrong += [f"{client} of {space} was given {late} after {early}" for early, late in zip(seen, seen[1:], strict=False)
                  if late[0] <= early[0]]
        for view in views:
            told = view.events.get(space, [])
            last = max((number for number, _, _ in told), default=0)
            missed, more = set(told) - set(seen), {event for event in seen if event[0] <= last} - set(told)
            wrong += [f"{client} of {space} was not given {event}, which {view.node} has" for event in sorted(missed)]
            wrong += [f"{client} of {space} was given {event}, which {view.node} has not" for event in sorted(more)]
    return wrong


# --- Order ---


def order(calls: list[Call], views: list[View]) -> list[str]:
    """By what the receivers saw, and by the numbers of the events of the first leases."""
    groups: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in accepted(calls, "send"):
        if call.group and not call.is_waiting:
            groups[call.space, call.group].append(call)
    given = leases(calls)
    wrong = []
    for (space, group), sends in groups.items():
        in_order = sorted({call.id: call for call in reversed(sends)}.values(), key=lambda call: call.ended_at)
        wrong += seen_out_of_order(f"{space}/{group}", [(call.id, given.get((space, call.id), {})) for call in in_order])
        for view in views:
            wrong += events_out_of_order(f"{space}/{group}", space, in_order, view)
    return wrong


def seen_out_of_order(where: str, sends: list[tuple[str, dict[int, list[Call]]]]) -> list[str]:
    """A later one was in somebody's hands before the call began that was given the earlier one, for the first time."""
    wrong = []
    soonest: tuple[float, str] = (float("inf"), "")
    for name, receives in reversed(sends):
        first = receives.get(1, [])
        if first and first[0].began_at > soonest[0]:
            wrong.append(f"{where}: {soonest[1]} was given out before {name}, which was sent before it")
        if first:
            soonest = min(soonest, (first[0].ended_at, name))
    return wrong


def events_out_of_order(where: str, space: str, sends: list[Call], view: View) -> list[str]:
    wrong = []
    highest = (0, "")
    for call in sends:
        seen = view.handoffs.get((space, call.id)) or {}
        number = int(seen.get("first_leased") or 0)
        if number and number < highest[0]:
            wrong.append(f"{where}: {highest[1]} was leased before {call.id}, which was sent before it, says {view.node}")
        highest = max(highest, (number, call.id))
    return wrong


# --- Served ---


def served_after(calls: list[Call], at: float) -> dict[tuple[str, str], float]:
    """When each node had first carried something out in each space, of what was asked of it since then."""
    found: dict[tuple[str, str], float] = {}
    for call in accepted(calls, *COMMITS):
        if call.began_at >= at:
            key = call.node, call.space
            found[key] = min(found.get(key, call.ended_at), call.ended_at)
    return found


def first_since(calls: list[Call], at: float) -> int:
    return bisect_left(calls, at, key=lambda call: call.began_at)


def served(history: History, spaces: list[str], ended_at: float) -> list[str]:
    wrong = []
    calls = sorted(history.calls, key=lambda call: call.began_at)
    for mark, until in zip(history.marks, [mark.at for mark in history.marks[1:]] + [ended_at]):
        limit = mark.at + SERVED_WITHIN_S
        within = calls[first_since(calls, mark.at):first_since(calls, until)]
        found = served_after(within, mark.at)
        for node in mark.nodes:
            for space in spaces:
                at = found.get((node, space))
                if (at is None and until >= limit) or (at is not None and at > limit):
                    after = "never" if at is None else f"only after {at - mark.at:.1f} s"
                    wrong.append(f"after '{mark.what}' {node} served {space} {after}")
        late = [call for call in within if call.began_at >= limit and call.ended_at < until
                and call.node in mark.nodes and call.status in NOT_NOW]
        wrong += [f"{call.began_at - mark.at:.1f} s after '{mark.what}' a {call.verb} in {call.space} through {call.node}"
                  f" was answered with {call.status} {call.code}" for call in late]
    return wrong


# --- Stale reads ---


def count_before(writes: list[Call], at: float, when: str) -> int:
    """The number that the last of these writes wrote before `at`. One writer made them, one after the other."""
    found = bisect_left(writes, at, key=lambda call: float(getattr(call, when)))
    return int(writes[found - 1].value) if found else 0


def stale(calls: list[Call], views: list[View]) -> list[str]:
    """One writer of a space counts up in one memory; everybody reads it. And what was stored can be looked up at once."""
    wrong = []
    writes: dict[str, list[Call]] = defaultdict(list)
    for call in of(calls, "write"):
        writes[call.space].append(call)
    done = {space: [call for call in of_space if call.is_accepted] for space, of_space in writes.items()}
    for call in accepted(calls, "read"):
        least = count_before(done.get(call.space, []), call.began_at, "ended_at")
        most = count_before(writes[call.space], call.ended_at, "began_at")
        if not least <= int(call.value) <= most:
            wrong.append(f"{call.client} read {call.value} in {call.space} through {call.node}, between {least} and {most}")
    for call in of(calls, "look"):
        if call.status == 404:
            wrong.append(f"{call.space}/{call.id} was acknowledged, and {call.node} then did not find it")
    return wrong


# --- All of it ---


def unexpected(calls: list[Call], views: list[View]) -> list[str]:
    return [f"{call.verb} of {call.client} in {call.space} through {call.node} was answered with {call.status} {call.code}"
            for call in calls if not call.is_accepted and call.status not in NOT_NOW | REFUSED.get(call.verb, set())
            and not (call.verb == "look" and call.status == 404) and not is_unknown(call)]


def is_unknown(call: Call) -> bool:
    """A commit of which nobody can say whether it happened: the key, or the lease, finds out."""
    return call.status == 500 and call.code == "outcome_unknown"


CHECKS: dict[str, Callable[[list[Call], list[View]], list[str]]] = {
    "lost": lost, "settles": settles, "duplicates": duplicates, "chains": chains, "joins": joins, "events": events,
    "order": order, "stale": stale, "unexpected": unexpected,
}


def check(history: History, views: list[View], spaces: list[str], ended_at: float) -> dict[str, list[str]]:
    """Violations by the name of the check; all names are there."""
    found = {name: function(history.calls, views) for name, function in CHECKS.items()}
    found["served"] = served(history, spaces, ended_at)
    return found
