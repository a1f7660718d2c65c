"""What nobody may see, and values and messages with it redacted."""
