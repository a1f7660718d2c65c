"""Templates that are generated from the objects of a project."""
