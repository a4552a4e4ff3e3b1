"""Selection of boxes and labels."""

from probes.cases.rows import Row, c, f, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("TopK", "300-of-8400-v1", (x(1, 8400, fill="distinct"), c([300])),
        f"{cite.YOLOV10}: best 300", {"axis": -1, "largest": 1, "sorted": 1}, outputs=2),
    Row("TopK", "100-of-900-v1", (x(1, 900, fill="distinct"), c([100])),
        f"{cite.DETR}: best 100", {"axis": -1, "largest": 1, "sorted": 1}, outputs=2),
    Row("TopK", "experts-2-of-8-v1", (x(128, 8, fill="distinct"), c([2])),
        f"{cite.MIXTRAL}: router", {"axis": -1, "largest": 1, "sorted": 1}, outputs=2),
    Row("NonMaxSuppression", "1000x4-v1",
        (x(1, 1000, 4, fill="boxes"), x(1, 1, 1000, fill="distinct"), c([100]), f([0.45]),
         f([0.25])),
        f"{cite.YOLOV8}: boxes of one class", {"center_point_box": 0}, static=False),
    Row("RoiAlign", "256-50x68-v1",
        (x(1, 256, 50, 68), x(20, 4, fill="boxes"), c([0] * 20)),
        f"{cite.MASK_RCNN}: box head on level P4 (20 of 1,000 boxes)",
        {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "spatial_scale": 0.0625,
         "mode": "avg", "coordinate_transformation_mode": "half_pixel"}),
    Row("ArgMax", "21-56-v1", (x(1, 21, 56, 56),), f"{cite.DEEPLAB}: label of each pixel",
        {"axis": 1, "keepdims": 0}),
    Row("ArgMax", "40x1000-v1", (x(1, 40, 1000, fill="distinct"),),
        f"{cite.REC4}: greedy decoding (first 1,000 classes)", {"axis": 2, "keepdims": 0}),
    Row("ArgMin", "codes-75x1024-v1", (x(75, 1024, fill="distinct"),),
        f"{cite.ENCODEC}: nearest code", {"axis": -1, "keepdims": 0}),
)
