"""A cluster of fifty engines with a million resources, rehearsed in virtual time: see `__main__`."""
