"""Where cases come from, where that decides what they say."""

from __future__ import annotations

NODE = "node"
# A node test whose graph holds the operator's function body: it speaks of the body's operators.
BODY = "node-expanded"
