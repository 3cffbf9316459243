"""The torch-free runtime: embedded models, batches, class priors, explanations."""

from emoscope.detector.detector import Detector, load

__all__ = ["Detector", "load"]
