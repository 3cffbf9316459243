"""Inference with ONNX graphs, without torch."""
