"""Further pretraining of a causal language model on unlabelled dialogues."""

from pathlib import Path

import pytest
import torch

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.decoder import Decoder, load_decoder, padding_of
from emoscope.models.torch.next_token import NextToken, adapt_decoder
from emoscope.models.torch.training import Training
from kits.tiny_decoder import make_tiny_decoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_decoder(tmp_path_factory.mktemp("decoder"))


def test_text_becomes_likelier_and_a_decoder_starts_from_the_result(folder: Path, tmp_path: Path) -> None:
    dialogues = [Dialogue.of(["how are you", "not so well today"]), Dialogue.of(["my dog is ill"])] * 8
    training = Training(epochs=8, learning_rate=1e-2, batch_tokens=200)
    curve = adapt_decoder(str(folder), dialogues, tmp_path / "adapted", training, FitContext(device="cpu"))
    assert curve[-1].loss < 0.7 * curve[0].loss
    network = Decoder(2, decoder=str(tmp_path / "adapted"), heads={"mood": ["good", "bad"]})
    network.prepare([Example(dialogues[0], 1)], FitContext())
    before, _ = load_decoder(str(folder), with_output=True)
    pairs = zip(network.decoder.parameters(), before.model.float().parameters(), strict=True)
    assert not any(torch.equal(new, old) for new, old in pairs)


def test_neither_padding_nor_the_other_rows_change_the_loss_of_a_text(folder: Path) -> None:
    model, tokenizer = load_decoder(str(folder), with_output=True)
    network = NextToken(model.float().eval(), padding_of(tokenizer))
    short, long = {"token_ids": [5, 6, 7]}, {"token_ids": [8, 9, 5, 6, 9, 8, 7]}
    with torch.no_grad():
        alone = [network(network.collate([item]))[0] for item in (short, long)]
        both = network(network.collate([short, long]))
    # Every predicted token counts the same: two of the short text, six of the long one.
    assert torch.allclose(both, ((2 * alone[0] + 6 * alone[1]) / 8).expand_as(both), atol=1e-5)


def test_without_text_there_is_a_one_line_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="there is no text to adapt the language model to"):
        adapt_decoder(str(folder), [], tmp_path / "adapted", Training(), FitContext())
