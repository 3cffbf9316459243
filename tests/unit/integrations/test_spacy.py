"""The spaCy component."""

from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy", reason="the component is spaCy's")

import emoscope
import emoscope.spacy

ANGRY = "I hate you, shut up"


def test_documents_get_an_emotion(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("emoscope", config={"model": "nano"})
    expected = emoscope.load("nano").detect(ANGRY)
    assert nlp(ANGRY)._.emotion == expected
    assert next(nlp.pipe([ANGRY, "what time is it"]))._.emotion == expected
    nlp.to_disk(tmp_path / "nlp")
    assert spacy.load(tmp_path / "nlp")(ANGRY)._.emotion == expected


def test_sentences_are_turns() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("emoscope", config={"model": "nano", "sentences": True})
    doc = nlp("What time is it? I hate you.")
    found = [span._.emotion for span in doc.sents]
    assert found == list(emoscope.load("nano").timeline(["What time is it?", "I hate you."]))
    assert nlp("")._.emotion is not None
