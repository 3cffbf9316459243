"""Argos Translate's packages, those that are installed. Nothing is downloaded."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.corpus.augment.translator import Translator, short_code

_TOGETHER = 32


class Argos:
    """The installed packages. Turns of a chat are short, so a text is translated whole.

    Argos itself would first cut it into sentences, with a model that it downloads when it is not there.
    """

    def __init__(self) -> None:
        self._packages = require("argostranslate.package", extra="argos")
        self._network = require("ctranslate2", extra="argos")

    @property
    def name(self) -> str:
        """Its version."""
        try:
            return f"argostranslate {version('argostranslate')}"
        except PackageNotFoundError:
            return "argostranslate"

    def translator(self, source: str, target: str) -> Translator:
        """One direction, if its package is installed."""
        wanted = short_code(source), short_code(target)
        installed = [package for package in self._packages.get_installed_packages() if package.type == "translate"]
        for package in installed:
            if (package.from_code, package.to_code) == wanted:
                return _PackageTranslator(package, self._network)
        found = ", ".join(sorted(f"{package.from_code}-{package.to_code}" for package in installed)) or "none"
        raise EmoscopeError(
            f"argostranslate has no package {'-'.join(wanted)}; installed are: {found} "
            f"(argospm install translate-{'_'.join(wanted)})"
        )


class _PackageTranslator:
    def __init__(self, package: Any, network: Any) -> None:
        self._package = package
        try:
            # All of it on the CPU and in float: the same answer on every machine.
            self._model = network.Translator(str(package.package_path / "model"), device="cpu", compute_type="float32")
        except (RuntimeError, ValueError) as error:
            raise EmoscopeError(f"{package.package_path}: is not a package that can be read ({error})") from None

    def __call__(self, texts: Sequence[str]) -> list[str]:
        prefix: str = self._package.target_prefix
        pieces = [self._package.tokenizer.encode(text) for text in texts]
        answers = self._model.translate_batch(
            pieces,
            target_prefix=[[prefix]] * len(pieces) if prefix else None,
            max_batch_size=_TOGETHER,
            beam_size=4,
            length_penalty=0.2,
            replace_unknowns=True,
        )
        said = (self._package.tokenizer.decode(answer.hypotheses[0]) for answer in answers)
        return [text.removeprefix(prefix).strip() for text in said]
