"""What most people would write to serve such a model: FastAPI around a transformers pipeline. Measured beside ours.

The weights are random and of distilroberta's size: speed does not depend on what they have learnt.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

LABELS = ("others", "happy", "sad", "angry")
FOLDER = "EMOSCOPE_PLAIN_MODEL"


def make_model(folder: Path, texts: list[str]) -> None:
    """Write a model and a tokenizer, both made here: nothing is downloaded."""
    from tokenizers import ByteLevelBPETokenizer

    transformers: Any = import_module("transformers")
    learner = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learner.train_from_iterator(texts, vocab_size=2000, min_frequency=1, special_tokens=special, show_progress=False)
    learner.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), model_max_length=512, **names
    )
    tokenizer.save_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=50265,
        num_hidden_layers=6,
        max_position_embeddings=514,
        type_vocab_size=1,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    transformers.RobertaForSequenceClassification(config).save_pretrained(folder)


def create_app() -> Any:
    """The plain server."""
    from fastapi import FastAPI
    from pydantic import BaseModel

    app = FastAPI()
    classify: Any = import_module("transformers").pipeline(
        "text-classification", model=os.environ[FOLDER], top_k=None, truncation=True
    )

    class Question(BaseModel):
        turns: list[str]

    @app.get("/readyz")
    def ready() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/v1/detect")
    def detect(question: Question) -> dict[str, Any]:
        (scores,) = classify([" </s> ".join(question.turns)])
        return {"label": scores[0]["label"], "scores": {row["label"]: row["score"] for row in scores}}

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(create_app(), port=int(sys.argv[1]), log_level="warning")
