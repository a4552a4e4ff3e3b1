"""Lookups and scattered writes."""

from probes.cases.rows import Row, c, f, w, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("Gather", "tokens-2000x768-v1", (w(2000, 768), x(1, 128, fill="below:2000")),
        f"{cite.BERT}: word embeddings (first 2,000 of 30,522 rows)", {"axis": 0}),
    Row("Gather", "state-2x1x128-v1", (x(2, 1, 128), c(0)), f"{cite.SILERO}: decoder/Gather_2",
        {"axis": 0}),
    Row("Gather", "shape-v1", (x(3, fill="below:640"), c([-1])), f"{cite.SILERO}: decoder/Gather",
        {"axis": 0}),
    Row("GatherElements", "boxes-8400x4-v1",
        (x(1, 8400, 4), x(1, 300, 4, fill="below:8400")), f"{cite.YOLOV10}: boxes of the top 300",
        {"axis": 1}, agree="one"),
    Row("GatherND", "anchors-8400x4-v1", (x(8400, 4), x(300, 1, fill="below:8400")),
        f"{cite.YOLOV10}: rows of the top 300"),
    Row("ScatterND", "cache-256x64-v1",
        (x(256, 64), c([[i] for i in range(17, 25)]), x(8, 64)),
        f"{cite.LLAMA}: key cache updated at fixed positions"),
    Row("ScatterElements", "masks-1x100-v1",
        (w(1, 8400), c([[7 * i % 8400 for i in range(300)]]), x(1, 300)),
        f"{cite.YOLOV10}: scores written back", {"axis": 1}),
    Row("OneHot", "labels-81-v1", (x(1, 100, fill="below:81"), c(81), f([0, 1])),
        f"{cite.MASK_RCNN}: classes of 100 boxes", {"axis": -1}),
    Row("NonZero", "mask-950-v1", (x(1, 950, fill="bits"),),
        f"{cite.MASK_RCNN}: boxes above the threshold", static=False),
)
