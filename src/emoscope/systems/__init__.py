"""The named systems: short recipes over the blocks in `models`."""

from emoscope.core.callable_module import make_callable
from emoscope.core.registry import Registry
from emoscope.systems.base import System

SYSTEMS: Registry[type[System]] = Registry("system", entry_points="emoscope.systems")
SYSTEMS.add("nano", "emoscope.systems.nano:Nano")
SYSTEMS.add("large", "emoscope.systems.large:Large")
SYSTEMS.add("emocontext-baseline", "emoscope.systems.emocontext_baseline:EmoContextBaseline")
SYSTEMS.add("snu-ids", "emoscope.systems.snu_ids:SnuIds")
SYSTEMS.add("thu-hcsi", "emoscope.systems.thu_hcsi:ThuHcsi")
SYSTEMS.add("cyut", "emoscope.systems.cyut:Cyut")
SYSTEMS.add("idea", "emoscope.systems.idea:Idea")
SYSTEMS.add("ku", "emoscope.systems.ku:Ku")
SYSTEMS.add("hsu", "emoscope.systems.hsu:Hsu")
SYSTEMS.add("alexu", "emoscope.systems.alexu:AlexU")
SYSTEMS.add("antenna", "emoscope.systems.antenna:Antenna")
SYSTEMS.add("symantoresearch", "emoscope.systems.symantoresearch:SymantoResearch")
SYSTEMS.add("ana", "emoscope.systems.ana:Ana")
SYSTEMS.add("iiidyt", "emoscope.systems.iiidyt:Iiidyt")
SYSTEMS.add("figure-eight", "emoscope.systems.figure_eight:FigureEight")
SYSTEMS.add("ntua-slp", "emoscope.systems.ntua_slp:NtuaSlp")
SYSTEMS.add("amobee", "emoscope.systems.amobee:Amobee")
SYSTEMS.add("iest-baseline", "emoscope.systems.iest_baseline:IestBaseline")
SYSTEMS.add("nelec", "emoscope.systems.nelec:Nelec")
SYSTEMS.add("podlab", "emoscope.systems.podlab:Podlab")
SYSTEMS.add("caire-hkust", "emoscope.systems.caire_hkust:CaireHkust")

__all__ = ["SYSTEMS", "System"]
make_callable(__name__, "emoscope.api:systems")
