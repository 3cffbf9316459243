"""The models that `python -m benchmarks.speed` measures, each in its own process."""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.processes import answer_questions
from benchmarks.common.timing import seconds
from emoscope.core.extras import require

# What the files of `default` do not say of its network, and what is said of distilroberta.
SMALL = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 512}
PEER = {"num_hidden_layers": 6, "max_position_embeddings": 514, "type_vocab_size": 1, "num_labels": 4}

Turns = list[str]
Answer = Callable[[Sequence[Turns], int], object]  # dialogues, in batches of a size


class Kind(NamedTuple):
    """One thing measured: how it is shown, how it is opened, and the batches worth trying."""

    title: str
    open: Callable[[Path], Answer]
    batches: Sequence[int]


def open_detector(folder: Path) -> Answer:
    import emoscope

    detector = emoscope.load(folder if folder.is_dir() else folder.name)

    def answer(dialogues: Sequence[Turns], batch: int) -> object:
        if batch == 1:
            return [detector.detect(turns) for turns in dialogues]
        return list(detector.detect_many(dialogues, batch=batch))

    return answer


def open_torch(folder: Path) -> Answer:
    import torch

    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.core.fit_context import FitContext
    from emoscope.models.torch.training import predict
    from emoscope.models.torch.transformer import Transformer

    network = Transformer(21, encoder=str(folder), pooling="mean+focus", context=3, max_length=96)
    network.prepare([], FitContext(device="cpu"))

    def answer(dialogues: Sequence[Turns], batch: int) -> object:
        made = []
        for first in range(0, len(dialogues), batch):
            chosen = [Dialogue.of(turns) for turns in dialogues[first : first + batch]]
            items = network.encode([Example(dialogue, len(dialogue) - 1) for dialogue in chosen])
            made.append(predict(network, items, torch.device("cpu"), min(batch, 32)))
        return made

    return answer


def open_peer(folder: Path) -> Answer:
    transformers = require("transformers", extra="train")
    classify = transformers.pipeline("text-classification", model=str(folder), device="cpu", top_k=None)

    def answer(dialogues: Sequence[Turns], batch: int) -> object:
        texts = [" ".join(turns) for turns in dialogues]
        return [classify(text) for text in texts] if batch == 1 else classify(texts, batch_size=batch)

    return answer


KINDS: Mapping[str, Kind] = {
    "nano": Kind("`nano`", open_detector, (1, 256, 1024)),
    "default": Kind("`default`", open_detector, (1, 16, 64, 256, 1024)),
    "torch": Kind("`default` in torch", open_torch, (1, 16, 64, 256)),
    "peer": Kind("`transformers` pipeline", open_peer, (1, 4, 8, 16, 32)),
}


def write_models(folder: Path, tokenizer: Path) -> dict[str, Path]:
    """Random models for torch and the peer, with the tokenizer of `default`."""
    import torch

    transformers = require("transformers", extra="train")
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    roles = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "unk": "[UNK]", "mask": "[MASK]"}
    special = {f"{role}_token": text for role, text in roles.items()}
    tokens = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), model_max_length=512, **special)
    made = {"torch": folder / "torch", "peer": folder / "peer"}
    small = transformers.BertConfig(vocab_size=len(tokens), **SMALL)
    transformers.BertModel(small).save_pretrained(made["torch"])
    usual = transformers.RobertaConfig(vocab_size=50265, **PEER)
    transformers.RobertaForSequenceClassification(usual).save_pretrained(made["peer"])
    for path in made.values():
        tokens.save_pretrained(path)
    return made


# A process for each


def measured(name: str, folder: Path) -> Callable[..., dict[str, Any]]:
    """Open a model; the result measures it on dialogues, in batches or each alone."""
    answer = KINDS[name].open(folder)

    def measure(dialogues: Sequence[Turns], batch: int = 1, *, alone: bool) -> dict[str, Any]:
        if alone:
            times = [seconds(partial(answer, [turns], 1)) for turns in dialogues]
        else:
            times = [seconds(partial(answer, dialogues, batch))]
        return {"times": times, "peak": peak_memory() / MB}

    return measure


def cold_starts(name: str, folder: Path, turns: Turns, repeats: int) -> list[float]:
    """Seconds from starting a process to its first answer."""
    code = (
        "import pathlib; from benchmarks.speed.worker import KINDS; "
        f"KINDS[{name!r}].open(pathlib.Path({str(folder)!r}))([{turns!r}], 1)"
    )
    if name in ("nano", "default"):  # as a user would write it
        model = str(folder) if folder.is_dir() else folder.name
        code = f"import emoscope; emoscope.load({model!r}).detect({turns!r})"
    code += "; print('answered', flush=True)"
    made = []
    for _ in range(repeats):
        begun = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise SystemExit(f"{name} gave no answer")
            made.append(time.perf_counter() - begun)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=KINDS)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    answer_questions(partial(measured, options.name, options.folder))


if __name__ == "__main__":
    main()
