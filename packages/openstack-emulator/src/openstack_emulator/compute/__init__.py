"""Compute: what Nova keeps and how it behaves."""
