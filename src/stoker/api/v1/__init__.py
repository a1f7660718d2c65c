"""Heat's REST API (facts: rest_api.json): `routes.py` is the table of what there is."""
