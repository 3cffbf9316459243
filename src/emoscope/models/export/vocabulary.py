"""Pruning a WordPiece vocabulary: tokens that chat does not use are spelled with shorter ones."""

import json
from collections.abc import Collection, Iterable
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.models.text.tokenizer import Tokenizer

_CONTINUES = "##"


def used_pieces(tokenizer: Tokenizer, texts: Iterable[str]) -> set[int]:
    """The ids of tokens that occur in texts or in the names of emoji."""
    from emoji import EMOJI_DATA

    return set[int]().union(*tokenizer.token_ids([*texts, *EMOJI_DATA]))


def pruned_tokenizer(description: str, used: Collection[int]) -> tuple[str, list[int]]:
    """A `tokenizer.json` with the used tokens, the special ones and all single characters; and their former ids.

    Because every character stays, no text becomes unknown that was not before.
    """
    content: dict[str, Any] = json.loads(description)
    model = content["model"]
    if model.get("type") != "WordPiece" or model.get("continuing_subword_prefix") != _CONTINUES:
        raise EmoscopeError("only a WordPiece vocabulary can be pruned; export this encoder without --prune")
    added = {int(token["id"]) for token in content["added_tokens"]}
    unknown = model["vocab"][model["unk_token"]]
    ids = {**{token["content"]: int(token["id"]) for token in content["added_tokens"]}, **model["vocab"]}
    kept = sorted(
        number
        for piece, number in ids.items()
        if number in used or number in added or number == unknown or len(piece.removeprefix(_CONTINUES)) == 1
    )
    renumbered = {number: place for place, number in enumerate(kept)}
    model["vocab"] = {piece: renumbered[number] for piece, number in model["vocab"].items() if number in renumbered}
    for token in content["added_tokens"]:
        token["id"] = renumbered[int(token["id"])]
    return json.dumps(content, ensure_ascii=False), kept


def without_template(description: str) -> str:
    """A `tokenizer.json` that adds no special tokens, since the layout does; their ids may have changed.

    >>> without_template('{"post_processor": {"type": "TemplateProcessing"}}')
    '{"post_processor": null}'
    """
    return json.dumps({**json.loads(description), "post_processor": None}, ensure_ascii=False)
