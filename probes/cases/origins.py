"""Where cases come from, where that decides what they say."""

from __future__ import annotations

NODE = "node"
# A node test whose graph holds the operator's function body: it speaks of the body's operators.
BODY = "node-expanded"
# Another graph for the computation of a mainstream case. It says nothing of the operator in whose
# row it stands, only that there is, or is not, a way around it.
ALTERNATIVE = "alternative"
# What these contain is not what their row's operator is judged by.
OF_OTHERS = frozenset((BODY, ALTERNATIVE))
