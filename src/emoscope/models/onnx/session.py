"""Running ONNX graphs, and choosing the one that reproduces the stored scores on this CPU."""

import textwrap
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.models.onnx.description import FLOAT, Graph
from emoscope.models.onnx.layout import Feed

Run = Callable[[Feed], list[NDArray[Any]]]


def open_graph(path: Path) -> Run:
    """A function from inputs to outputs, the scores first; many threads may call it at once.

    Each call uses one thread: results must not depend on the number of threads, and parallel calls use the cores better
    than one parallel call.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised as well
    # The graphs need no optimisation, except that the float graph still has constants to compute.
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_BASIC if path.name.endswith(FLOAT) else level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return partial(session.run, None)


def open_first(folder: Path, graphs: Iterable[Graph], references: list[Feed]) -> tuple[Run, str]:
    """The first graph that reproduces its stored scores of the reference inputs on this machine, and its file."""
    problems = []
    for graph in graphs:
        try:
            run = open_graph(folder / graph.file)
            scores = np.concatenate([run(feed)[0] for feed in references])
        except Exception as problem:  # whatever onnxruntime raises, the next graph may work
            problems.append(f"{graph.file}: {reason(problem)}")
            continue
        error = float(np.abs(scores - np.array(graph.scores)).max())
        if error <= graph.tolerance:
            if problems:
                warnings.warn(f"this machine runs {graph.file} instead, slower: {'; '.join(problems)}", stacklevel=2)
            return run, graph.file
        problems.append(f"{graph.file}: scores are off by {error:.2g} on this machine")
    raise EmoscopeError(f"{folder}: no graph gives the scores it was saved with ({'; '.join(problems)})")


def reason(error: Exception) -> str:
    """An error in one line, without the source files and signatures that onnxruntime puts before it.

    >>> reason(RuntimeError("[ONNXRuntimeError] : 1 : FAIL : Load model failed"))
    'Load model failed'
    """
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return textwrap.shorten(first.rpartition(" : ")[2], 200)
