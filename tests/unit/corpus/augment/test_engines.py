"""The engines themselves, where they are installed; Marian and Argos with models of random weights."""

import json
import logging
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, MissingExtraError
from emoscope.corpus.augment.backtranslation import BackTranslator
from emoscope.corpus.augment.engines import UNTRANSLATED

needs_apertium = pytest.mark.skipif(shutil.which("apertium") is None, reason="Apertium is not installed")
needs_marian = pytest.mark.skipif(
    not all(map(find_spec, ("transformers", "torch", "sentencepiece", "sacremoses", "ctranslate2"))),
    reason="the extra 'marian' is not installed",
)
needs_argos = pytest.mark.skipif(
    not all(map(find_spec, ("argostranslate", "ctranslate2", "transformers", "sentencepiece"))),
    reason="the extra 'argos' is not installed",
)

CHAT = [
    "I love my new house",
    "why are you so sad today? 😂",
    "person_3 and person_14 are coming to location_2 tonight",
    "@bob I think @anna lost her keys http://t.co/x",
    "i was [#TRIGGERWORD#] because my friend did not call me",
    "*hugs* #happy <url> sooooo goood {a} [b] ^c$ d/e \\ f ~ g",
    "",
    "...",
]


@needs_apertium
def test_apertium_there_and_back() -> None:
    from emoscope.corpus.augment.apertium import Apertium

    engine = Apertium()
    assert engine.name.startswith("apertium ")
    assert engine.translator("en", "es")(["I have two brothers"]) == ["Tengo dos hermanos"]
    (back,) = engine.translator("spa", "eng")(["Tengo dos hermanos"])
    assert back.endswith("two brothers")
    assert engine.translator("en", "ca")([]) == []


@needs_apertium
def test_apertium_marks_what_it_does_not_know_and_nothing_else() -> None:
    from emoscope.corpus.augment.apertium import Apertium

    translate = Apertium().translator("en", "es")
    (unknown,) = translate(["the zorblax is red"])
    assert f"{UNTRANSLATED}zorblax" in unknown
    (signs,) = translate(["* # @ ~ ^ $ / [ ] { } < > \\"])
    assert signs == "* # @ ~ ^ $ / [ ] { } < > \\"


@needs_apertium
def test_apertium_answers_every_text_in_its_place() -> None:
    from emoscope.corpus.augment.apertium import Apertium

    texts = [f"number {number}\nand \0 a line \ue000" for number in range(300)]
    answers = Apertium().translator("en", "es")(texts)
    assert [next(int(word) for word in answer.split() if word.isdigit()) for answer in answers] == list(range(300))


@needs_apertium
def test_protected_text_survives_apertium() -> None:
    from emoscope.corpus.augment.apertium import Apertium

    made = BackTranslator(Apertium(), ["spa", "cat"], similarity=0.0)(CHAT)
    kept = {text: variants["es"].text or variants["ca"].text for text, variants in zip(CHAT, made, strict=True)}
    assert "😂" in str(kept[CHAT[1]])
    assert {"person_3", "person_14", "location_2"} <= set(str(kept[CHAT[2]]).split())
    assert str(kept[CHAT[3]]).startswith("@bob ")
    assert str(kept[CHAT[3]]).endswith(" http://t.co/x")
    assert "@anna" in str(kept[CHAT[3]])
    assert "[#TRIGGERWORD#]" in str(kept[CHAT[4]])
    assert kept[""] is None
    assert kept["..."] is None
    assert all(UNTRANSLATED not in (variant.text or "") for own in made for variant in own.values())


@needs_apertium
def test_apertium_lists_its_directions() -> None:
    from emoscope.corpus.augment.apertium import Apertium

    with pytest.raises(EmoscopeError, match=r"no data for eng-xho; installed are: .*eng-spa"):
        Apertium().translator("en", "xho")


def test_missing_apertium_is_a_one_line_error_that_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from emoscope.corpus.augment.apertium import Apertium

    monkeypatch.setenv("PATH", "")
    with pytest.raises(EmoscopeError, match="apt-get install apertium"):
        Apertium()


def test_a_text_that_breaks_the_pipeline_is_lost_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Apertium that answers nothing if it meets a certain word."""
    from emoscope.corpus.augment.apertium import Apertium

    program = tmp_path / "apertium"
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in -l) echo eng-spa; exit;; esac\n'
        f'cat > "{tmp_path}/given"\n'
        f'grep -q poison "{tmp_path}/given" || cat "{tmp_path}/given"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert Apertium().translator("en", "es")(["a", "b", "poison", "d", "e"]) == ["a", "b", "", "d", "e"]


@needs_marian
def test_marian_answers_alone_as_in_any_company(tmp_path: Path) -> None:
    from emoscope.corpus.augment.marian import Marian
    from kits.tiny_marian import write_tiny_marian

    for number, pair in enumerate(("en-es", "es-en")):
        write_tiny_marian(tmp_path / pair, seed=number)
    engine = Marian(str(tmp_path / "{source}-{target}"))
    assert "transformers" in engine.name
    texts = ["i love you", "hello there how are you", "the cat", "what is this thing called"]
    translate = engine.translator("eng", "spa")
    together = translate(texts)
    assert all(together)
    assert together == translate(texts)
    assert together[::-1] == translate(texts[::-1])
    assert together != engine.translator("es", "en")(texts)
    assert BackTranslator(engine, ["es"])(["i love you 😂"])[0]["es"].reason == "too unlike"


@needs_marian
def test_a_converted_marian_translates_as_the_original(tmp_path: Path) -> None:
    import ctranslate2

    from emoscope.corpus.augment.marian import Marian
    from kits.tiny_marian import write_tiny_marian

    tokenizer_files = ["source.spm", "target.spm", "vocab.json", "tokenizer_config.json"]
    for number, pair in enumerate(("en-es", "es-en")):
        model = write_tiny_marian(tmp_path / "original" / pair, seed=number)
        ctranslate2.converters.TransformersConverter(str(model), copy_files=tokenizer_files).convert(
            str(tmp_path / "converted" / pair)
        )
    texts = ["i love you", "hello there how are you", "the cat"]
    engines = [Marian(str(tmp_path / kind / "{source}-{target}"), beam_size=1) for kind in ("original", "converted")]
    original, converted = (engine.translator("en", "es") for engine in engines)
    assert converted(texts) == converted(texts[::-1])[::-1]
    # They stop at different lengths: random weights never say that a sentence ends.
    assert all(one[:20] == other[:20] for one, other in zip(original(texts), converted(texts), strict=True))
    assert "1 beams" in engines[1].name
    (tmp_path / "converted" / "en-es" / "vocab.json").unlink()
    with pytest.raises(EmoscopeError, match="expected what `ct2-transformers-converter --copy_files"):
        engines[1].translator("en", "es")


def test_only_marian_has_beams() -> None:
    from emoscope.corpus.augment.engines import open_engine

    with pytest.raises(EmoscopeError, match="apertium takes no beam size"):
        open_engine("apertium", beam_size=2)


@needs_marian
def test_marian_names_missing_files(tmp_path: Path) -> None:
    from emoscope.corpus.augment.marian import Marian

    with pytest.raises(EmoscopeError, match=r"expected \{source\} and \{target\}"):
        Marian("opus-mt")
    (tmp_path / "en-es").mkdir()
    with pytest.raises(EmoscopeError, match="no translation model in this folder"):
        Marian(str(tmp_path / "{source}-{target}")).translator("en", "es")


@needs_marian
def test_a_hub_that_cannot_be_reached_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import transformers

    from emoscope.corpus.augment.marian import Marian

    def retry(*_: object, **__: object) -> None:
        for number in range(5):
            logging.getLogger("huggingface_hub.utils").warning("Retry %d", number)
        raise OSError("no connection")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", retry)
    expected = r"model models/en-es: no translation model in such a folder, on the hub or .* \(no connection\)"
    with pytest.raises(EmoscopeError, match=expected):
        Marian("models/{source}-{target}").translator("en", "es")
    assert not caplog.records


def test_engines_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from emoscope.corpus.augment.argos import Argos
    from emoscope.corpus.augment.marian import Marian

    for name in ("argostranslate", "argostranslate.package", "sentencepiece"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"emoscope\[argos\]"):
        Argos()
    with pytest.raises(MissingExtraError, match=r"emoscope\[marian\]"):
        Marian("{source}-{target}")


@needs_argos
def test_argos_uses_the_packages_that_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ctranslate2

    from kits.tiny_marian import write_tiny_marian

    model = write_tiny_marian(tmp_path / "model")
    package = tmp_path / "packages" / "translate-en_es"
    package.mkdir(parents=True)
    ctranslate2.converters.TransformersConverter(str(model)).convert(str(package / "model"))
    shutil.copy(model / "source.spm", package / "sentencepiece.model")
    description = {"from_code": "en", "to_code": "es", "from_name": "English", "to_name": "Spanish"}
    (package / "metadata.json").write_text(json.dumps(description))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):  # it makes folders there when imported
        monkeypatch.setenv(name, str(tmp_path))
    from argostranslate import settings

    from emoscope.corpus.augment.argos import Argos

    monkeypatch.setattr(settings, "package_dirs", [tmp_path / "packages"])
    engine = Argos()
    translate = engine.translator("eng", "spa")
    texts = ["i love you", "hello there how are you"]
    assert all(translate(texts))
    assert translate(texts)[::-1] == translate(texts[::-1])
    with pytest.raises(EmoscopeError, match="no package es-en; installed are: en-es"):
        engine.translator("es", "en")
