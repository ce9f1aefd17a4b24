"""What schemathesis is told beside the document: calls that may wait do not, so that ten thousand take minutes. And the
key that it calls with stays valid: were it revoked or rotated, all that follows would be refused at the door."""

import schemathesis


OWN_KEY = "key-1"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if case.path.startswith("/v1/keys/") and (case.path_parameters or {}).get("id") == OWN_KEY and case.method != "GET":
        case.path_parameters["id"] = "key-2"
    for part in (case.body, case.query):
        for name in ("wait_s", "deadline_s"):
            if isinstance(part, dict) and name in part:
                part[name] = 0 if part is case.body else "0"
