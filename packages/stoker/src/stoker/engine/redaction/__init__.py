"""Find the secrets of a stack, and redact its values, messages, templates and deployments."""
