"""Plan operations as data, without side effects."""
