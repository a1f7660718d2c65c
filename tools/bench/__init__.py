"""Measurements of Stoker, as ratios to a peer or to a bare script with the same calls: `python -m tools.bench`."""
