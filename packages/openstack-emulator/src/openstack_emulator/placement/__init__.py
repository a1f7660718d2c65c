"""Placement, as far as clients need it: it tells which hosts have room, and keeps nothing."""
