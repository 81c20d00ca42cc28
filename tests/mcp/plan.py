"""Runs a plan against an MCP server through a client of the Python SDK; each version has a program of its own.

The plan is a JSON list on standard input; one JSON line for each of its steps goes to standard output:
    {"do": "initialize"}                             -> {"version": ..., "server": ..., "instructions": ...}
    {"do": "ping"}                                   -> {"pong": true}
    {"do": "list"}                                   -> {"tools": [...]}
    {"do": "call", "name": ..., "arguments": {...}}  -> {"isError": ..., "content": ..., "text": ...}
A step that fails gives {"error": {...}}; a connection that cannot be made gives one line, {"refused": "..."}.
"""

import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

# A step that takes longer is a failure: the servers answer within 25 seconds.
STEP_SECONDS = 40


@dataclass
class Connection:
    """One version's way to do each step."""

    initialized: dict[str, Any]
    ping: Callable[[], Awaitable[Any]]
    list_tools: Callable[[], Awaitable[list[str]]]
    call_tool: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


def url() -> str:
    return os.environ["MCP_URL"]


def headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {os.environ['MCP_KEY']}"}


def write(result: dict[str, Any]) -> None:
    print(json.dumps(result), flush=True)


def refused(error: BaseException) -> None:
    """Tells why there is no connection: the innermost reason of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    write({"refused": f"{type(error).__name__}: {error}"})


async def run(connection: Connection, error_type: type[Exception]) -> None:
    """Does every step; `error_type` is what the SDK raises for an error of JSON-RPC."""
    for step in json.load(sys.stdin):
        try:
            write(await do(connection, step))
        except error_type as error:
            write({"error": {"code": error.error.code, "message": error.error.message}})


async def do(connection: Connection, step: dict[str, Any]) -> dict[str, Any]:
    match step["do"]:
        case "initialize":
            return connection.initialized
        case "ping":
            await connection.ping()
            return {"pong": True}
        case "list":
            return {"tools": await connection.list_tools()}
        case "call":
            return await connection.call_tool(step["name"], step["arguments"])
        case other:
            raise ValueError(f"no such step: {other}")
