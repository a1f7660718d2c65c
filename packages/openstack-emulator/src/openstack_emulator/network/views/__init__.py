"""Records as clients of the API and drivers of guests see them."""
