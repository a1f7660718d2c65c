"""Decide what must happen, as data; touch nothing."""
