"""Files: fitted models."""
