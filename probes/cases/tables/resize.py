"""Interpolation."""

from probes.cases.rows import Row, c, f, x
from probes.cases.tables import cite

NEAREST = {
    "mode": "nearest",
    "coordinate_transformation_mode": "asymmetric",
    "nearest_mode": "floor",
}
CUBIC = {
    "mode": "cubic",
    "coordinate_transformation_mode": "half_pixel",
    "cubic_coeff_a": -0.75,
}

# fmt: off
ROWS = (
    Row("Resize", "nearest2x-96-40-v1", (x(1, 96, 40, 40), None, f([1, 1, 2, 2])),
        f"{cite.DET5}: Resize.1", NEAREST),
    Row("Resize", "nearest8x-24-20-v1", (x(1, 24, 20, 20), None, f([1, 1, 8, 8])),
        f"{cite.DET5}: Resize.3", NEAREST),
    Row("Resize", "nearest2x-256-20-v1", (x(1, 256, 20, 20), None, f([1, 1, 2, 2])),
        f"{cite.YOLOV8}: layer 10", NEAREST),
    Row("Resize", "linear8x-21-28-v1",
        (x(1, 21, 28, 28), None, None, c([1, 21, 224, 224])),
        f"{cite.DEEPLAB}: logits to the picture",
        {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}),
    Row("Resize", "align-corners2x-64-56-v1", (x(1, 64, 56, 56), None, f([1, 1, 2, 2])),
        "U-Net with bilinear upsampling (Ronneberger et al. 2015, arXiv:1505.04597)",
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    Row("Resize", "cubic-768-14-v1", (x(1, 768, 14, 14), None, None, c([1, 768, 24, 24])),
        f"{cite.VIT}: position table carried to 384x384", CUBIC),
    Row("GridSample", "attention-8x32-25x34-v1",
        (x(8, 32, 25, 34), x(8, 300, 4, 2, fill="signed_unit")),
        f"{cite.DEFORMABLE_DETR}: sampled values",
        {"mode": "bilinear", "padding_mode": "zeros", "align_corners": 0}, agree="one"),
    Row("GridSample", "warp-64-56-v1", (x(1, 64, 56, 56), x(1, 56, 56, 2, fill="signed_unit")),
        "Spatial transformer (Jaderberg et al. 2015, arXiv:1506.02025): warped feature map",
        {"mode": "bilinear", "padding_mode": "border", "align_corners": 1}, agree="one"),
    Row("AffineGrid", "56-v1", (x(1, 2, 3), c([1, 64, 56, 56])),
        "Spatial transformer (Jaderberg et al. 2015, arXiv:1506.02025): sampling grid",
        {"align_corners": 1}, opset=20, ir=9),
)
