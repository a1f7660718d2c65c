"""Measurements of Stoker, as ratios to a peer or to a bare script that makes the same calls. Run `python -m bench`."""
