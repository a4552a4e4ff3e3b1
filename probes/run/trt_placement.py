"""On which unit of a Jetson the layers of an engine are, read from the builder's log and from the
engine inspector."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from probes.run.outcome import Placement
from probes.run.trt import layers_text

Layers = Counter[tuple[str, str]]  # (what, "DLA" or "GPU")

DLA_LAYER = re.compile(r"\[DlaLayer\] \{?(?:ForeignNode\[)?(.*?)\]?\}?,?$")
GPU_LAYER = re.compile(r"\[GpuLayer\] (?:([A-Z_0-9]+): )?(.*)$")
# Copies, changes of layout and constants: no operator was computed there.
MOVES = re.compile(
    r"^(?:COPY|CONSTANT|Constant|Reformat|NoOp|ShapeHostToDevice)$"
    r"|^Reformatting CopyNode| (?:to|from) nvm$| copy finish$"
)
REASONS_SHOWN = 3


def logged_layers(lines: Sequence[str]) -> Layers:
    """From the list that the builder logs where a DLA is there."""
    layers: Layers = Counter()
    for line in lines:
        on_dla, on_gpu = DLA_LAYER.search(line), GPU_LAYER.search(line)
        if on_dla:
            layers[on_dla[1], "DLA"] += 1
        elif on_gpu and not (MOVES.search(on_gpu[1] or "") or MOVES.search(on_gpu[2])):
            layers[on_gpu[1] or on_gpu[2], "GPU"] += 1
    return layers


def inspected_layers(document: str) -> Layers:
    """From the engine inspector's JSON: objects where the verbosity is detailed, else names."""
    layers: Layers = Counter()
    for layer in json.loads(document).get("Layers", []):
        name, kind = (layer, layer) if isinstance(layer, str) else _named(layer)
        if not (MOVES.search(name) or MOVES.search(kind)):
            layers[kind, "DLA" if kind.upper().startswith("DLA") else "GPU"] += 1
    return layers


def place(layers: Layers, wanted: str) -> Placement:
    """wanted: the unit that was asked for. An engine of copies only computes nothing elsewhere."""
    units = {unit for _, unit in layers}
    if units <= {wanted}:
        return Placement.ACCELERATOR
    return Placement.MIXED if wanted in units else Placement.FALLBACK


def describe(layers: Layers, warnings: Sequence[str]) -> str:
    """The layers with their units, and why some are not on the DLA."""
    reasons = [line for line in warnings if "DLA" in line and "Switching" not in line]
    return "\n".join([layers_text(layers), *reasons[:REASONS_SHOWN]])


def _named(layer: dict[str, object]) -> tuple[str, str]:
    name = str(layer.get("Name", ""))
    return name, str(layer.get("LayerType") or name)
