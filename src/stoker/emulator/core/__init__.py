"""What every emulated service stands on: records, routes, errors, state changes over time, faults."""
