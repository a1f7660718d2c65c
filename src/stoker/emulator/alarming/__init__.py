"""The alarming service, Aodh."""
