"""The types of errors."""

SCHEMA, STATE, QUOTA = "schema-validation-error", "invalid-state-exception", "over-quota"
