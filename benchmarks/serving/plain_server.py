"""What most people would write to serve the same model: ten lines of FastAPI. Measured beside ours.

python -m benchmarks.serving.plain_server PORT MODEL
"""

import sys
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

import emoscope

app = FastAPI()
detector = emoscope.load(sys.argv[2])


class Question(BaseModel):
    """What is asked."""

    turns: list[str]


@app.post("/v1/detect")
def detect(question: Question) -> dict[str, Any]:
    """The emotion of a dialogue's last turn."""
    return detector.detect(question.turns).as_dict()


@app.get("/readyz")
def ready() -> dict[str, str]:
    """Whether it answers."""
    return {"status": "ok"}


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
