"""MarianMT models, such as OPUS-MT's, in transformers or converted for CTranslate2."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed, require
from emoscope.corpus.augment.engines import Translator, short_code
from emoscope.parallel.parts import batches

_BATCH = 32
BEAM_SIZE = 4
_MAX_TOKENS = 256  # a chat turn has a few dozen


class Marian:
    """Models whose folders or hub names differ only in the languages, as in `Helsinki-NLP/opus-mt-{source}-{target}`.

    A folder is read without network access. Anything else is a hub name, loaded from the hub's cache or downloaded.
    A folder written by `ct2-transformers-converter` runs in CTranslate2, many times faster on a CPU.
    """

    def __init__(self, model: str, *, beam_size: int = BEAM_SIZE) -> None:
        if "{source}" not in model or "{target}" not in model:
            raise EmoscopeError(
                f"model {model!r}: expected {{source}} and {{target}} in it, as in "
                "'Helsinki-NLP/opus-mt-{source}-{target}'"
            )
        check_installed("sentencepiece", "sacremoses", extra="marian")
        self._model = model
        self._beam_size = beam_size
        self._transformers = require("transformers", extra="marian")

    @property
    def name(self) -> str:
        return f"marian {self._model}, {self._beam_size} beams, transformers {self._transformers.__version__}"

    def translator(self, source: str, target: str) -> Translator:
        path = self._model.replace("{source}", short_code(source)).replace("{target}", short_code(target))
        folder = Path(path).expanduser()
        if (folder / "model.bin").is_file():  # CTranslate2's weights
            return self._converted(folder)
        check_installed("torch", extra="marian")
        from emoscope.models.torch.pretrained import quiet

        local = folder.is_dir()
        name = str(folder) if local else path
        options = {"local_files_only": local, "trust_remote_code": False}
        try:
            with quiet():
                tokenizer = self._transformers.AutoTokenizer.from_pretrained(name, **options)
                model = self._transformers.AutoModelForSeq2SeqLM.from_pretrained(name, **options)
        except (OSError, ValueError, KeyError) as error:
            where = "in this folder" if local else "in such a folder, on the hub or in its cache"
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise EmoscopeError(f"model {path}: no translation model {where} ({reason})") from None
        return partial(_translate, tokenizer, model.float().eval(), self._beam_size)

    def _converted(self, folder: Path) -> Translator:
        network = require("ctranslate2", extra="marian")
        try:
            tokenizer = self._transformers.MarianTokenizer.from_pretrained(str(folder), local_files_only=True)
            model = network.Translator(str(folder), device="cpu")
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise EmoscopeError(
                f"model {folder}: expected what `ct2-transformers-converter --copy_files source.spm target.spm "
                f"vocab.json tokenizer_config.json` writes ({str(error).splitlines()[0]})"
            ) from None
        return partial(_translate_converted, tokenizer, model, self._beam_size)


def _translate(tokenizer: Any, model: Any, beam_size: int, texts: Sequence[str]) -> list[str]:
    # Batch texts of similar length together to reduce padding.
    order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), place))
    translated = [""] * len(texts)
    most = min(_MAX_TOKENS, model.config.max_position_embeddings)
    for places in batches(order, _BATCH):
        batch = [texts[place] for place in places]
        tokens = tokenizer(batch, return_tensors="pt", padding=True, truncation=True, max_length=most)
        max_length = min(most, 2 * tokens["input_ids"].shape[1] + 10)
        with require("torch", extra="marian").inference_mode():
            output = model.generate(**tokens, num_beams=beam_size, do_sample=False, max_length=max_length)
        for place, text in zip(places, tokenizer.batch_decode(output, skip_special_tokens=True), strict=True):
            translated[place] = text.strip()
    return translated


def _translate_converted(tokenizer: Any, model: Any, beam_size: int, texts: Sequence[str]) -> list[str]:
    pieces = [
        tokenizer.convert_ids_to_tokens(tokenizer.encode(text, truncation=True, max_length=_MAX_TOKENS))
        for text in texts
    ]
    results = model.translate_batch(pieces, max_batch_size=_BATCH, beam_size=beam_size, max_decoding_length=_MAX_TOKENS)
    ids = [tokenizer.convert_tokens_to_ids(result.hypotheses[0]) for result in results]
    return [text.strip() for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
