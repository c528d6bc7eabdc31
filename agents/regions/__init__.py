"""Regions: the pieces of a module that an agent is asked about, at each of the seven levels.

``find`` lists those of a module, ``extract`` gives one as a module of its own, ``splice`` puts a replacement back.
"""

from kc.agents.regions.extract import extract, identity
from kc.agents.regions.find import Region, find
from kc.agents.regions.splice import SpliceError, splice

__all__ = ["Region", "SpliceError", "extract", "find", "identity", "splice"]
