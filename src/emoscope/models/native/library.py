"""The C kernels: compiled when the wheel is built, or by `python -m emoscope.models.native.library`."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

SOURCES = [Path(__file__).with_name(name) for name in ("encoder.c", "ngrams.c", "screen.c")]
LIBRARY = Path(__file__).with_name("libemoscope.dll" if sys.platform == "win32" else "libemoscope.so")
FLAGS = ("-O3", "-shared", "-fPIC", "-ffp-contract=off", "-lm")


def fields(kind: type[Any], names: str) -> list[tuple[str, type[Any]]]:
    """Fields of a C structure that have one type.

    >>> fields(ctypes.c_float, "low high")
    [('low', <class 'ctypes.c_float'>), ('high', <class 'ctypes.c_float'>)]
    """
    return [(name, kind) for name in names.split()]


@cache
def library() -> Any:
    """The compiled kernels; None if there are none or EMOSCOPE_NATIVE is 0."""
    if os.environ.get("EMOSCOPE_NATIVE", "1") == "0" or not LIBRARY.is_file():
        return None
    pointer, number, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        loaded.emoscope_pack.argtypes = (pointer, number, number, number, pointer, pointer)
        loaded.emoscope_run.argtypes = (pointer, pointer, pointer, pointer, number, pointer)
        loaded.emoscope_ngram_scores.argtypes = (pointer, text, pointer, text, pointer, number, pointer)
        loaded.emoscope_screen_add.argtypes = (pointer, text, ctypes.c_int64, number)
        loaded.emoscope_screen_texts.argtypes = (pointer, text, pointer, number, pointer)
    except (OSError, AttributeError):  # for another machine, or compiled before a function was added
        return None
    return loaded


def build(target: Path = LIBRARY) -> str | None:
    """Compile the library; if that is impossible here, return the reason (onnxruntime is used then, more slowly)."""
    import platform
    import shutil
    import subprocess
    import sysconfig

    if platform.machine().lower() not in ("x86_64", "amd64") or sys.maxsize < 2**32:
        return f"the kernels are for x86-64 processors, not {platform.machine()}"
    preferred = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = next((path for name in (preferred, "cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if compiler is None:
        return "no C compiler was found"
    part = target.with_name(f"{target.name}.{os.getpid()}")
    done = subprocess.run(
        [compiler, *map(str, SOURCES), "-o", str(part), *FLAGS], capture_output=True, text=True, check=False
    )
    if done.returncode:
        part.unlink(missing_ok=True)
        return next(iter(done.stderr.strip().splitlines()), f"{compiler} failed")
    part.replace(target)
    return None


if __name__ == "__main__":
    problem = build()
    print(problem or f"compiled {LIBRARY}")
    sys.exit(problem is not None)
