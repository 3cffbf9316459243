"""Exporting networks as ONNX graphs. Needs torch and onnx; the exported model needs neither."""
