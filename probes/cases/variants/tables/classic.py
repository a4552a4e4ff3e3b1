"""ai.onnx.ml: trees, linear models, encoders, over small tables of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.variants.vocabulary import Choice, Draft, Slot, Spec, t, v

ML = "ai.onnx.ml"
NUMBERS = ("float", "double", "int64", "int32")
POST = (None, "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")


def _table(c: Choice) -> Draft:
    """Operators that take (rows, features) and a few attributes."""
    rows: dict[str, dict[str, Any]] = {
        "Scaler": {"offset": [0.5, -1.0, 0.0], "scale": [2.0, 0.5, 1.0]},
        "Imputer": {"imputed_value_floats": [1.5, 2.5, -1.0], "replaced_value_float": 0.0},
        "Normalizer": {},
        "Binarizer": {"threshold": 0.25},
    }
    params = dict(rows[c.op])
    if c.op == "Normalizer":
        params["norm"] = c["norm"]
    if c.op == "Scaler" and c["norm"] == "L1":
        params = {"offset": [0.5], "scale": [2.0]}
    if c.op == "Imputer" and "int" in c.dtype:
        params = {"imputed_value_int64s": [7], "replaced_value_int64": 0}
    return Draft([t(4, 3, kind="ties")], params)


def _linear_regressor(c: Choice) -> Draft:
    targets = c["targets"]
    weights = [0.5, -1.0, 2.0, 0.25, 1.0, -0.5][: 3 * targets]
    post = c["post"]
    return Draft(
        [t(4, 3)],
        {"coefficients": weights, "intercepts": [0.5, -0.25][:targets], "targets": targets,
         "post_transform": post},
    )  # fmt: skip


def _linear_classifier(c: Choice) -> Draft:
    labels: dict[str, Any] = {"classlabels_ints": [3, 5, 9]}
    if c["labels"] == "strings":
        labels = {"classlabels_strings": ["a", "b", "c"]}
    return Draft(
        [t(4, 3)],
        {"coefficients": [0.5, -1.0, 2.0, 0.25, 1.0, -0.5, 1.5, 0.0, -2.0],
         "intercepts": [0.5, -0.25, 0.0], "post_transform": c["post"], "multi_class": 0, **labels},
        2,
    )  # fmt: skip


_TREE = {
    "nodes_treeids": [0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 0, 1, 2],
    "nodes_featureids": [0, 0, 0, 2, 0, 0],
    "nodes_values": [0.25, 0.0, 0.0, -0.5, 0.0, 0.0],
    "nodes_hitrates": [1.0] * 6,
    "nodes_truenodeids": [1, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0, 2, 0, 0],
    "nodes_missing_value_tracks_true": [0] * 6,
}


def _modes(mode: str) -> list[str]:
    return [mode, "LEAF", "LEAF", mode, "LEAF", "LEAF"]


def _tree_regressor(c: Choice) -> Draft:
    params: dict[str, Any] = {
        **_TREE, "nodes_modes": _modes(c["mode"]), "n_targets": 1,
        "target_treeids": [0, 0, 1, 1], "target_nodeids": [1, 2, 1, 2], "target_ids": [0] * 4,
        "target_weights": [1.5, -2.0, 0.25, 4.0], "aggregate_function": c["aggregate"],
        "base_values": [0.5] if c["base"] else None, "post_transform": c["post"],
    }  # fmt: skip
    return Draft([t(5, 3, kind=c.kind)], params)


def _tree_classifier(c: Choice) -> Draft:
    labels: dict[str, Any] = {"classlabels_int64s": [3, 5, 9]}
    if c["labels"] == "strings":
        labels = {"classlabels_strings": ["a", "b", "c"]}
    params: dict[str, Any] = {
        **_TREE, "nodes_modes": _modes(c["mode"]), "class_treeids": [0, 0, 1, 1],
        "class_nodeids": [1, 2, 1, 2], "class_ids": [0, 1, 2, 0],
        "class_weights": [1.5, 2.0, 0.25, 0.75], "post_transform": c["post"], **labels,
    }  # fmt: skip
    return Draft([t(5, 3)], params, 2)


def _ensemble(c: Choice) -> Draft:
    """One tree of two leaves a target, thresholds in the type of the input."""

    def number(values: list[float]) -> Slot:
        return Slot((len(values),), "", "", values)

    params: dict[str, Any] = {
        "n_targets": 2, "aggregate_function": c["aggregate"], "post_transform": 0,
        "tree_roots": [0], "nodes_featureids": [0], "nodes_splits": number([0.25]),
        "nodes_modes": Slot((1,), "", "uint8", [c["mode"]]), "nodes_truenodeids": [0],
        "nodes_trueleafs": [1], "nodes_falsenodeids": [1], "nodes_falseleafs": [1],
        "leaf_targetids": [0, 1], "leaf_weights": number([1.5, -2.0]),
    }  # fmt: skip
    return Draft([t(5, 3, kind="ties")], params)


def _svm_regressor(c: Choice) -> Draft:
    vectors = [0.5, -1.0, 2.0, 1.0, 0.25, -0.5]
    params: dict[str, Any] = {
        "kernel_type": c["kernel"], "kernel_params": [0.5, 1.0, 2.0], "n_supports": 2,
        "support_vectors": vectors, "coefficients": [1.0, -0.5], "rho": [0.25],
    }  # fmt: skip
    return Draft([t(4, 3, kind="small" if c.dtype == "float" else "plain")], params)


def _svm_classifier(c: Choice) -> Draft:
    params: dict[str, Any] = {
        "kernel_type": c["kernel"], "kernel_params": [0.5, 1.0, 2.0],
        "support_vectors": [0.5, -1.0, 2.0, 1.0, 0.25, -0.5], "vectors_per_class": [1, 1],
        "coefficients": [1.0, -0.5], "rho": [0.25], "classlabels_ints": [0, 1],
    }  # fmt: skip
    return Draft([t(4, 3)], params, 2)


def _label_encoder(c: Choice) -> Draft:
    pairs: dict[str, tuple[Any, str, dict[str, Any]]] = {
        "text-int": (["a", "b", "z"], "string",
                     {"keys_strings": ["a", "b"], "values_int64s": [1, 2], "default_int64": -7}),
        "int-text": ([1, 2, 9], "int64",
                     {"keys_int64s": [1, 2], "values_strings": ["x", "y"], "default_string": "?"}),
        "int-float": ([1, 2, 9], "int64",
                      {"keys_int64s": [1, 2], "values_floats": [0.5, 1.5], "default_float": -1.0}),
        "float-int": ([0.5, np.nan, 3.0], "float",
                      {"keys_floats": [0.5, 1.0], "values_int64s": [5, 6], "default_int64": 0}),
        "text-float": (["a", "b", ""], "string",
                       {"keys_strings": ["a", ""], "values_floats": [1.0, 2.0]}),
    }  # fmt: skip
    values, dtype, params = pairs[c["pair"]]
    return Draft([v(values, dtype)], params)


def _one_hot(c: Choice) -> Draft:
    if c["keys"] == "strings":
        return Draft([v(["a", "c", "b"], "string")], {"cats_strings": ["a", "b", "c"], "zeros": 1})
    unknown = [1, 7, 2] if c["unknown"] else [1, 3, 2]
    return Draft([v(unknown, "int64")], {"cats_int64s": [1, 2, 3], "zeros": 1})


def _extract(c: Choice) -> Draft:
    return Draft([t(3, 4), v(c["at"], "int64")])


def _feature_vector(c: Choice) -> Draft:
    return Draft([t(3, 2), t(3, 4)], {"inputdimensions": [2, 4]})


def _categories(c: Choice) -> Draft:
    params = {"cats_int64s": [1, 2], "cats_strings": ["x", "y"], "default_int64": -7,
              "default_string": "?"}  # fmt: skip
    if c["to"] == "int":
        return Draft([v(["x", "y", "z"], "string")], params)
    return Draft([v([1, 2, 9], "int64")], params)


_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
SPECS = (
    Spec("Scaler Imputer Normalizer", _table, {"norm": ("MAX", "L1", "L2")}, dtypes=NUMBERS,
         budget=8, domain=ML),
    Spec("Binarizer", _table, {"norm": (None,)}, dtypes=NUMBERS, budget=6, domain=ML),
    Spec("LinearRegressor", _linear_regressor, {"targets": (1, 2), "post": (None, "PROBIT")},
         dtypes=NUMBERS, budget=6, domain=ML),
    Spec("LinearClassifier", _linear_classifier, {"labels": ("ints", "strings"), "post": POST},
         dtypes=NUMBERS, budget=10, domain=ML),
    Spec("TreeEnsembleRegressor", _tree_regressor, {"mode": _MODES, "aggregate": (None, "AVERAGE",
         "MIN", "MAX"), "base": (0, 1), "post": (None, "LOGISTIC"), "values": ("plain", "ties")},
         dtypes=NUMBERS, budget=12, older=4, domain=ML),
    Spec("TreeEnsembleClassifier", _tree_classifier, {"mode": _MODES, "labels": ("ints",
         "strings"), "post": POST}, dtypes=NUMBERS, budget=12, older=4, domain=ML),
    Spec("TreeEnsemble", _ensemble, {"mode": (0, 1, 2, 3, 4, 5), "aggregate": (1, 0, 2, 3)},
         dtypes=("float", "double"), budget=10, domain=ML),
    Spec("SVMRegressor", _svm_regressor, {"kernel": ("LINEAR", "RBF", "POLY", "SIGMOID")},
         dtypes=NUMBERS, budget=8, domain=ML),
    Spec("SVMClassifier", _svm_classifier, {"kernel": ("LINEAR", "RBF", "POLY", "SIGMOID")},
         dtypes=NUMBERS, budget=8, domain=ML),
    Spec("LabelEncoder", _label_encoder, {"pair": ("text-int", "int-text", "int-float",
         "float-int", "text-float")}, dtypes=("float",), since=2, budget=8, domain=ML),
    Spec("OneHotEncoder", _one_hot, {"keys": ("ints", "strings"), "unknown": (0, 1)},
         dtypes=("int64",), budget=6, domain=ML),
    Spec("ArrayFeatureExtractor", _extract, {"at": ((0,), (2, 0), (3, 1, 1))}, dtypes=NUMBERS,
         budget=8, domain=ML),
    Spec("FeatureVectorizer", _feature_vector, {}, dtypes=NUMBERS, budget=6, domain=ML),
    Spec("CategoryMapper", _categories, {"to": ("int", "text")}, dtypes=("int64",), budget=4,
         domain=ML),
)  # fmt: skip
