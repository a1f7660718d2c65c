"""What every layer may use: ids, clock, configuration, errors, logging. Imports nothing of ours."""
