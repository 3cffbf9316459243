"""Blocks with scikit-learn's methods (fit, predict_proba) that are saved and loaded without pickle."""
