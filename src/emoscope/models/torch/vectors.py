"""Word vectors: reading, training, and the embedding matrix of a vocabulary."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from emoscope.core.arrays import open_arrays
from emoscope.core.emoticons import emoji_words
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.core.files import existing_file
from emoscope.core.fit_context import FitContext
from emoscope.models.text.vocabulary import Vocabulary

Matrix = NDArray[np.float32]
GLOVE = "embeddings/glove.6B.100d.subset.npz"
EMOJI2VEC = "embeddings/emoji2vec.bin"

_DOUBLED = re.compile(r"(.)\1")


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words and a row of numbers for each.

    >>> vectors = WordVectors(("so", "happy"), np.array([[1.0, 0.0], [0.0, 1.0]], np.float32))
    >>> vectors.size, len(vectors)
    (2, 2)
    """

    words: tuple[str, ...]
    matrix: Matrix

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise EmoscopeError(f"{len(self.words):,} words, but vectors of shape {self.matrix.shape}")

    @property
    def size(self) -> int:
        """Numbers per word."""
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def joined(self, others: "WordVectors") -> "WordVectors":
        """These and others of the same size; a word in both keeps its vector from these."""
        if others.size != self.size:
            raise EmoscopeError(f"vectors of {self.size} and of {others.size} numbers cannot be joined")
        own = set(self.words)
        new = [number for number, word in enumerate(others.words) if word not in own]
        words = (*self.words, *(others.words[number] for number in new))
        return WordVectors(words, np.concatenate([self.matrix, others.matrix[new]]))


def pretrained_vectors(
    name: str, texts: Sequence[Sequence[str]], size: int, min_count: int, fit_context: FitContext
) -> WordVectors | None:
    """The vectors named by a network's setting; None for random ones."""
    match name:
        case "random":
            return None
        case "word2vec":
            return train_word2vec(texts, size, seed=fit_context.seed, min_count=min_count)
        case "glove":
            return read_vectors(fit_context.resource(GLOVE))
        case "glove+emoji":
            glove = read_vectors(fit_context.resource(GLOVE))
            emoji = named_emoji(read_vectors(fit_context.resource(EMOJI2VEC)))
            return scaled_like(reduced(emoji, glove.size), glove).joined(glove)
    if not Path(name).is_file():
        raise EmoscopeError(f"vectors: expected glove, glove+emoji, word2vec, random or a file, found {name!r}")
    return read_vectors(Path(name))


def read_vectors(path: Path) -> WordVectors:
    """Vectors from a file: `.npz` with the arrays `words` and `vectors`, or word2vec's binary format (`.bin`)."""
    if path.suffix != ".bin":
        with open_arrays(path, "a file of word vectors") as arrays:
            return WordVectors(tuple(arrays["words"].tolist()), np.asarray(arrays["vectors"], np.float32))
    models = require("gensim.models", extra="train")
    try:
        keyed = models.KeyedVectors.load_word2vec_format(str(existing_file(path)), binary=True)
    except (ValueError, EOFError) as error:
        raise InputError(path, f"is not in word2vec's binary format ({error})") from None
    return WordVectors(tuple(keyed.index_to_key), keyed.vectors)


def train_word2vec(
    texts: Sequence[Sequence[str]], size: int, *, seed: int = 0, epochs: int = 5, window: int = 5, min_count: int = 2
) -> WordVectors:
    """Skip-gram vectors of tokenised texts. One thread, so that they are reproducible."""
    word2vec = require("gensim.models.word2vec", extra="train")
    model = word2vec.Word2Vec(
        sentences=[list(text) for text in texts],
        vector_size=size,
        seed=seed + 1,  # gensim takes 0 for a random seed
        epochs=epochs,
        window=window,
        min_count=min_count,
        sg=1,
        workers=1,
    )
    return WordVectors(tuple(model.wv.index_to_key), np.asarray(model.wv.vectors, np.float32))


def named_emoji(vectors: WordVectors) -> WordVectors:
    """Vectors of emoji under the names that `chat_tokens` gives them; the skin tones of an emoji are averaged."""
    rows: dict[str, list[int]] = {}
    for number, word in enumerate(vectors.words):
        name = emoji_words(word)
        if name:
            rows.setdefault(name.replace(" ", "_"), []).append(number)
    matrix = np.array([vectors.matrix[numbers].mean(0) for numbers in rows.values()], np.float32)
    return WordVectors(tuple(rows), matrix.reshape(len(rows), vectors.size))


def reduced(vectors: WordVectors, size: int) -> WordVectors:
    """Vectors reduced to their `size` principal components; shorter ones are padded with zeros."""
    matrix = vectors.matrix
    if vectors.size > size:
        centred = matrix - matrix.mean(0)
        directions = np.linalg.svd(centred, full_matrices=False)[2][:size]
        # The sign of a component is arbitrary; make its largest number positive, so that all machines agree.
        signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(1)])
        matrix = centred @ (directions * signs[:, None]).T
    return WordVectors(vectors.words, np.pad(matrix, ((0, 0), (0, size - matrix.shape[1]))))


def scaled_like(vectors: WordVectors, model: WordVectors) -> WordVectors:
    """Vectors scaled to the mean length of another set."""
    length, target = (float(np.linalg.norm(each.matrix, axis=1).mean()) for each in (vectors, model))
    return WordVectors(vectors.words, vectors.matrix * np.float32(target / max(length, 1e-9)))


def embedding_matrix(vocabulary: Vocabulary, vectors: WordVectors | None, size: int, seed: int) -> Tensor:
    """A row for each token: its vector if there is one, small random numbers if not, zeros for padding.

    A token of several words (`frowning_face`) without a vector gets the mean of the words' vectors, a stretched word
    ("soo") the vector of the word it stands for.
    """
    if vectors is not None and vectors.size != size:
        raise EmoscopeError(f"embedding_size is {size}, but these vectors have {vectors.size} numbers per word")
    generator = np.random.default_rng(seed)
    spread = float(vectors.matrix.std()) if vectors is not None and len(vectors) else 0.1
    matrix = generator.normal(0.0, spread, (len(vocabulary), size)).astype(np.float32)
    if vectors is not None:
        rows = {word: number for number, word in enumerate(vectors.words)}
        for number, token in enumerate(vocabulary.tokens):
            # Less and less similar spellings of the token.
            for words in ([token], [token.lower()], token.split("_"), [_DOUBLED.sub(r"\1", token)]):
                word_rows = [rows[word] for word in words if word in rows]
                if word_rows:
                    matrix[number] = vectors.matrix[word_rows].mean(0)
                    break
    matrix[vocabulary.padding] = 0
    return torch.from_numpy(matrix)
