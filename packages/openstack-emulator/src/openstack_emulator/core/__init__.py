"""The common base of the emulated services: records, routes, errors, state changes over time, faults."""
