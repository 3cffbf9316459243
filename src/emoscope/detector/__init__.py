"""The torch-free runtime: embedded models, batches, class priors, explanations."""

from emoscope.detector.detector import Detector, detect, load

__all__ = ["Detector", "detect", "load"]
