"""Random use of a whole server by two tenants with keys, made from its own description.

Every operation of /openapi.json and every tool of MCP is called with arguments that its schema allows, with keys of all
kinds that a space can have, made before or by the calls themselves. Whatever a tenant writes holds its marker. Names of
agents, tasks, channels and routes, Idempotency-Keys, ids, leases, page tokens, MCP sessions and rows of the one are tried by the
other, and so is its space. So whatever is answered to one tenant and holds the marker of the other has crossed over.
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
# These are of the whole server, for whoever runs it: no key of a space is given them.
OF_ALL_SPACES = {"listSpaces", "metrics", "readCluster"}
# What a key of a space can be, and how often each is used.
ROLES = {
    "admin": (12, {"scopes": ["admin"]}),
    "writer": (3, {"scopes": ["read", "write"]}),
    "receiver": (3, {"scopes": ["read", "receive"]}),
    "worker": (3, {"scopes": ["read", "write", "receive"], "agent": "worker"}),
    "outsider": (1, {"scopes": ["write"], "trust": "external"}),
}
MADE, COOKIE = 0.06, 0.05  # the shares of calls with a key that a call has made, and with a cookie that stands for one
# 5xx that are answers: a breaker that is open, an ack that did not come in time.
EXPLAINED = (b'"code":"circuit_open"', b'"code":"ack_timeout"')
STREAMS = {"streamHandoffs", "watchEvents"}
RARE = {"deleteSpace": 0.01, "purge": 0.2, "setSpace": 0.3, "discardMany": 0.2, "cancelMany": 0.2, "openapi": 0.02,
        "readSchema": 0.1, "deleteAgent": 0.3, "streamHandoffs": 0.2, "watchEvents": 0.4, "exportRows": 0.2, "quarantine": 0.3}
OFTEN = {"storeMemory": 6, "handOff": 5, "deliver": 5, "receive": 6, "complete": 4, "ack": 3, "listMemories": 4}
SHARED_NAMES = ["worker", "reviewer", "planner", "shared-1", "shared-2"]
ID = re.compile(rb'"((ms|env|ho|al|key)-[0-9]+)(?:@[0-9]+)?"')
SECRET = re.compile(rb"spk_[0-9]+_[A-Za-z0-9_-]{43}")
SESSION = re.compile(rb"spine_session=([^;\s]+)")
LEASE = re.compile(rb'"(ho-[0-9]+\.[0-9]+)"')
NEXT = re.compile(rb'"next_page_token":"([^"]+)"')
WORDS = "gateway retry the budget of a payment was lost when it failed twice in production".split()


class KeyedMcp(Mcp):
    """A client that shows a key."""

    def __init__(self, address, key, agent, version):
        super().__init__(address, None, agent, version)
        self.key = key

    def headers(self, method, params):
        return {**super().headers(method, params), "Authorization": f"Bearer {self.key}"}


class Tenant:
    """One of the two, with what it has learned."""

    def __init__(self, keyed, space, marker, rng):
        self.api = Api(keyed.address, None)
        self.keyed, self.space, self.marker, self.rng = keyed, space, marker, rng
        self.ids = {"ms": ["ms-1"], "env": ["env-1"], "ho": ["ho-1"], "al": ["al-1"], "key": ["key-1"]}
        self.leases = ["ho-1.1"]
        self.tokens = {}  # operation: page tokens
        self.other = None
        self.rows = {}
        self.own, self.own_ids = {}, set()  # keys by their role; they stay
        self.made, self.cookies = [], []  # keys that calls have made, and what stands for one
        self.secrets = set()
        self.clients, self.mcp_tasks = [], []
        self.renew()

    def renew(self):
        """Has a key of each role: at the beginning, and where keys have ended with its space."""
        if self.own and self.has_all_keys():
            return
        for role, (_, fields) in ROLES.items():
            made = self.keyed.make(self.keyed.root, name=f"{self.marker} {role}", space=self.space, **fields)
            self.own[role] = made["key"]
            self.own_ids.add(made["id"])
            self.secrets.add(made["key"].encode())
        self.clients = [KeyedMcp(self.api.address, key, None if role == "worker" else f"{self.marker}-mcp", version)
                        for role, key in self.own.items() for version in (MODERN, LEGACY)]
        for client in self.clients:
            if client.version == LEGACY:
                client.initialize()

    def who(self):
        """The headers that prove who asks, and which kind of proof that is."""
        chance, rng = self.rng.random(), self.rng
        if chance < MADE and self.made:
            return "made", {"Authorization": f"Bearer {rng.choice(self.made)}"}
        if chance < MADE + COOKIE and self.cookies:
            return "cookie", {"Cookie": f"spine_session={rng.choice(self.cookies)}", "Sec-Fetch-Site": "same-origin"}
        role = rng.choices(list(ROLES), [weight for weight, _ in ROLES.values()])[0]
        return role, {"Authorization": f"Bearer {self.own[role]}"}

    def forget(self, proof):
        """A key or a cookie that a call has ended."""
        self.made = [key for key in self.made if key not in proof.get("Authorization", "")]
        self.cookies = [cookie for cookie in self.cookies if cookie not in proof.get("Cookie", "")]

    def has_all_keys(self):
        """The keys that it was given are as they were, whatever the other has tried."""
        known = [self.keyed.ask("GET", "/v1/session", key=key).json["key"] for key in self.own.values()]
        return all(key and key["space"] == self.space for key in known)

    def words(self, count=6):
        return f"{self.marker} " + " ".join(self.rng.choice(WORDS) for _ in range(count))

    def name(self):
        return self.rng.choice([*SHARED_NAMES, f"{self.marker}-{self.rng.randrange(4)}"])

    def id(self, kind):
        chance = self.rng.random()
        if chance < 0.7:
            return self.rng.choice([one for one in self.ids[kind] if one not in self.own_ids] or [f"{kind}-999"])
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
        for match in SECRET.finditer(data) if operation in ("createKey", "rotateKey") else ():
            self.secrets.add(match.group())
            self.made = self.made[-20:] + [match.group().decode()]
        for match in SESSION.finditer(data) if operation == "openSession" else ():
            self.cookies = self.cookies[-5:] + [match.group(1).decode()]


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
            return self.rng.choice([0, 0.01, 1]) if name in ("wait_s",) else max(schema.get("minimum", 0), 1)
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
            if method in methods:
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
        self.counts, self.statuses = {}, {}
        self.said = ""  # the request under way, without what proves who asks
        self.first = self.rng.sample(self.names, len(self.names))  # each once, then by chance

    # --- HTTP

    def path_of(self, path, name):
        tenant = self.tenant
        kinds = {"/v1/memories": "ms", "/v1/envelopes": "env", "/v1/handoffs": "ho", "/v1/parked": "ho", "/v1/alerts": "al",
                 "/v1/keys": "key"}
        kind = next((kind for prefix, kind in kinds.items() if path.startswith(prefix)), None)
        if name == "other":
            return tenant.id("env")
        if path.startswith("/v1/spaces/"):
            return tenant.space if self.rng.random() < 0.5 else tenant.other.space
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
            query = [f"confirm={address.rsplit('/', 1)[1]}"]
        if rng.random() < 0.4:
            headers["Spine-Space"] = tenant.space if rng.random() < 0.9 else tenant.other.space
        return method, address + ("?" + "&".join(query) if query else ""), self.body(operation, described), headers

    def body(self, operation, described):
        content = described.get("requestBody", {}).get("content", {})
        if not content or (not described["requestBody"].get("required") and self.rng.random() < 0.3):
            return None
        if operation == "importRows":
            return self.rows()
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
            body = {name: value for name, value in body.items() if name != "keep_idle_s"
                    and (not name.startswith("quota_") or rng.random() < 0.1)}
        if operation == "createKey":
            body["space"] = rng.choice([tenant.space] * 8 + [tenant.other.space, "*"])
            body["trust"] = rng.choice(["agent", "external"])
            body["scopes"] = rng.choice([["read", "write", "receive"], ["read"], ["receive"], ["admin"], ["read", "write"]])
            body.pop("expires_at", None)
            body.update({"ttl_s": 60} if rng.random() < 0.2 else {})
            if body["scopes"] == ["admin"] and rng.random() < 0.9:
                body.pop("agent", None)
        if operation == "openSession":
            body = {"key": rng.choice([*tenant.own.values(), *tenant.made])}
        return body

    def rows(self):
        """Rows of an export to be imported: one's own or, in one's own words, the other's, and some of them changed."""
        tenant, rng = self.tenant, self.rng
        text = json.dumps(tenant.rows if rng.random() < 0.6 else tenant.other.rows)
        rows = json.loads(text.replace(tenant.other.marker, tenant.marker))
        parts = [part for part in rows.values() if part]
        while parts and rng.random() < 0.6:
            part = rng.choice(parts)
            row = rng.choice(part)
            name = rng.choice(list(row))
            change = rng.random()
            if change < 0.2:
                del row[name]
            elif change < 0.3:
                part.append(dict(row))
            elif change < 0.4:
                part.remove(row)
            elif change < 0.5:
                row["id"] = tenant.id(rng.choice(["ms", "env", "ho"]))
            else:
                row[name] = rng.choice([None, 0, 1, -1, 2**53, 2**63, 0.5, "", "x", "{}", "[]", [], {}, True, "ms-1", tenant.space,
                                        tenant.other.space, tenant.name()])
            parts = [part for part in rows.values() if part]
        return rows

    def http(self, operation):
        """Who asked, the status, and every byte of the answer."""
        method, path, body, headers = self.request(operation)
        who, proof = self.tenant.who()
        self.said = f"{method} {path} {headers} {json.dumps(body)} as {who}"
        if operation in STREAMS:
            status, data = self.stream(path, {**headers, **proof})
        else:
            answer = self.tenant.api.call(method, path, body, {**headers, **proof})
            status, data = answer.status, str(answer.headers).encode() + answer.data
            if operation == "exportRows" and status == 200:
                self.tenant.rows = {part: rows[:20] for part, rows in answer.json.items() if isinstance(rows, list)}
        if status == 401 and operation != "openSession":
            assert who in ("made", "cookie"), f"the key of a {who} was refused: {data!r}"
            self.tenant.forget(proof)
        if operation == "deleteSpace" and status == 200:
            self.tenant.renew()
        self.check_space(operation, headers.get("Spine-Space"), path, status, data)
        return status, data

    def check_space(self, operation, named, path, status, data):
        """Whoever names the other's space, or all, is refused, whatever is asked."""
        is_open = self.operations[operation][3].get("x-spine-scope", "open") == "open"
        other = self.tenant.other.space
        names_other = named == other or path.startswith(f"/v1/spaces/{other}") or "space=all" in path
        if status < 300 and not is_open:
            assert not names_other and operation not in OF_ALL_SPACES, f"it was let into another space: {data!r}"

    def stream(self, path, headers):
        """What a stream has to say at once."""
        connection = http.client.HTTPConnection(*self.tenant.api.address, timeout=5)
        status, data = 0, b""
        try:
            connection.request("GET", path, headers={"Accept": "text/event-stream", **headers})
            response = connection.getresponse()
            status = response.status
            connection.sock.settimeout(0.02) if connection.sock else None
            while chunk := response.read1(65536):
                data += chunk
        except (socket.timeout, OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        assert status, "a stream was not answered"
        return status, data

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
        headers = {"Spine-Space": rng.choice([None, None, tenant.space, tenant.other.space]) if rng.random() < 0.2 else None}
        if client.session and rng.random() < 0.02:
            headers["Mcp-Session-Id"] = rng.choice([one.session for one in tenant.other.clients if one.session])
        self.said = f"{method} {json.dumps(params)} {headers} by MCP {client.version}"
        answer = client.call(method, params, headers=headers)
        assert answer.status == 404 or "Mcp-Session-Id" not in headers, f"it was given another's session: {answer}"
        tenant.mcp_tasks += re.findall(r'"taskId":"([^"]+)"', answer.data.decode(errors="replace"))[:1]
        tenant.mcp_tasks = tenant.mcp_tasks[-20:]
        return f"mcp {params.get('name') or method}", answer.status, str(answer.headers).encode() + answer.data

    # --- One

    def once(self):
        """One call, and what must not be in any answer."""
        if self.rng.random() < 0.2:
            name, status, data = self.mcp()
        else:
            name = self.first.pop() if self.first else self.rng.choices(self.names, self.weights)[0]
            status, data = self.http(name)
        self.counts[name] = self.counts.get(name, 0) + 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
        assert not is_failure(status, data), f"the server failed, {status}: {data[:2000]!r}"
        assert self.tenant.other.marker.encode() not in data, f"something has crossed over: {data[:3000]!r}"
        self.tenant.learn(name, data)
        foreign = set(SECRET.findall(data)) - self.tenant.secrets
        assert not foreign, f"a key has crossed over: {data[:3000]!r}"
        return name


def is_failure(status, data):
    """5xx, or what MCP says instead, that is no answer of its own."""
    if status < 500:
        return b'"code":-32603' in data or b'"text":"internal:' in data or b'"text":"outcome_unknown' in data
    return not any(one in data for one in EXPLAINED)


def quote(value):
    return urllib.parse.quote(str(value).lower() if isinstance(value, bool) else str(value))


def two_tenants(keyed, seed):
    """Both, with the same document and chances that a seed repeats."""
    rng = random.Random(seed)
    left = Tenant(keyed, "left", "zqalpha", random.Random(rng.random()))
    right = Tenant(keyed, "right", "zqbravo", random.Random(rng.random()))
    left.other, right.other = right, left
    document = json.loads(left.api.call("GET", "/openapi.json").data)
    return rng, Random(left, document), Random(right, document)
