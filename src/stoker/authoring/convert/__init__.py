"""Convert templates between CloudFormation and HOT, as far as the other dialect has equivalents."""
