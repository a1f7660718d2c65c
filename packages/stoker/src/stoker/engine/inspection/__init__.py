"""Read stacks without changing them: attributes, outputs, drift, exports."""
