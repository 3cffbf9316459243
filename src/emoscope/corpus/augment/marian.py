"""MarianMT models through transformers, such as those of the OPUS-MT project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed, require
from emoscope.corpus.augment.translator import Translator, short_code

_TOGETHER = 32
_LONGEST = 256  # pieces; a turn of a chat has a few dozen


class Marian:
    """Models whose folder or name on the hub differs in the languages only: `Helsinki-NLP/opus-mt-{source}-{target}`.

    A folder is read without touching the network. What is not a folder is a name on the hub: it comes from the hub's
    cache, or is downloaded, as the user who named it wants it.
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
        """Its models, and the version of what runs them."""
        return f"marian {self._model}, transformers {self._transformers.__version__}"

    def translator(self, source: str, target: str) -> Translator:
        """One direction, if there is a model for it."""
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
        self._longest = min(_LONGEST, model.config.max_position_embeddings)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        # Texts of about the same length together: less padding, and the answers go back to their places.
        order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
        answers = [""] * len(texts)
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            for place, answer in zip(places, self._some([texts[place] for place in places]), strict=True):
                answers[place] = answer
        return answers

    def _some(self, texts: list[str]) -> list[str]:
        given = self._tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=self._longest)
        longest = min(self._longest, 2 * given["input_ids"].shape[1] + 10)
        with self._torch.inference_mode():
            said = self._model.generate(**given, num_beams=4, do_sample=False, max_length=longest)
        return [text.strip() for text in self._tokenizer.batch_decode(said, skip_special_tokens=True)]
