"""What schemathesis is told beside the document: calls that may wait do not, so that ten thousand take minutes."""

import schemathesis


@schemathesis.hook
def before_call(ctx, case, kwargs):
    for part in (case.body, case.query):
        for name in ("wait_s", "deadline_s"):
            if isinstance(part, dict) and name in part:
                part[name] = 0 if part is case.body else "0"
