"""Makes a Python process on Linux lack what Windows lacks, whenever one starts that has this folder on its path.

No fork, no fcntl, no resource, no process groups, no SIGKILL; new processes are spawned; and a file that is opened as
text without an encoding, which on Windows would not be UTF-8, is an error if emoscope does it.
"""

import builtins
import multiprocessing
import os
import signal
import subprocess  # noqa: F401 - before msvcrt is there, by which it tells Windows
import sys
import types
import warnings

for missing in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[missing] = None  # type: ignore[assignment]
for name in (
    "fork",
    "forkpty",
    "killpg",
    "getpgid",
    "setsid",
    "sched_getaffinity",
    "getuid",
    "geteuid",
    "getgid",
    "chown",
):
    if hasattr(os, name):
        delattr(os, name)
del signal.SIGKILL
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK = 2  # type: ignore[attr-defined]
msvcrt.locking = lambda _file, _mode, _bytes: None  # type: ignore[attr-defined]
sys.modules["msvcrt"] = msvcrt
multiprocessing.set_start_method("spawn")
warnings.filterwarnings("error", category=EncodingWarning, module=r"emoscope\b")
builtins.WINDOWS_LIKE = True  # type: ignore[attr-defined]
