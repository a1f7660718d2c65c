"""How the workflow service answers: handlers by resource, and the table of routes."""
