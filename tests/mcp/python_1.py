"""Runs a plan through the Python SDK of version 1; see plan.py."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client

import plan


async def main() -> None:
    try:
        async with (
            httpx.AsyncClient(headers=plan.headers(), timeout=plan.STEP_SECONDS) as http,
            streamable_http_client(plan.url(), http_client=http) as (read, write, _),
            ClientSession(read, write, read_timeout_seconds=timedelta(seconds=plan.STEP_SECONDS)) as session,
        ):
            initialized = await session.initialize()
            await plan.run(connect(session, initialized), McpError)
    except Exception as error:
        plan.refused(error)


def connect(session: ClientSession, initialized: Any) -> plan.Connection:
    async def list_tools() -> list[str]:
        return [tool.name for tool in (await session.list_tools()).tools]

    async def call_tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await session.call_tool(name, arguments)
        return {"isError": result.isError, "content": result.structuredContent, "text": result.content[0].text}

    return plan.Connection(
        initialized={
            "version": initialized.protocolVersion,
            "server": initialized.serverInfo.name,
            "instructions": initialized.instructions,
        },
        ping=session.send_ping,
        list_tools=list_tools,
        call_tool=call_tool,
    )


asyncio.run(main())
