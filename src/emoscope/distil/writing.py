"""Generate dialogues with a language model: more text for a teacher to label.

The model sees a list of a few dialogues of one kind and continues it. The result has no labels.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.core.text import TRIGGER
from emoscope.distil.everyday import everyday_examples
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

BLANK, BETWEEN = "____", " | "
SHOWN = 6  # dialogues in a prompt
LONGEST = 90  # words of a dialogue
NEW_TOKENS = 256  # of a list, about eight dialogues

_CHAT = "Private chats between all sorts of people, one chat per line. The messages of a chat are separated by |."
HEADINGS: Mapping[str, str] = {
    "everyday": "Messages that people send to friends, family, shops and support desks, one chat per line. "
    "The messages of a chat are separated by |.",
    "emocontext": _CHAT,
    "push": _CHAT,
    "iest": f"Tweets in which one word for an emotion (angry, afraid, disgusted, happy, sad, surprised) is blanked out "
    f"as {BLANK}, one tweet per line.",
}


def seed_dialogues(kind: str, fit_context: FitContext) -> list[tuple[str, ...]]:
    """The dialogues for the prompts, all from training data."""
    if kind not in HEADINGS:
        raise EmoscopeError(f"nothing to write like {kind!r}; there are: {', '.join(HEADINGS)}")
    if kind == "everyday":
        examples: Iterable[Example] = everyday_examples()
    else:
        examples = read_split(get_task("emotionx-push" if kind == "push" else kind), "train", fit_context.resources)
    seeds = (example.context.texts[-3:] for example in examples)
    return [tuple(" ".join(text.replace(TRIGGER, BLANK).split()) for text in texts) for texts in seeds]


def parse_list(text: str, kind: str) -> Iterator[tuple[str, ...]]:
    """Parse the list that a model continued; the last dialogue is dropped, because it may be cut off.

    >>> list(parse_list(" hi | hello\\n- too many | turns | to be | a chat | of ours\\n- bye\\n- I wa", "everyday"))
    [('hi', 'hello'), ('bye',)]
    """
    for line in text.split("\n")[:-1]:
        turns = tuple(turn.strip() for turn in line.removeprefix("-").split(BETWEEN.strip()))
        if not all(turns) or len(turns) > 4 or len(" ".join(turns).split()) > LONGEST:
            continue
        if kind == "iest":
            if len(turns) == 1 and turns[0].count(BLANK) == 1 and len(turns[0].split()) > 3:
                yield (turns[0].replace(BLANK, TRIGGER),)
        elif kind != "emocontext" or len(turns) == 3:
            yield turns


def write_dialogues(
    pretrained: str, kind: str, count: int, fit_context: FitContext, *, batch_size: int = 1024
) -> Iterator[tuple[str, ...]]:
    """Generate dialogues with a causal language model, without duplicates or copies of the prompts."""
    torch = require("torch", extra="train")
    transformers = require("transformers", extra="train")
    from emoscope.models.torch.pretrained import quiet
    from emoscope.models.torch.training import device_of, seed_everything

    seeds = seed_dialogues(kind, fit_context)
    device = device_of(fit_context.device)
    with quiet():
        model = transformers.AutoModelForCausalLM.from_pretrained(pretrained, dtype=torch.bfloat16).to(device).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(pretrained, padding_side="left")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    draw = np.random.default_rng(fit_context.seed)
    seed_everything(fit_context.seed)
    known = {BETWEEN.join(seed).lower() for seed in seeds}
    written = 0
    while written < count:
        shown = [[seeds[int(n)] for n in draw.integers(len(seeds), size=SHOWN)] for _ in range(batch_size)]
        prompts = ["\n".join([HEADINGS[kind], *(f"- {BETWEEN.join(turns)}" for turns in each), "-"]) for each in shown]
        inputs = tokenizer(prompts, return_tensors="pt", padding=True).to(device)
        options: dict[str, Any] = {"do_sample": True, "temperature": 1.0, "top_p": 1.0, "top_k": 100}
        with torch.inference_mode():
            output = model.generate(**inputs, max_new_tokens=NEW_TOKENS, pad_token_id=tokenizer.pad_token_id, **options)
        texts = tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        before = written
        for turns in (turns for text in texts for turns in parse_list(text, kind)):
            key = BETWEEN.join(turns).replace(TRIGGER, BLANK).lower()
            if key not in known and written < count:
                known.add(key)
                written += 1
                yield turns
        fit_context.progress(f"{written:,} dialogues", written / count)
        if written == before:
            raise EmoscopeError(f"{pretrained}: does not continue a list of dialogues")


def save_written(path: Path, dialogues: Iterable[tuple[str, ...]]) -> int:
    """Write dialogues as JSONL; returns how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with atomic_write(path) as handle:
        for turns in dialogues:
            handle.write(json.dumps({"turns": turns}, ensure_ascii=False) + "\n")
            count += 1
    return count


def written_examples(kind: str, fit_context: FitContext) -> list[Example]:
    """The dialogues of `written/KIND.jsonl` under the data folder, as `emoscope distil write` writes them."""
    path = fit_context.resource(f"written/{kind}.jsonl")
    rows = (json.loads(line)["turns"] for line in path.read_text(encoding="utf-8").splitlines())
    return [Example(Dialogue(tuple(map(Turn, turns))), len(turns) - 1) for turns in rows]
