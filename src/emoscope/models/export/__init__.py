"""Writing fine-tuned encoders as ONNX graphs. Needs torch and onnx; what it writes needs neither."""
