"""Interpolation: what is resampled where, and how."""

from __future__ import annotations

from typing import Any

from probes.cases.variants.vocabulary import FLOATS, Choice, Draft, From, Slot, Spec, k, t, v

SIZES = {3: (2, 3, 6), 4: (1, 2, 4, 6), 5: (1, 2, 3, 4, 4)}
TF_CROP = "tf_crop_and_resize"


def _resize(c: Choice) -> Draft | None:
    shape = SIZES[c["rank"]]
    spatial = shape[2:]
    scales = [float(c["scale"])] * len(spatial)
    if c["policy"]:
        scales[-1] = scales[-1] * 1.5
    sizes = [int(length * scale) for length, scale in zip(spatial, scales, strict=True)]
    whole = not c["axes"]
    full_scales = [1.0, 1.0, *scales] if whole else scales
    full_sizes = [*shape[:2], *sizes] if whole else sizes
    roi = [0.0] * (len(shape) - len(spatial)) * whole + [0.125] * len(spatial)
    roi += [1.0] * (len(shape) - len(spatial)) * whole + [0.75] * len(spatial)
    crops = c["coordinates"] == TF_CROP
    by_scales = c["by"] == "scales"
    if c.since == 10 and not by_scales:
        return None
    params = {
        "mode": c["mode"],
        "coordinate_transformation_mode": c["coordinates"],
        "nearest_mode": c["nearest"],
        "antialias": c["antialias"],
        "exclude_outside": c["outside"],
        "cubic_coeff_a": c["coefficient"],
        "keep_aspect_ratio_policy": c["policy"],
        "extrapolation_value": 10.5 if crops else None,
        "axes": None if whole else list(range(2, len(shape))),
        "roi": v(roi, "float") if crops else None,
        "scales": v(full_scales, "float") if by_scales else None,
        "sizes": None if by_scales else v(full_sizes),
    }
    if not by_scales and c.since < 13 and not crops:
        params["scales"] = k([], "float")
    if c.since < 13 and c.since > 10 and not crops:
        params["roi"] = k([], "float")
    return Draft([t(*shape, kind=c.kind)], params)


def _upsample(c: Choice) -> Draft:
    scales = [1.0, 1.0, *[float(c["scale"])] * 2]
    return Draft(
        [t(*SIZES[4])],
        {"mode": c["mode"], "scales": v(scales, "float") if c.since > 7 else scales},
    )


def _grid_sample(c: Choice) -> Draft:
    shape, out = {4: ((2, 2, 4, 5), (2, 3, 4, 2)), 5: ((1, 2, 3, 4, 3), (1, 2, 3, 2, 3))}[c["rank"]]
    reach = {"inside": "open_unit", "beyond": "plain", "corners": "signed_unit"}[c["grid"]]
    return Draft(
        [t(*shape), t(*out, kind=reach)],
        {"mode": c["mode"], "padding_mode": c["padding"], "align_corners": c["corners"]},
    )


def _affine_grid(c: Choice) -> Draft:
    rows, size = {4: ((2, 2, 3), [2, 3, 4, 5]), 5: ((1, 3, 4), [1, 2, 2, 3, 4])}[c["rank"]]
    return Draft([t(*rows), v(size)], {"align_corners": c["corners"]})


def _roi_align(c: Choice) -> Draft:
    boxes = [[0, 0, 6, 6], [1, 2, 7.5, 5], [3.25, 0.5, 4, 8], [0, 1, 7, 6]]
    params = {
        "mode": c["mode"],
        "output_height": c["bins"],
        "output_width": 2,
        "sampling_ratio": c["ratio"],
        "spatial_scale": c["scale"],
        "coordinate_transformation_mode": c["coordinates"],
    }
    return Draft([t(2, 2, 7, 8), v(boxes, c.dtype), v([0, 1, 1, 0])], params)


def _max_roi_pool(c: Choice) -> Draft:
    boxes = [[0, 0, 0, 5, 5], [1, 1, 2, 6, 5], [1, 3, 0, 4, 6]]
    rois = v(boxes, c.dtype)
    return Draft([t(2, 2, 7, 8), rois], {"pooled_shape": c["bins"], "spatial_scale": c["scale"]})


def _image_grid(c: Choice) -> Draft:
    block = c["block"]
    shape = (1, 2 * block * block, 2, 3) if c.op == "DepthToSpace" else (1, 2, 2 * block, 3 * block)
    return Draft([Slot(shape)], {"blocksize": block, "mode": c["mode"]})


COORDINATES = (
    None,
    From(11, "asymmetric"),
    From(11, "align_corners"),
    From(11, "pytorch_half_pixel"),
    From(11, "tf_half_pixel_for_nn", before=13),
    From(19, "half_pixel_symmetric"),
)
_PLAIN: dict[str, Any] = {
    "mode": ("nearest",),
    "coordinates": COORDINATES,
    "nearest": (None,),
    "antialias": (None,),
    "outside": (None,),
    "coefficient": (None,),
    "policy": (None,),
    "axes": (None,),
    "scale": (2.0, 0.5, 1.5, 0.75, 3.0),
    "by": ("scales", From(11, "sizes")),
    "rank": (4,),
}
_NUMBERS = ("float", "float16", "uint8", "double", "int32", "int8", "bfloat16")
# A row for each kind of question: what matters in one mode means nothing in another.
_RESIZE: tuple[tuple[dict[str, Any], tuple[str, ...], int, int], ...] = (
    (
        {
            "nearest": (
                None,
                From(11, "round_prefer_ceil"),
                From(11, "floor"),
                From(11, "ceil"),
            ),
            "rank": (4, 3, 5),
        },
        _NUMBERS,
        26,
        8,
    ),
    ({"mode": ("linear",), "antialias": (None, From(18, 1)), "rank": (4, 3, 5)}, FLOATS, 20, 6),
    (
        {
            "mode": ("cubic",),
            "antialias": (None, From(18, 1)),
            "outside": (None, From(11, 1)),
            "coefficient": (None, From(11, -0.5)),
        },
        FLOATS,
        20,
        6,
    ),
    (
        {
            "mode": ("linear", "nearest"),
            "coordinates": (None, From(11, "asymmetric")),
            "policy": (From(18, "not_larger"), From(18, "not_smaller"), None),
            "axes": (From(18, 1), None),
            "by": ("sizes",),
        },
        FLOATS,
        8,
        4,
    ),
    ({"mode": ("nearest", "linear"), "coordinates": (From(11, TF_CROP),)}, FLOATS, 6, 3),
)
# At a tie the nearest modes part, and so do runtimes: all of it. By 1.2 the sizes are no whole
# numbers, and who divides them for the scale finds other ties.
_TIES: dict[str, Any] = {
    **_PLAIN,
    "coordinates": (None, From(11, "asymmetric"), From(11, "pytorch_half_pixel")),
    "nearest": (None, From(11, "round_prefer_ceil"), From(11, "floor"), From(11, "ceil")),
    "scale": (0.5, 2.0, 1.2),
    "by": ("scales",),
    "inputs": ("constant",),
}
SPECS = (
    Spec(
        "Resize",
        _resize,
        _TIES,
        dtypes=("float",),
        sizes=("static",),
        second=False,
        budget=36,
        older=18,
        since=11,
        full=True,
    ),
    *(
        Spec(
            "Resize",
            _resize,
            {**_PLAIN, **dims},
            without=({"scale": (1.5, 2.0, 3.0), "antialias": (1,), "coordinates": (TF_CROP,)},),
            dtypes=dtypes,
            budget=budget,
            older=older,
            since=11 if dims.get("mode") == ("cubic",) else 0,
        )
        for dims, dtypes, budget, older in _RESIZE
    ),
    Spec(
        "Upsample",
        _upsample,
        {"mode": ("nearest", "linear"), "scale": (2.0, 1.5, 3.0)},
        without=({"mode": ("linear",), "dtype": ("int32", "uint8")},),
        dtypes=("float", "int32", "uint8"),
        older=4,
    ),
    Spec(
        "GridSample",
        _grid_sample,
        {
            "mode": (
                From(20, "linear"),
                From(20, "nearest"),
                From(20, "cubic"),
                From(16, "bilinear", before=20),
                From(16, "nearest", before=20),
                From(16, "bicubic", before=20),
            ),
            "padding": ("zeros", "border", "reflection"),
            "corners": (0, 1),
            "grid": ("inside", "beyond", "corners"),
            "rank": (4, From(20, 5)),
        },
        without=({"mode": ("cubic",), "rank": (5,)},),
        dtypes=FLOATS,
        budget=20,
        older=8,
    ),
    Spec("AffineGrid", _affine_grid, {"rank": (4, 5), "corners": (0, 1)}, dtypes=FLOATS, budget=12),
    Spec(
        "RoiAlign",
        _roi_align,
        {
            "mode": ("avg", "max"),
            "bins": (2, 3),
            "ratio": (2, 0, 1),
            "scale": (1.0, 0.5),
            "coordinates": (None, From(16, "output_half_pixel")),
        },
        dtypes=FLOATS,
        budget=14,
        older=3,
    ),
    Spec(
        "MaxRoiPool",
        _max_roi_pool,
        {"bins": ((2, 2), (1, 3)), "scale": (1.0, 0.5)},
        dtypes=FLOATS,
        budget=8,
    ),
    Spec(
        "DepthToSpace SpaceToDepth",
        _image_grid,
        {"block": (2, 3), "mode": (None, From(11, "CRD"))},
        dtypes=("float", "float16", "uint8", "int8", "int32", "int64", "double", "bool"),
        budget=12,
    ),
)
