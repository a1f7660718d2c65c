"""The identity service, as Keystone has it: who may ask, and where everything is."""
