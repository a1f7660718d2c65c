"""See `heat`."""
