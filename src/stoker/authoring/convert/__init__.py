"""Templates from CloudFormation's dialect to HOT and back, as far as the other dialect can say the same."""
