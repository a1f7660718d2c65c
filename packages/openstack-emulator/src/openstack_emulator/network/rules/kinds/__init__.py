"""The kinds of records, and their attributes, as data."""
