"""What must not be shown of a stack, and its values, messages, templates and deployments without it."""
