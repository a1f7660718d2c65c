"""The emulated policy service (Congress)."""
