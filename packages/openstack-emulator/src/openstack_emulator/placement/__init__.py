"""Placement, as far as clients need it: it answers, and has nothing to place on."""
