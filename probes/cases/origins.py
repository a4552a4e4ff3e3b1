"""Where cases come from, where that decides what they say."""

from __future__ import annotations

NODE = "node"
# A node test whose graph holds the operator's function body: it speaks of the body's operators.
BODY = "node-expanded"
# Made from a schema by a table: one more of the forms that an operator may take. Beyond the core.
VARIANT = "variant"
# A row of its own kind: a pattern of several nodes, a torch.nn module as it is exported.
PATTERN = "pattern"
MODULE = "module"
# Cut from a real model: the node with its shapes, random weights.
HARVEST = "harvest"
# One value of a parameter that is varied until something gives: it stands in no catalogue, only in
# the documents of limits.
LIMIT = "limit"
# Another graph for the computation of a mainstream case. It says nothing of the operator in whose
# row it stands, only that there is, or is not, a way around it.
ALTERNATIVE = "alternative"
# What these contain is not what their row's operator is judged by.
OF_OTHERS = frozenset((BODY, ALTERNATIVE))
