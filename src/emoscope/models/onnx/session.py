"""Running ONNX graphs: the one that gives the stored scores on this CPU, from as many threads as there are cores."""

import textwrap
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.models.onnx.description import FLOAT, Graph
from emoscope.models.onnx.layout import Feed

Scores = NDArray[np.float64]
Run = Callable[[Feed], list[NDArray[Any]]]


def open_graph(path: Path) -> Run:
    """A function from inputs to outputs, the scores first. Many threads may call it at once; each call runs in its own.

    One thread a call, because what a thread computes must not depend on how many there are, and because calls side by
    side use the cores better than the parts of one call do.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, too, and said once
    # The graphs are written as they are to run; only the constants of the float graph are still to be computed.
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_BASIC if path.name == FLOAT else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(feed: Feed) -> list[NDArray[Any]]:
        return list(session.run(None, feed))

    return run


def open_first(folder: Path, graphs: Iterable[Graph], references: list[Feed]) -> tuple[Run, str]:
    """The first graph, and its file, that gives its stored scores for the reference inputs on this machine.

    The others are safer.
    """
    problems = []
    for graph in graphs:
        try:
            run = open_graph(folder / graph.file)
            found = np.concatenate([run(feed)[0] for feed in references])
        except Exception as error:  # whatever onnxruntime raises, the next graph may work
            problems.append(f"{graph.file}: {reason(error)}")
            continue
        off = float(np.abs(found - np.array(graph.scores)).max())
        if off <= graph.tolerance:
            if problems:
                warnings.warn(f"this machine runs {graph.file} instead, slower: {'; '.join(problems)}", stacklevel=2)
            return run, graph.file
        problems.append(f"{graph.file}: scores are off by {off:.2g} on this machine")
    raise EmoscopeError(f"{folder}: no graph gives the scores it was saved with ({'; '.join(problems)})")


def reason(error: Exception) -> str:
    """What went wrong in a line; onnxruntime puts its own sources and signatures before it.

    >>> reason(RuntimeError("[ONNXRuntimeError] : 1 : FAIL : Load model failed"))
    'Load model failed'
    """
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return textwrap.shorten(first.rpartition(" : ")[2], 200)
