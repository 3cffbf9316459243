"""MarianMT models in transformers, such as those of the OPUS-MT project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed, require
from emoscope.corpus.augment.translator import Translator, short_code

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
        check_installed("sentencepiece", "sacremoses", extra="marian")
        self._model = model
        self._transformers = require("transformers", extra="marian")
        self._torch = require("torch", extra="marian")

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
        return _ModelTranslator(tokenizer, model.float().eval(), self._torch)


class _ModelTranslator:
    def __init__(self, tokenizer: Any, model: Any, torch: Any) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._torch = torch
        self._max_tokens = min(_MAX_TOKENS, model.config.max_position_embeddings)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        # Texts of similar length go together, for less padding.
        order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
        translated = [""] * len(texts)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            for place, text in zip(places, self._generate([texts[place] for place in places]), strict=True):
                translated[place] = text
        return translated

    def _generate(self, texts: list[str]) -> list[str]:
        tokens = self._tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=self._max_tokens)
        max_length = min(self._max_tokens, 2 * tokens["input_ids"].shape[1] + 10)
        with self._torch.inference_mode():
            output = self._model.generate(**tokens, num_beams=4, do_sample=False, max_length=max_length)
        return [text.strip() for text in self._tokenizer.batch_decode(output, skip_special_tokens=True)]
