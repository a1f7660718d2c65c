"""How the identity service answers: handlers by resource, and the table of routes."""
