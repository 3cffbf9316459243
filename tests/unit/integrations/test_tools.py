"""Tools for assistants: LangChain, and the Model Context Protocol with its own client."""

import asyncio
import os
import sys
from typing import Any

import pytest

import emoscope

TURNS = ["how are you", "I hate you, shut up"]


def test_the_langchain_tool() -> None:
    pytest.importorskip("langchain_core", reason="the tool is LangChain's")
    from emoscope.langchain import emotion_tool

    tool = emotion_tool("nano")
    assert tool.name == "detect_emotion"
    assert set(tool.args) == {"turns"}
    assert tool.invoke({"turns": TURNS}) == emoscope.load("nano").detect(TURNS).as_dict()


def test_the_mcp_server_with_the_reference_client() -> None:
    pytest.importorskip("mcp", reason="the client comes with the protocol's package")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = ["-c", "from emoscope.cli.main import run; run()", "mcp", "--model", "nano"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))

    async def talk() -> tuple[set[str], list[Any]]:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            assert f'"version":"{emoscope.__version__}"' in (await session.initialize()).model_dump_json()
            names = {tool.name for tool in (await session.list_tools()).tools}
            calls = [("detect_emotion", {"turns": TURNS}), ("emotion_timeline", {"turns": TURNS})]
            calls += [("explain_emotion", {"turns": TURNS}), ("detect_emotion", {"turns": []})]
            return names, [await session.call_tool(name, arguments) for name, arguments in calls]

    names, (found, timeline, why, refused) = asyncio.run(talk())
    detector = emoscope.load("nano")
    assert names == {"detect_emotion", "emotion_timeline", "explain_emotion"}
    assert _content(found) == detector.detect(TURNS).as_dict()
    assert [turn["label"] for turn in _content(timeline)["turns"]] == [each.label for each in detector.timeline(TURNS)]
    assert _content(why)["label"] == detector.detect(TURNS).label
    assert "at least one turn" in refused.content[0].text


def _content(result: Any) -> dict[str, Any]:
    return dict(getattr(result, "structured_content", None) or result.structuredContent)
