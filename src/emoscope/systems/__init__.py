"""The named systems. Each is a short recipe over the blocks in `models`."""

from emoscope.registry import Registry
from emoscope.systems.base import System

SYSTEMS: Registry[type[System]] = Registry("system")
SYSTEMS.add("nano", "emoscope.systems.nano:Nano")

__all__ = ["SYSTEMS", "System"]
