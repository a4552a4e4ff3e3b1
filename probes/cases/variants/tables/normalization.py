"""Normalizations: groups, axes, epsilon, statistics given or computed."""

from __future__ import annotations

from typing import Any

from probes.cases.variants.vocabulary import FLOATS, SHAPES, Choice, Draft, From, Spec, t, v

WITH_CHANNELS = {2: (3, 4), 3: (2, 4, 5), 4: (2, 4, 3, 3), 5: (1, 4, 2, 3, 2)}


def _batch(c: Choice) -> Draft:
    shape = WITH_CHANNELS[c["rank"]]
    vector = (shape[1],)
    slots = [t(*shape, kind=c.kind), t(*vector, kind="positive"), t(*vector),
             t(*vector), t(*vector, kind="positive")]  # fmt: skip
    training = c["training"]
    params = {"epsilon": c["epsilon"], "momentum": c["momentum"], "training_mode": training}
    return Draft(slots, params, 3 if training else 1)


def _instance(c: Choice) -> Draft:
    shape = WITH_CHANNELS[c["rank"]]
    slots = [t(*shape, kind=c.kind), t(shape[1], kind="positive"), t(shape[1])]
    return Draft(slots, {"epsilon": c["epsilon"]})


def _group(c: Choice) -> Draft:
    shape = {3: (2, 8, 5), 4: (2, 8, 3, 3), 5: (1, 8, 2, 2, 3), 2: (2, 8)}[c["rank"]]
    groups = {"one": 1, "some": 4, "channels": 8}[c["groups"]]
    slots = [t(*shape, kind=c.kind), t(8, kind="positive"), t(8)]
    return Draft(slots, {"num_groups": groups, "epsilon": c["epsilon"]})


def _layer(c: Choice) -> Draft | None:
    axis = c["axis"]
    shape = SHAPES[c["rank"]]
    if axis is not None and not -len(shape) <= axis < len(shape):
        return None
    inner = shape[-1 if axis is None else axis :]
    slots = [t(*shape, kind=c.kind), t(*inner, kind="positive")]
    if c.values.get("bias"):
        slots.append(t(*inner))
    return Draft(slots, {"axis": axis, "epsilon": c["epsilon"]}, c["outputs"])


def _lrn(c: Choice) -> Draft:
    params = {"size": c["size"], "alpha": c["alpha"], "beta": c["beta"], "bias": c["bias"]}
    return Draft([t(*WITH_CHANNELS[c["rank"]])], params)


def _loss(c: Choice) -> Draft:
    shape = {2: (3, 5), 3: (2, 5, 3), 4: (2, 5, 2, 3)}[c["rank"]]
    labels: Any = t(shape[0], *shape[2:], kind="below:5", dtype=c["index"])
    slots = [t(*shape), labels]
    if c["weight"]:
        slots.append(t(5, kind="positive"))
    return Draft(slots, {"reduction": c["reduction"], "ignore_index": c["ignored"]})


def _optimizer(c: Choice) -> Draft:
    names = {"Adagrad": 3, "Adam": 4, "Momentum": 3}[c.op]
    slots: list[Any] = [v(0.125, "float", fixed=False), v(c["count"], "int64", fixed=False)]
    slots += [t(3, 2, kind="positive") for _ in range(names)]
    params: dict[str, Any] = {
        "Adagrad": {"norm_coefficient": 0.125, "epsilon": 1e-5, "decay_factor": 0.25},
        "Adam": {"norm_coefficient": 0.125, "alpha": 0.875, "beta": 0.75, "epsilon": 1e-5},
        "Momentum": {"norm_coefficient": 0.125, "alpha": 0.875, "beta": 0.75,
                     "mode": c["mode"]},
    }[c.op]  # fmt: skip
    return Draft(slots, params, names - 1)


_EPSILON = (None, 1e-2)
SPECS = (
    Spec("BatchNormalization", _batch, {"rank": (4, 3, 2, 5), "epsilon": _EPSILON, "momentum":
         (None, 0.5), "training": (None, From(14, 1)), "values": ("plain", "wide")},
         dtypes=FLOATS, budget=18, older=4, without=({"training": (1,), "rank": (2,)},)),
    Spec("InstanceNormalization", _instance, {"rank": (4, 3, 5), "epsilon": _EPSILON, "values":
         ("plain", "wide")}, dtypes=FLOATS, budget=14, older=3),
    Spec("GroupNormalization", _group, {"rank": (4, 3, 5, 2), "groups": ("some", "one",
         "channels"), "epsilon": _EPSILON, "values": ("plain", "wide")}, dtypes=FLOATS, budget=18),
    Spec("LayerNormalization", _layer, {"rank": (3, 2, 4, 5), "axis": (None, -1, 1, -2, 0),
         "bias": (1, 0), "epsilon": _EPSILON, "outputs": (1, 3), "values": ("plain", "wide")},
         dtypes=FLOATS, budget=24),
    Spec("RMSNormalization", _layer, {"rank": (3, 2, 4), "axis": (None, -1, 1, -2), "epsilon":
         _EPSILON, "outputs": (1,), "values": ("plain", "wide")}, dtypes=FLOATS, budget=16),
    Spec("LRN", _lrn, {"rank": (4, 3, 5), "size": (3, 1, 2, 5), "alpha": (None, 0.5), "beta":
         (None, 0.5), "bias": (None, 2.0)}, dtypes=FLOATS, budget=14, older=3),
    Spec("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", _loss, {"rank": (2, 3, 4),
         "reduction": (None, "none", "sum"), "weight": (0, 1), "ignored": (None, 2), "index":
         ("int64", "int32")}, dtypes=("float", "double", "float16"), budget=14, older=3),
    Spec("Adagrad Adam Momentum", _optimizer, {"count": (0, 3), "mode": ("standard",
         "nesterov")}, dtypes=("float", "double"), budget=6,
         domain="ai.onnx.preview.training", typed=2),
)  # fmt: skip
