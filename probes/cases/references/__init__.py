"""What an operator computes, in float64 numpy: a third oracle beside the two evaluators."""
