"""The last nodes of detectors: boxes from distributions, and the choice among boxes."""

from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import Feed, c, f, x

BOXES, CLASSES = 200, 4
SUPPRESSED: dict[str, Feed] = {
    "boxes": x(1, BOXES, 4, fill="boxes"),
    "scores": x(1, CLASSES, BOXES, fill="distinct"),
    "most": c([20]),
    "overlap": f([0.45]),
    "least": f([0.25]),
}

# fmt: off
PATTERNS = (
    Pattern("NMS-tail", "gathered-200x4-v1", f"{cite.YOLOV8}: end-to-end exports",
        {**SUPPRESSED, "column": c([2]), "end": c([3]), "across": c([1]), "first": c([0]),
         "order": c([0, 2, 1])},
        """chosen = NonMaxSuppression (boxes, scores, most, overlap, least)
        places = Slice (chosen, column, end, across)  which = Squeeze (places, across)
        plane = Squeeze (boxes, first)  y0 = Gather <axis = 0> (plane, which)
        by_class = Transpose <perm = [0, 2, 1]> (scores)
        swapped = Gather <axis = 1> (chosen, order)
        y1 = GatherND (by_class, swapped)""",
        outputs=2, static=False),
    Pattern("TopK-tail", "300x4-v1",
        "RT-DETR (Zhao et al. 2023, arXiv:2304.08069): the best queries",
        {"scores": x(1, 300 * CLASSES, fill="distinct"), "boxes": x(1, 300, 4, fill="unit"),
         "k": c([50]), "classes": c(CLASSES), "last": c([-1]), "tiled": c([1, 1, 4])},
        """y1, place = TopK <axis = 1> (scores, k)  query = Div (place, classes)
        y2 = Mod (place, classes)  deep = Unsqueeze (query, last)  at = Tile (deep, tiled)
        y0 = GatherElements <axis = 1> (boxes, at)""",
        outputs=3),
    Pattern("DFL-decode", "16-400-v1", f"{cite.YOLOV8}: distances from distributions",
        {"x": x(1, 64, 400), "deep": c([1, 4, 16, 400]),
         "bins": f([[[[float(i)]] for i in range(16)]]), "flat": c([1, 4, 400])},
        """apart = Reshape (x, deep)  turned = Transpose <perm = [0, 2, 1, 3]> (apart)
        weights = Softmax <axis = 1> (turned)  c = Conv <kernel_shape = [1, 1]> (weights, bins)
        y0 = Reshape (c, flat)"""),
)
