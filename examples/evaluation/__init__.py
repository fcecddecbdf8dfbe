"""EVALUATE: models' samples come in, are executed in bulk, and become pass@k."""
