"""Measure the CPU time per dialogue of `default`, `nano` and their peers on one core; a table of docs/results/speed.md.

    python -m benchmarks.speed.peers --data DATA [--encoder MINILM] [--only nano words]

The peers are what others would use: a transformers pipeline; networks exported to ONNX in the usual way, with 8-bit
weights and batches sorted by length; and scikit-learn pipelines. Each runs in its own process with one thread, and they
are interleaved. CPU time hardly depends on other load. Networks have random weights, which are as fast as trained ones;
so have the word vectors of model2vec without an encoder. model2vec is measured if it is installed.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common.machine import machine
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.processes import Worker, answer_questions
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.speed.worker import PEER, SMALL, Turns, open_peer, write_models
from emoscope.core.extras import require

TABLE = RESULTS / "speed_peers.csv"
ROUNDS, BATCH, LONGEST = 7, 32, 96
MINILM = {**SMALL, "intermediate_size": 1536}
ONE_THREAD = dict.fromkeys(("EMOSCOPE_CORES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")

Answer = Callable[[Sequence[Turns]], Sequence[str | None]]  # the labels, or None of a network that learnt nothing


class Peer(NamedTuple):
    """One that is measured: its name in the table, how it is opened, and how many dialogues a round has."""

    title: str
    open: Callable[[Path], Answer]
    dialogues: int


def open_detector(name: str, *, native: bool = True) -> Callable[[Path], Answer]:
    def opened(folder: Path) -> Answer:
        del folder
        os.environ["EMOSCOPE_NATIVE"] = str(int(native))
        import emoscope

        detector = emoscope.load(name, labels="emocontext", for_metric=True)
        return lambda dialogues: [found.label for found in detector.detect_many(dialogues)]

    return opened


def open_onnx(file: str) -> Callable[[Path], Answer]:
    """A graph as an expert runs it: batches sorted by length, filled up to the longest."""

    def opened(folder: Path) -> Answer:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(folder / file), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(folder / "torch" / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def answer(dialogues: Sequence[Turns]) -> Sequence[str | None]:
            encoded = tokenizer.encode_batch_fast([" [SEP] ".join(turns) for turns in dialogues])
            rows = [each.ids[:LONGEST] for each in encoded]
            order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
            for first in range(0, len(order), BATCH):
                chosen = [rows[place] for place in order[first : first + BATCH]]
                ids = np.zeros((len(chosen), len(chosen[-1])), np.int64)
                for number, row in enumerate(chosen):
                    ids[number, : len(row)] = row
                logits = session.run(None, {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64)})[0]
                raised = np.exp(logits - logits.max(1, keepdims=True))
                raised / raised.sum(1, keepdims=True)
            return [None] * len(dialogues)

        return answer

    return opened


def open_pipeline(folder: Path) -> Answer:
    import torch

    torch.set_num_threads(1)
    classify = open_peer(folder / "peer")

    def answer(dialogues: Sequence[Turns]) -> Sequence[str | None]:
        classify(dialogues, BATCH)
        return [None] * len(dialogues)

    return answer


def open_sklearn(*, characters: bool) -> Callable[[Path], Answer]:
    def opened(folder: Path) -> Answer:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline, make_union

        texts, labels = json.loads((folder / "train.json").read_text(encoding="utf-8"))
        features = [TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)]
        if characters:
            features += [TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=3)]
        model = make_pipeline(make_union(*features), LogisticRegression(C=8, max_iter=50))
        model.fit(texts, labels)
        return lambda dialogues: [str(label) for label in model.predict([joined(turns) for turns in dialogues])]

    return opened


def open_model2vec(folder: Path) -> Answer:
    """Mean word vectors, 256 numbers each as is usual, and a logistic regression; without an encoder random vectors."""
    from sklearn.linear_model import LogisticRegression
    from tokenizers import Tokenizer

    named = (folder / "encoder").read_text(encoding="utf-8")
    encoder = Path(named) if named else folder / "torch"
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    if named:
        from safetensors.numpy import load_file

        weights = load_file(encoder / "model.safetensors")
        vectors = next(value for name, value in weights.items() if name.endswith("word_embeddings.weight"))
    else:
        vectors = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 256))
    static = require("model2vec", extra="dev").StaticModel(vectors[:, :256].astype(np.float32), tokenizer)
    texts, labels = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    model = LogisticRegression(max_iter=100).fit(static.encode(texts), labels)
    return lambda dialogues: [
        str(each) if named else None for each in model.predict(static.encode([joined(t) for t in dialogues]))
    ]


def joined(turns: Turns) -> str:
    return " [SEP] ".join(turns)


PEERS: Mapping[str, Peer] = {
    "default": Peer("`default`", open_detector("default"), 1000),
    "onnxruntime": Peer(
        "`default` without the kernel in C, in onnxruntime", open_detector("default", native=False), 500
    ),
    "own": Peer("its own size, ordinary ONNX export, int8, sorted by length", open_onnx("own.onnx"), 500),
    "own-fused": Peer("the same with onnxruntime's fusions for BERT", open_onnx("own-fused.onnx"), 500),
    "minilm": Peer("MiniLM-6, int8, with the fusions", open_onnx("minilm-fused.onnx"), 300),
    "distil": Peer("DistilRoBERTa's size, int8, sorted by length", open_onnx("distil.onnx"), 100),
    "pipeline": Peer("DistilRoBERTa's size, transformers pipeline, batches of 32", open_pipeline, 64),
    "nano": Peer("`nano`", open_detector("nano"), 2000),
    "chars": Peer("TF-IDF of words and characters + logistic regression", open_sklearn(characters=True), 1000),
    "words": Peer("TF-IDF of words + logistic regression", open_sklearn(characters=False), 2000),
    "model2vec": Peer("model2vec + logistic regression", open_model2vec, 2000),
}


# Models of the peers


def write_graphs(folder: Path) -> None:
    """Networks as the usual tools write them, their weights made bytes."""
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.optimizer import optimize_model

    transformers = require("transformers", extra="train")
    vocabulary = len(transformers.AutoTokenizer.from_pretrained(folder / "torch"))
    sizes = {"own": SMALL, "minilm": MINILM, "distil": {"num_hidden_layers": PEER["num_hidden_layers"]}}
    for name, size in sizes.items():
        config = transformers.BertConfig(
            vocab_size=50265 if name == "distil" else vocabulary, num_labels=21, attn_implementation="eager", **size
        )
        network = Logits(transformers.BertForSequenceClassification(config).eval())
        ids = torch.randint(5, 1000, (2, 21))
        axes = {0: "rows", 1: "places"}
        torch.onnx.export(
            network,
            (ids, torch.ones_like(ids)),
            str(folder / f"{name}.plain"),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes},
            opset_version=17,
            dynamo=False,
        )
        heads, width = config.num_attention_heads, config.hidden_size
        fused = optimize_model(str(folder / f"{name}.plain"), "bert", heads, width, opt_level=0)
        fused.save_model_to_file(str(folder / f"{name}-fused.plain"))
        for kind in (name, f"{name}-fused"):
            quantize_dynamic(
                folder / f"{kind}.plain",
                folder / f"{kind}.onnx",
                weight_type=QuantType.QInt8,
                per_channel=True,
                extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
            )


class Logits:
    """Made a module when torch is there."""

    def __new__(cls, model: Any) -> Any:
        import torch

        class Module(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, input_ids: Any, attention_mask: Any) -> Any:
                return self.model(input_ids=input_ids, attention_mask=attention_mask).logits

        return Module()


# Measuring


def measured(name: str, folder: Path) -> Callable[..., tuple[float, list[str | None]]]:
    """Open a peer; the result labels dialogues and takes the processor time."""
    answer = PEERS[name].open(folder)

    def measure(dialogues: Sequence[Turns]) -> tuple[float, list[str | None]]:
        begun = time.process_time()
        labels = answer(dialogues)
        return time.process_time() - begun, list(labels)

    return measure


def micro_f1(found: Sequence[str | None], expected: Sequence[str]) -> float:
    """The task's metric: of the three emotions."""
    pairs = list(zip(found, expected, strict=True))
    right = sum(one == other != "others" for one, other in pairs)
    return 2 * right / sum((one != "others") + (other != "others") for one, other in pairs)


def measure(
    names: Sequence[str], folder: Path, dialogues: Sequence[Turns], labels: Sequence[str]
) -> list[dict[str, Any]]:
    workers = {name: Worker("benchmarks.speed.peers", "--peer", name, folder, environment=ONE_THREAD) for name in names}
    spent: dict[str, list[float]] = {name: [] for name in names}
    scores = {}
    for name, worker in workers.items():
        trained = worker.ask(dialogues=dialogues[:8])[1][0] is not None
        found = worker.ask(dialogues=dialogues)[1] if trained else []
        scores[name] = round(micro_f1(found, labels), 4) if trained else None
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        for name, worker in workers.items():
            count = min(PEERS[name].dialogues, len(dialogues))
            spent[name].append(worker.ask(dialogues=dialogues[:count])[0] / count)
    for worker in workers.values():
        worker.close()
    costs = {name: statistics.median(times) for name, times in spent.items()}
    return [
        {
            "peer": name,
            "microseconds": round(1e6 * cost, 1),
            "default": round(cost / costs["default"], 3),
            "micro_f1": scores[name],
            "machine": machine(),
        }
        for name, cost in costs.items()
    ]


def section(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        f"CPU time per dialogue of EmoContext's development set, text to answer; medians of "
        f"{ROUNDS} interleaved rounds. Machine: {rows[0]['machine']}.",
        "",
        "| | µs | times `default` | micro-F1 on dev |",
        "|---|---:|---:|---:|",
    ]
    for row in rows:
        score = "-" if row["micro_f1"] is None else f"{row['micro_f1']:.3f}"
        lines.append(f"| {PEERS[row['peer']].title} | {row['microseconds']:,.0f} | {row['default']:.2f} | {score} |")
    return "\n".join(lines)


def peers_to_measure(only: Sequence[str] | None) -> list[str]:
    """All peers or some, with `default`, which they are compared with; model2vec only if it is installed."""
    names = dict.fromkeys(["default", *only] if only else PEERS)
    return [name for name in names if name != "model2vec" or find_spec("model2vec") is not None]


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--encoder", type=Path, help="the word vectors of model2vec, such as all-MiniLM-L6-v2")
    parser.add_argument("--only", nargs="+", choices=PEERS, help="measure these, and write nothing")
    parser.add_argument("--peer", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        answer_questions(partial(measured, options.peer[0], Path(options.peer[1])))
        return
    from emoscope.detector.bundle import resolve
    from emoscope.tasks import get_task
    from emoscope.tasks.data import find_split, read_split

    task = get_task("emocontext")
    dev = list(read_split(task, "dev", options.data))
    random.Random(0).shuffle(dev)
    train = list(read_split(task, "train", options.data))
    names = peers_to_measure(options.only)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder, resolve("default") / "model" / "tokenizer.json")
        if any(PEERS[each].open.__qualname__.startswith("open_onnx") for each in names):
            write_graphs(folder)
        texts = [joined(list(example.context.texts)) for example in train]
        (folder / "train.json").write_text(json.dumps([texts, [each.label for each in train]]), encoding="utf-8")
        (folder / "encoder").write_text(str(options.encoder or ""), encoding="utf-8")
        dialogues = [list(example.context.texts) for example in dev]
        rows = measure(names, folder, dialogues, [str(example.label) for example in dev])
    text = section(rows)
    print(text)
    if not options.only:
        write_rows(TABLE, rows)
        files = [find_split(task, split, options.data).path for split in ("train", "dev")]
        keep(TABLE, made(0, {"rounds": ROUNDS}, files))
        write_section(PAGES / "speed.md", "peers", text)


if __name__ == "__main__":
    main()
