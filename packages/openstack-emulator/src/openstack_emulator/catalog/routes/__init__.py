"""The application catalog over HTTP."""
