"""Figures with goals: `make bench` prints one JSON object a line, `ONLY=name` one of them."""
