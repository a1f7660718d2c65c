"""The form of test files: its declarations, from which the reader, the JSON Schema and the reference are made."""
