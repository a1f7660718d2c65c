"""The service for single containers, Zun."""
