"""Compiles encoder.c into the wheel. Without a C compiler the wheel is pure Python, and onnxruntime computes."""

import importlib.util
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found]

NATIVE = Path("src/emoscope/models/native")


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Of wheels, editable ones too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel by its platform."""
        del version
        folder = Path(self.root) / NATIVE
        spec = importlib.util.spec_from_file_location("library", folder / "library.py")
        assert spec is not None
        assert spec.loader is not None
        library = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(library)
        problem = library.build()
        if problem is not None:
            print(f"the wheel will be pure Python: {problem}", file=sys.stderr)
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"] += [str(NATIVE / library.LIBRARY.name)]
