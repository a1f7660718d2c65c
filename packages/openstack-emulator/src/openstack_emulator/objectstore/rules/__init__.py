"""What the object store decides."""
