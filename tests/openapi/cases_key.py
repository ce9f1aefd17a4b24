"""The key that cases.sh calls with: `make URL` makes it and prints it, `check URL` fails where SPINE_KEY is not let in."""

import json
import os
import sys
import urllib.request

what, url = sys.argv[1:]
if what == "make":
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{url}/v1/keys", b'{"name":"cases"}', headers)
else:
    asked = urllib.request.Request(f"{url}/v1/status", headers={"Authorization": f"Bearer {os.environ['SPINE_KEY']}"})
with urllib.request.urlopen(asked, timeout=30) as answer:
    told = json.load(answer)
if what == "make":
    print(told["key"])
