"""A Griffe extension for `make docs`: the examples in docstrings, which are plain doctests, become blocks of code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n(?:^(?![ ]*>>> )[ ]*\S.*\n|^[ ]*>>> .*\n)*)", re.MULTILINE)


def fenced(docstring: str) -> str:
    """A docstring with its doctests between fences.

    >>> print(fenced("Add.\\n\\n>>> 1 + 1\\n2"))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    """
    return EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}```\n", f"{docstring}\n")


class DocstringExamples(griffe.Extension):
    """Fences the doctests of everything that is documented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
