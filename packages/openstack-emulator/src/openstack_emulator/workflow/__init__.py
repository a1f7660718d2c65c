"""The workflow service, as Mistral has it."""
