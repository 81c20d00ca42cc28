"""The contract's cases with the Python client: run.py sync|async

Environment: PILLARBOX_PROXY (the proxy's URL), PILLARBOX_GATEWAY, PILLARBOX_KEY, PILLARBOX_INTEGRATION_KEY, PILLARBOX_CAMPAIGN,
PILLARBOX_CARD (a QR code), PILLARBOX_HOUSE (numbers of houses begin there). Prints how many cases passed.
"""

import asyncio
import inspect
import itertools
import json
import os
import re
import sys
import urllib.error
import urllib.request
import uuid
from datetime import date, timedelta
from pathlib import Path

import pillarbox
from pillarbox import AsyncClient, Client, RetryPolicy
from pillarbox.operations import OPERATIONS

PROXY = os.environ["PILLARBOX_PROXY"]
CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
#: What a client's wrappers hold, beside the service's own JSON.
WRAPPERS = (pillarbox.Answer, pillarbox.SentBatch, pillarbox.PushedBatch, pillarbox.SyncedContacts)
#: Letters of a value of which two fit into a request.
BIG = 2_000_000
#: Days from now to one for which mail may be sent.
LATER = 30
#: Times that a step is done until it brings what is expected, and seconds between them.
UNTIL, UNTIL_PAUSE = 100, 0.1
#: Operations that clients of other kinds call: phones and agents.
NOT_OURS = {"followQrCode", "lookUpQrCode", "callIntegrationsMcp", "callFormulasMcp"}


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.replace("-", "_")).lower().replace("__", "_")


def check_operations():
    """The client has a method for each operation, which takes each of its parameters."""
    for kind in (Client, AsyncClient):
        for name, operation in OPERATIONS.items():
            if name in NOT_OURS:
                continue
            method = getattr(kind, snake(name), None)
            assert method is not None, f"{kind.__name__} lacks {snake(name)}"
            taken = set(inspect.signature(method).parameters)
            for parameter in operation.parameters:
                if parameter == "validate":
                    assert hasattr(kind, re.sub("^[a-z]+_", "validate_", snake(name)).replace("_sync", "_complete")), name
                else:
                    # An id is called by what it is of, and a day so that it is no keyword.
                    noun = snake(name).rsplit("_", 1)[1]
                    assert {snake(parameter), f"{noun}_{parameter}", f"{parameter}_day"} & taken, f"{name} takes no {parameter}"


def call_proxy(path, body=None):
    request = urllib.request.Request(PROXY + path, data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def scan_card():
    """A phone opens the card's code."""
    try:
        urllib.request.build_opener(NoRedirect).open(f"{os.environ['PILLARBOX_GATEWAY']}/q/{os.environ['PILLARBOX_CARD']}")
    except urllib.error.HTTPError as answer:
        assert answer.code == 302, answer.code


def normalise(value):
    if isinstance(value, WRAPPERS):
        return {name: normalise(inner) for name, inner in vars(value).items()}
    if isinstance(value, list):
        return [normalise(item) for item in value]
    return value


def describe_error(error):
    names = ("code", "request_id", "status", "details", "may_be_done", "batch", "run_id", "attempts")
    return {"error": type(error).__name__, **{name: getattr(error, name) for name in names if hasattr(error, name)}}


def fill(value, known):
    """Puts values in the places of $names; a text that is nothing else becomes the value."""
    if isinstance(value, str):
        if value.startswith("$") and value[1:] in known:
            return known[value[1:]]
        return re.sub(r"\$(\w+)", lambda found: str(known.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [fill(item, known) for item in value]
    if isinstance(value, dict):
        return {name: fill(inner, known) for name, inner in value.items()}
    return value


def pick(value, path):
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def differs(found, expected, place="it"):
    """Where what was found lacks what is expected; "*" is anything that is there."""
    if expected == "*":
        return None if found is not None else f"{place} is nothing"
    if isinstance(expected, dict) and isinstance(found, dict):
        told = (differs(found.get(name), inner, f"{place}.{name}") for name, inner in expected.items())
        return next((one for one in told if one), None)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        told = (differs(one, other, f"{place}[{at}]") for at, (one, other) in enumerate(zip(found, expected)))
        return next((one for one in told if one), None)
    return None if found == expected and type(found) is type(expected) else f"{place}: {found!r} instead of {expected!r}"


class Runner:
    def __init__(self, kind):
        self.kind = kind

    def client(self, case):
        key = os.environ["PILLARBOX_INTEGRATION_KEY" if case.get("key") == "integration" else "PILLARBOX_KEY"]
        key = case["key"] if case.get("key", "").startswith("pk_") else key
        policy = RetryPolicy(tries=case.get("tries", 5), pause=0.01, look_up_pause=0.05, look_ups=case.get("look_ups", 60))
        return (AsyncClient if self.kind == "async" else Client)(PROXY, key, retry=policy)

    async def call(self, client, step):
        name, arguments = step["do"], step.get("with", {})
        if name == "scan_card":
            return scan_card()
        if name == "verify_webhook":
            return pillarbox.verify_webhook(arguments["body"].encode(), arguments["headers"], arguments["secret"], now=arguments["now"])
        given = getattr(client, name)(**arguments)
        if inspect.isawaitable(given):
            return await given
        if hasattr(given, "__anext__"):
            items = []
            async for item in given:
                items.append(item)
                if len(items) == step.get("take"):
                    await given.aclose()
                    break
            return items
        if hasattr(given, "__next__"):
            return list(itertools.islice(given, step.get("take")))
        return given

    async def run_case(self, case, known):
        call_proxy("/_faults", fill(case.get("faults", []), known))
        client = self.client(case)
        try:
            for at, step in enumerate(case["steps"]):
                step = fill(step, known)
                try:
                    found = normalise(await self.call(client, step))
                    for _ in range(UNTIL if step.get("until") else 0):
                        if differs(found, step["expect"]) is None:
                            break
                        await asyncio.sleep(UNTIL_PAUSE)
                        found = normalise(await self.call(client, step))
                except pillarbox.PillarboxError as error:
                    found = describe_error(error)
                for name, path in step.get("save", {}).items():
                    known[name] = pick(found, path)
                problem = differs(found, step["expect"]) if "expect" in step else None
                assert problem is None, f"step {at + 1}: {problem}; found {json.dumps(found)[:2000]}"
        finally:
            await client.aclose() if self.kind == "async" else client.close()
        if "seen" in case:
            seen = call_proxy("/_seen")
            problem = differs(seen, fill(case["seen"], known), "seen")
            assert problem is None, f"{problem}; seen {[(one['method'], one['path'], one['key']) for one in seen]}"
        if case.get("same_bytes"):
            posts = [(one["path"], one["key"], one["body"]) for one in call_proxy("/_seen") if one["method"] != "GET"]
            assert len(set(posts)) == 1, f"{len(set(posts))} different requests"


async def main():
    check_operations()
    runner, failures = Runner(sys.argv[1]), []
    house = int(os.environ["PILLARBOX_HOUSE"])
    for number, case in enumerate(CASES):
        known = {"campaign": os.environ["PILLARBOX_CAMPAIGN"], "run": uuid.uuid4().hex, "big": "x" * BIG}
        known["later"] = (date.today() + timedelta(days=LATER)).isoformat()
        known |= {f"house{at}": house + 10 * number + at for at in range(10)}
        try:
            await runner.run_case(case, known)
        except Exception as error:
            failures.append(f"{case['name']}: {type(error).__name__}: {error}")
    print(*failures, sep="\n")
    print(f"{len(CASES) - len(failures)} of {len(CASES)} cases passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
