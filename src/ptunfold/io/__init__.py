"""Files: tables, arrays, images and fitted models."""
