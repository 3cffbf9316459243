"""A Model Context Protocol server with emotion detection tools, for assistants that start `emoscope mcp`."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.detector.detector import Options, load

if TYPE_CHECKING:
    from typing import Unpack


def mcp_server(model: str = "default", **options: "Unpack[Options]") -> Any:
    """A server with the tools `detect_emotion`, `emotion_timeline` and `explain_emotion`; `.run()` serves stdio."""
    detector = load(model, **options)
    about = f"Answers are one of: {', '.join(detector.labels)}."
    server = require("mcp.server", extra="mcp").MCPServer(
        "emoscope", version=__version__, instructions=f"Finds the emotion in a conversation. {about}"
    )

    def detect_emotion(turns: list[str]) -> dict[str, Any]:
        return detector.detect(turns).as_dict()

    def emotion_timeline(turns: list[str]) -> dict[str, Any]:
        return {"turns": [detection.as_dict() for detection in detector.timeline(turns)]}

    def explain_emotion(turns: list[str], label: str | None = None) -> dict[str, Any]:
        return detector.explain(turns, label=label).as_dict()

    given = "`turns` are what was said, oldest first."
    tools = {
        detect_emotion: f"The emotion of the last turn, with the probability of each label. {given} {about}",
        emotion_timeline: f"The emotion of every turn, each given what was said before it. {given} {about}",
        explain_emotion: f"Which turns and words speak for the answer, or for `label`, and which against. {given}",
    }
    for function, description in tools.items():
        server.tool(description=description)(_with_message(function))
    return server


def _with_message(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Report a user's mistake as the tool's error message."""
    error_class = require("mcp.server.mcpserver.exceptions", extra="mcp").ToolError

    @wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> dict[str, Any]:
        try:
            return function(*arguments, **options)
        except EmoscopeError as error:
            raise error_class(str(error)) from None

    return wrapper
