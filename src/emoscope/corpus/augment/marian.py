"""MarianMT models in transformers, such as those of the OPUS-MT project."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed, require
from emoscope.corpus.augment.translator import Translator, short_code
from emoscope.parallel.parts import batches

_BATCH = 32
_MAX_TOKENS = 256  # a chat turn has a few dozen


class Marian:
    """Models whose folders or hub names differ only in the languages, as in `Helsinki-NLP/opus-mt-{source}-{target}`.

    A folder is read without the network. Anything else is a hub name: it comes from the hub's cache or is downloaded.
    """

    def __init__(self, model: str) -> None:
        if "{source}" not in model or "{target}" not in model:
            raise EmoscopeError(
                f"model {model!r}: expected {{source}} and {{target}} in it, as in "
                "'Helsinki-NLP/opus-mt-{source}-{target}'"
            )
        check_installed("torch", "sentencepiece", "sacremoses", extra="marian")
        self._model = model
        self._transformers = require("transformers", extra="marian")

    @property
    def name(self) -> str:
        return f"marian {self._model}, transformers {self._transformers.__version__}"

    def translator(self, source: str, target: str) -> Translator:
        path = self._model.replace("{source}", short_code(source)).replace("{target}", short_code(target))
        local = Path(path).expanduser().is_dir()
        name = str(Path(path).expanduser()) if local else path
        options = {"local_files_only": local, "trust_remote_code": False}
        logging = self._transformers.utils.logging
        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            tokenizer = self._transformers.AutoTokenizer.from_pretrained(name, **options)
            model = self._transformers.AutoModelForSeq2SeqLM.from_pretrained(name, **options)
        except (OSError, ValueError, KeyError) as error:
            where = "in this folder" if local else "on the hub or in its cache"
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise EmoscopeError(f"model {path}: no translation model {where} ({reason})") from None
        finally:
            if bars:
                logging.enable_progress_bar()
        return partial(_translate, tokenizer, model.float().eval())


def _translate(tokenizer: Any, model: Any, texts: Sequence[str]) -> list[str]:
    # Texts of similar length go together, for less padding.
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
    translated = [""] * len(texts)
    most = min(_MAX_TOKENS, model.config.max_position_embeddings)
    for places in batches(order, _BATCH):
        batch = [texts[place] for place in places]
        tokens = tokenizer(batch, return_tensors="pt", padding=True, truncation=True, max_length=most)
        max_length = min(most, 2 * tokens["input_ids"].shape[1] + 10)
        with require("torch", extra="marian").inference_mode():
            output = model.generate(**tokens, num_beams=4, do_sample=False, max_length=max_length)
        for place, text in zip(places, tokenizer.batch_decode(output, skip_special_tokens=True), strict=True):
            translated[place] = text.strip()
    return translated
