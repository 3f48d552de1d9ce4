"""Compiled loops on plain arrays: contiguous, of the right dtype, checked by the caller."""
