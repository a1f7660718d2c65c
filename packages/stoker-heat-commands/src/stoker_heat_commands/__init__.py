"""Stoker's programs under the names of Heat's."""
