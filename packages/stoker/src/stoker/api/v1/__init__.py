"""Heat's REST API: `routes.py` is the table of its routes."""
