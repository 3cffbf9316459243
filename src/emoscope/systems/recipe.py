"""The former name of `System`."""

from emoscope.systems.base import PACKAGES, parse_setting
from emoscope.systems.base import System as Recipe

__all__ = ["PACKAGES", "Recipe", "parse_setting"]
