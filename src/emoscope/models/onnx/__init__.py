"""Everything that answers with an ONNX graph. Needs no torch."""
