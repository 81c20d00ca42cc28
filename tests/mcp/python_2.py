"""Runs a plan through the Python SDK of version 2; see plan.py."""

import asyncio
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

import plan


async def main() -> None:
    try:
        async with httpx2.AsyncClient(headers=plan.headers(), timeout=plan.STEP_SECONDS) as http:
            transport = streamable_http_client(plan.url(), http_client=http)
            async with Client(transport, read_timeout_seconds=plan.STEP_SECONDS) as client:
                await plan.run(connect(client), MCPError)
    except Exception as error:
        plan.refused(error)


def connect(client: Client) -> plan.Connection:
    async def list_tools() -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    async def call_tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        return {"isError": result.is_error, "content": result.structured_content, "text": result.content[0].text}

    return plan.Connection(
        initialized={
            "version": client.protocol_version,
            "server": client.server_info.name,
            "instructions": client.instructions,
        },
        ping=client.send_ping,
        list_tools=list_tools,
        call_tool=call_tool,
    )


asyncio.run(main())
