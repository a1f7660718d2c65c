"""What every layer may use: ids, clock, configuration, errors, logging. Imports no other package of Stoker."""
