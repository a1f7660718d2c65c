"""Convert templates between CloudFormation and HOT, as far as the other dialect has equivalents."""

HOT, CFN = "hot", "cfn"
"""The dialects that templates can be converted to."""
