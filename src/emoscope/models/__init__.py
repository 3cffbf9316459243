"""What learns: blocks with scikit-learn's grammar (fit, predict_proba) that save and load without pickle."""
