"""One case, a predictor and an engine joined into a verdict; one module per kind of metric."""
