"""A LangChain tool that detects the emotion of a conversation.

>>> tool = emotion_tool(model="nano")
>>> tool.invoke({"turns": ["how are you", "I hate you"]})["label"]
'angry'
"""

from typing import TYPE_CHECKING, Any

from emoscope.core.extras import require
from emoscope.detector.detector import Options, load

if TYPE_CHECKING:
    from typing import Unpack

    from langchain_core.tools import BaseTool

DESCRIPTION = (
    "Detect the emotion of the last turn of a conversation, in the context of the turns before it. "
    "Returns the most likely label, the probability of each label, and whether input was cut."
)


def emotion_tool(model: str = "default", **options: "Unpack[Options]") -> "BaseTool":
    """A tool named `detect_emotion` that takes `turns`, oldest first; `options` are those of `emoscope.load`."""
    tools = require("langchain_core.tools", extra="langchain")
    detector = load(model, **options)

    def detect_emotion(turns: list[str]) -> dict[str, Any]:
        return detector.detect(turns).as_dict()

    tool: BaseTool = tools.StructuredTool.from_function(detect_emotion, description=DESCRIPTION)
    return tool
