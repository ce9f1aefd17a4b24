"""Random use of a whole server by two tenants, made from its own description.

Every operation of /openapi.json and every tool of MCP is called with arguments that its schema allows. Whatever a tenant
writes holds its marker. Names of agents, tasks, channels and routes, Idempotency-Keys, ids, leases and page tokens of the
one are tried by the other. So whatever is answered to one tenant and holds the marker of the other has crossed over.
"""

import http.client
import json
import random
import re
import socket
import urllib.parse

from api import Api
from mcp import LEGACY, MODERN, Mcp

METHODS = ("get", "put", "post", "patch", "delete")
# These are of the whole server, for whoever runs it.
OF_ALL_SPACES = {"listSpaces", "metrics"}
# The first key closes the server to whoever has none; test_access_matrix.py has what keys keep apart.
CLOSES = {"createKey"}
STREAMS = {"streamHandoffs", "watchEvents"}
RARE = {"deleteSpace": 0.01, "purge": 0.2, "setSpace": 0.3, "discardMany": 0.2, "cancelMany": 0.2, "openapi": 0.02,
        "readSchema": 0.1, "deleteAgent": 0.3, "streamHandoffs": 0.2, "watchEvents": 0.4, "exportRows": 0.2, "quarantine": 0.3}
OFTEN = {"storeMemory": 6, "handOff": 5, "deliver": 5, "receive": 6, "complete": 4, "ack": 3, "listMemories": 4}
SHARED_NAMES = ["worker", "reviewer", "planner", "shared-1", "shared-2"]
ID = re.compile(rb'"((ms|env|ho|al)-[0-9]+)(?:@[0-9]+)?"')
LEASE = re.compile(rb'"(ho-[0-9]+\.[0-9]+)"')
NEXT = re.compile(rb'"next_page_token":"([^"]+)"')
WORDS = "gateway retry the budget of a payment was lost when it failed twice in production".split()


class Tenant:
    """One of the two, with what it has learned."""

    def __init__(self, address, space, marker, rng):
        self.api = Api(address, space)
        self.space, self.marker, self.rng = space, marker, rng
        self.ids = {"ms": ["ms-1"], "env": ["env-1"], "ho": ["ho-1"], "al": ["al-1"]}
        self.leases = ["ho-1.1"]
        self.tokens = {}  # operation: page tokens
        self.other = None
        self.rows = {}
        self.clients = [Mcp(address, space, f"{marker}-mcp", version) for version in (MODERN, LEGACY)]
        self.clients[1].initialize()
        self.mcp_tasks = []

    def words(self, count=6):
        return f"{self.marker} " + " ".join(self.rng.choice(WORDS) for _ in range(count))

    def name(self):
        return self.rng.choice([*SHARED_NAMES, f"{self.marker}-{self.rng.randrange(4)}"])

    def id(self, kind):
        chance = self.rng.random()
        if chance < 0.7:
            return self.rng.choice(self.ids[kind])
        return self.rng.choice(self.other.ids[kind]) if chance < 0.9 else f"{kind}-{self.rng.randrange(10**6, 10**7)}"

    def lease(self):
        return self.rng.choice(self.leases if self.rng.random() < 0.8 else self.other.leases)

    def learn(self, operation, data):
        for match in ID.finditer(data):
            known = self.ids[match.group(2).decode()]
            if len(known) < 400:
                known.append(match.group(1).decode())
            else:
                known[self.rng.randrange(400)] = match.group(1).decode()
        for match in LEASE.finditer(data):
            self.leases = self.leases[-40:] + [match.group(1).decode()]
        for match in NEXT.finditer(data):
            self.tokens.setdefault(operation, [])[-20:] = [match.group(1).decode()]


class Maker:
    """Values for a schema, in the words of a tenant."""

    def __init__(self, document, tenant):
        self.document, self.tenant, self.rng = document, tenant, tenant.rng

    def resolve(self, schema):
        while "$ref" in schema:
            if not schema["$ref"].startswith("#/"):
                return {}
            at = self.document
            for piece in schema["$ref"][2:].split("/"):
                at = at[piece.replace("~1", "/")]
            schema = at
        return schema

    def string(self, schema, name):
        rng, tenant = self.rng, self.tenant
        if "enum" in schema:
            return rng.choice([word for word in schema["enum"] if word is not None])
        pattern = schema.get("pattern", "")
        for kind in ("ms", "env", "al"):
            if f"^{kind}-" in pattern or (name in ("ids", "refs") and kind == "ms"):
                return tenant.id(kind)
        if name == "lease":
            return tenant.lease()
        if "ho-" in pattern:
            return tenant.id("ho")
        if name in ("to", "from", "agent", "target_agent", "by", "actor", "reroute_to", "move_to", "receivers", "name",
                    "fallbacks", "instance", "step", "subscriber"):
            return tenant.name()
        if name in ("task", "task_id") or (name == "id" and not pattern):
            return tenant.name()
        if name == "key":
            return "shared-key"
        if schema.get("format") == "date-time" or name in ("since", "before", "until"):
            return rng.choice(["2020-01-01T00:00:00Z", "2031-01-01T00:00:00Z"])
        return tenant.words()[:schema.get("maxLength", 200)]

    def number(self, schema, name):
        if name.endswith("_s") or name in ("wait_s",):
            return self.rng.choice([0, 0.01, 1, 5]) if name in ("wait_s",) else max(schema.get("minimum", 0), 1)
        if name in ("quota_memories", "quota_bytes", "quota_agents", "quota_waiting", "quota_handoffs_per_minute"):
            return 0
        low, high = schema.get("minimum", 0), schema.get("maximum", 50)
        return self.rng.randint(int(low), int(min(high, low + 50)))

    def value(self, schema, name="", depth=0):
        schema = self.resolve(schema)
        for many in ("anyOf", "oneOf"):
            if many in schema:
                schema = {**schema, **self.resolve(self.rng.choice(schema[many]))}
        if "const" in schema:
            return schema["const"]
        kinds = schema.get("type", "string" if "enum" in schema else "object")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        kind = self.rng.choice([one for one in kinds if one != "null"] or ["null"])
        if kind == "string":
            return self.string(schema, name)
        if kind in ("integer", "number"):
            number = self.number(schema, name)
            return int(number) if kind == "integer" else number
        if kind == "boolean":
            return self.rng.random() < 0.3
        if kind == "array":
            count = max(schema.get("minItems", 0), self.rng.randint(0, 3))
            return [self.value(schema.get("items", {"type": "string"}), name, depth + 1) for _ in range(count)]
        if kind == "null":
            return None
        return self.object(schema, depth)

    def object(self, schema, depth):
        required = schema.get("required", [])
        made = {}
        for name, member in schema.get("properties", {}).items():
            if name in ("webhook", "id") and depth == 0:
                continue
            if name in required or self.rng.random() < (0.35 if depth < 3 else 0.05):
                made[name] = self.value(member, name, depth + 1)
        if not schema.get("properties"):
            made[self.tenant.marker] = self.tenant.words(2)
        return made


def operations(document):
    found = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods and methods[method]["operationId"] not in CLOSES:
                parameters = methods[method].get("parameters", []) + methods.get("parameters", [])
                found[methods[method]["operationId"]] = (method.upper(), path, parameters, methods[method])
    return found


class Random:
    """The calls of one tenant."""

    def __init__(self, tenant, document):
        self.tenant, self.rng = tenant, tenant.rng
        self.maker = Maker(document, tenant)
        self.operations = operations(document)
        self.names = list(self.operations)
        self.weights = [OFTEN.get(name, RARE.get(name, 1)) for name in self.names]
        self.tools = tenant.clients[0].ok("tools/list")["tools"]
        self.counts, self.statuses, self.failures = {}, {}, []
        self.first = self.rng.sample(self.names, len(self.names))  # each once, then by chance

    # --- HTTP

    def path_of(self, path, name):
        tenant = self.tenant
        kinds = {"/v1/memories": "ms", "/v1/envelopes": "env", "/v1/handoffs": "ho", "/v1/parked": "ho", "/v1/alerts": "al"}
        kind = next((kind for prefix, kind in kinds.items() if path.startswith(prefix)), None)
        if name == "other":
            return tenant.id("env")
        if path.startswith("/v1/spaces/"):
            return tenant.space
        if path.startswith("/v1/schemas/"):
            return "envelope-2.json"
        return tenant.id(kind) if name == "id" and kind else tenant.name()

    def request(self, operation):
        method, path, parameters, described = self.operations[operation]
        tenant, rng, headers, query = self.tenant, self.rng, {}, []
        address = re.sub(r"{(\w+)}", lambda match: self.path_of(path, match.group(1)), path)
        for parameter in parameters:
            parameter = self.maker.resolve(parameter)
            name, place = parameter["name"], parameter["in"]
            if name == "space":
                continue  # all: for whoever runs the server
            if place == "query" and (parameter.get("required") or rng.random() < 0.25):
                if name == "page_token":
                    tokens = tenant.tokens.get(operation, []) + tenant.other.tokens.get(operation, [])
                    value = rng.choice(tokens) if tokens else "none"
                else:
                    value = self.maker.value(parameter.get("schema", {}), name)
                value = value[0] if isinstance(value, list) and value else value
                query.append(f"{name}={quote(value)}")
        names = {self.maker.resolve(parameter)["name"] for parameter in parameters}
        if "Spine-Agent" in names and rng.random() < 0.6:
            headers["Spine-Agent"] = tenant.name()
        if "Spine-Person" in names:
            headers["Spine-Person"] = f"{tenant.marker}-person"
        if "Idempotency-Key" in names and rng.random() < 0.3:
            headers["Idempotency-Key"] = f"key-{rng.randrange(300)}"
        if operation == "deleteSpace":
            query = [f"confirm={tenant.space}"]
        return method, address + ("?" + "&".join(query) if query else ""), self.body(operation, described), headers

    def body(self, operation, described):
        content = described.get("requestBody", {}).get("content", {})
        if not content or (not described["requestBody"].get("required") and self.rng.random() < 0.3):
            return None
        if operation == "importRows":
            return self.tenant.rows or {}
        body = self.maker.value(content["application/json"]["schema"])
        return self.mend(operation, body)

    def mend(self, operation, body):
        """What a schema cannot say, so that most calls get past the first check."""
        tenant, rng = self.tenant, self.rng
        if operation == "handOff" and "task_summary" not in body and "target_agent" not in body and rng.random() < 0.7:
            body = {"target_agent": tenant.name(), "task_summary": f"{tenant.words()} {tenant.id('ms')}", "from": tenant.name(),
                    "task": tenant.name(), "state": tenant.words(), "constraints": {"shared-key": tenant.words(1)}}
        if operation == "deliver":
            body = {"envelope_id": tenant.id("env"), "to": tenant.name(), **({"wait_s": 0.01} if rng.random() < 0.1 else {})}
        if operation == "receive":
            body = {"max": 2, "lease_s": rng.choice([1, 60]), "wait_s": rng.choice([0, 0, 0.01]),
                    "format": rng.choice(["both", "prompt", "none"])}
        if operation == "setSpace":
            body.pop("keep_idle_s", None)
        return body

    def http(self, operation):
        method, path, body, headers = self.request(operation)
        if operation in STREAMS:
            return self.stream(path, headers)
        answer = self.tenant.api.call(method, path, body, headers)
        if operation == "exportRows" and answer.status == 200:
            self.tenant.rows = {part: rows[:20] for part, rows in answer.json.items() if isinstance(rows, list)}
        return answer.status, str(answer.headers).encode() + answer.data

    def stream(self, path, headers):
        """What a stream has to say at once."""
        connection = http.client.HTTPConnection(*self.tenant.api.address, timeout=0.02)
        data = b""
        try:
            connection.request("GET", path, headers={"Spine-Space": self.tenant.space, "Accept": "text/event-stream", **headers})
            connection.sock.settimeout(5)
            response = connection.getresponse()
            connection.sock.settimeout(0.02) if connection.sock else None
            while chunk := response.read1(65536):
                data += chunk
        except (socket.timeout, OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        return 200, data

    # --- MCP

    def mcp(self):
        tenant, rng = self.tenant, self.rng
        client = rng.choice(tenant.clients)
        method = rng.choice(["tools/call"] * 12 + ["resources/list", "resources/read", "resources/templates/list", "prompts/list",
                                                    "prompts/get", "tasks/get", "tasks/cancel", "tools/list", "ping"])
        params = {}
        if method == "tools/call":
            tool = rng.choice(self.tools)
            arguments = self.maker.value(tool["inputSchema"])
            if "wait_s" in tool["inputSchema"].get("properties", {}):
                arguments["wait_s"] = 0
            params = {"name": tool["name"], "arguments": arguments}
            if rng.random() < 0.05 and tool["name"].startswith("handoff"):
                params["task"] = {"ttl": 1000}
        elif method == "resources/read":
            kind, scheme = rng.choice([("ms", "memory"), ("env", "envelope"), ("ho", "handoff")])
            params = {"uri": f"spine://{scheme}/{tenant.id(kind)}"}
        elif method == "prompts/get":
            params = {"name": rng.choice(["handoff", "continue", "receive"]), "arguments": {"agent": tenant.name()}}
        elif method.startswith("tasks/"):
            tasks = tenant.mcp_tasks + tenant.other.mcp_tasks
            params = {"taskId": rng.choice(tasks) if tasks else "none"}
        answer = client.call(method, params)
        tenant.mcp_tasks += re.findall(r'"taskId":"([^"]+)"', answer.data.decode(errors="replace"))[:1]
        tenant.mcp_tasks = tenant.mcp_tasks[-20:]
        return f"mcp {params.get('name') or method}", answer.status, str(answer.headers).encode() + answer.data

    # --- One

    def once(self):
        """One call: its name, and every byte that was answered, unless it is of all spaces."""
        if self.rng.random() < 0.2:
            name, status, data = self.mcp()
        else:
            name = self.first.pop() if self.first else self.rng.choices(self.names, self.weights)[0]
            status, data = self.http(name)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.statuses[status // 100] = self.statuses.get(status // 100, 0) + 1
        if status == 500:
            self.failures.append((name, data[:2000]))
        self.tenant.learn(name, data)
        return name, b"" if name in OF_ALL_SPACES else data


def quote(value):
    return urllib.parse.quote(str(value).lower() if isinstance(value, bool) else str(value))


def two_tenants(address, seed):
    """Both, with the same document and chances that a seed repeats."""
    rng = random.Random(seed)
    left = Tenant(address, "left", "zqalpha", random.Random(rng.random()))
    right = Tenant(address, "right", "zqbravo", random.Random(rng.random()))
    left.other, right.other = right, left
    document = json.loads(left.api.call("GET", "/openapi.json").data)
    return rng, Random(left, document), Random(right, document)
