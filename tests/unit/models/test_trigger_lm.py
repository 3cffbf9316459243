"""The language model's guesses of IEST's masked word."""

from pathlib import Path

import numpy as np
import pytest

from kits.auxiliary_files import make_resources
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.models.text.window import Window
from emoscope.models.torch.pretrained import load_encoder
from emoscope.models.torch.trigger_lm import TRIGGERS, TriggerGuesser, TriggerWords

LABELS = tuple(TRIGGERS)
CPU = FitContext(device="cpu")


def tweet(text: str) -> Example:
    return Example(Dialogue.of([text]), 0)


MASKED = [
    tweet("i am [#TRIGGERWORD#] that you are home"),
    tweet("why [#TRIGGERWORD#] when my dog is so good"),
    tweet("hi"),
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def words(encoder: Path) -> TriggerWords:
    made = TriggerWords(encoder=str(encoder), pretraining_text=0, max_length=40, lm_batch_size=2)
    return made.fit(MASKED, [], CPU)


def test_candidates_are_the_papers_words_that_the_encoder_knows(encoder: Path) -> None:
    known, tokenizer = load_encoder(str(encoder))
    guesser = TriggerGuesser(known, tokenizer, Window())
    # The tiny vocabulary has angry, happy and sad; of the other emotions the first word's first piece must do.
    assert guesser.words["anger"] == tokenizer.token_ids(["angry"])[0]
    assert guesser.words["joy"] == tokenizer.token_ids(["happy"])[0]
    assert guesser.words["sad"] == tokenizer.token_ids(["sad"])[0]
    assert guesser.words["fear"] == tokenizer.token_ids(["afraid"])[0][:1]
    assert len(guesser.candidates) == 6


def test_trigger_words_are_always_to_be_guessed_and_never_shown(encoder: Path) -> None:
    guesser = TriggerGuesser(*load_encoder(str(encoder)), Window())
    rows = guesser.window.rows([tweet("i am happy and not sad")] * 20, guesser.tokenizer)
    torch.manual_seed(0)
    batch = guesser.collate([{"row": row} for row in rows])
    happy, sad = guesser.words["joy"][0], guesser.words["sad"][0]
    assert not torch.isin(batch["token_ids"], torch.tensor([happy, sad])).any() or len(rows) > 1
    assert int((batch["hidden"] == happy).sum()) == int((batch["hidden"] == sad).sum()) == 20


def test_guesses_are_probabilities_given_a_trigger_word(words: TriggerWords) -> None:
    features = words.transform(MASKED).toarray()
    emotions, guesses = features[:, :6], features[:, 6:]
    assert features.shape == (3, 12)
    assert np.allclose(np.exp(guesses[:2]).sum(1), 1, atol=1e-5)
    assert np.allclose(np.exp(emotions[:2]).sum(1), 1, atol=1e-5)
    assert (guesses[2] == 0).all()  # no word is masked there
    assert not np.allclose(guesses[0], guesses[1])


def test_guesses_do_not_depend_on_the_batch(words: TriggerWords) -> None:
    together = words.transform(MASKED).toarray()
    alone = np.concatenate([words.transform([example]).toarray() for example in MASKED])
    assert np.allclose(together, alone, atol=1e-5)


def test_guesses_by_hand(words: TriggerWords) -> None:
    model = words.model
    assert model is not None
    (row,) = words.window.rows(MASKED[:1], model.tokenizer)
    place = row.token_ids.tolist().index(model.tokenizer.mask)
    pieces = torch.tensor(row.token_ids[None].astype(np.int64))
    with torch.inference_mode():
        vector = model.encoder(pieces, torch.ones_like(pieces), torch.zeros_like(pieces))[0, place]
        hidden = model.scale(torch.nn.functional.gelu(model.transform(vector)))
        scores = hidden @ model.encoder.embeddings.weight.T + model.bias
    wanted = torch.log_softmax(scores[model.candidates], dim=0).numpy()
    assert np.allclose(words.transform(MASKED[:1]).toarray()[0, 6:], wanted, atol=1e-5)


def test_it_predicts_the_masked_word_from_context(encoder: Path) -> None:
    texts = ["good fun day so happy", "i cry alone so sad"] * 30
    made = TriggerWords(
        encoder=str(encoder), pretraining_text=0, max_length=40, lm_epochs=12, lm_batch_size=10, lm_learning_rate=1e-2
    )
    made.fit([tweet(text) for text in dict.fromkeys(f"{text} {n}" for n, text in enumerate(texts))], [], CPU)
    asked = [tweet("good fun day so [#TRIGGERWORD#] 5"), tweet("i cry alone so [#TRIGGERWORD#] 5")]
    emotions = made.transform(asked).toarray()[:, :6]
    assert [LABELS[best] for best in emotions.argmax(1)] == ["joy", "sad"]


def test_a_classifier_over_guesses_is_kept_without_the_encoder(encoder: Path, tmp_path: Path) -> None:
    fit_context = FitContext(device="cpu", resources=make_resources(tmp_path / "resources", repeats=2))
    labels = ["joy", "sad", "anger"]
    # A limit of 5 lines of other text: read, but quickly learnt.
    words = TriggerWords(encoder=str(encoder), pretraining_text=5, max_length=40, lm_batch_size=4)
    block = LinearClassifier(LABELS, [words], scale=True).fit(MASKED, labels, fit_context)
    block.save(tmp_path / "kept")
    again = Block.load(tmp_path / "kept")
    assert np.allclose(again.predict_proba(MASKED), block.predict_proba(MASKED), atol=1e-6)


def test_untrained_block_says_so(encoder: Path, tmp_path: Path) -> None:
    made = TriggerWords(encoder=str(encoder))
    with pytest.raises(EmoscopeError, match="not been trained"):
        made.transform(MASKED)
    with pytest.raises(EmoscopeError, match="not been trained"):
        made.save(tmp_path)
