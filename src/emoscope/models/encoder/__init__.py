"""A fine-tuned encoder as ONNX graphs: needs numpy, onnxruntime and tokenizers alone."""
