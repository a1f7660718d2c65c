"""The metric service, Gnocchi."""
