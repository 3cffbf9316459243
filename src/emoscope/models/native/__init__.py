"""Encoders of 8 bits in C, for processors that have the instructions: the scores of onnxruntime, sooner."""
