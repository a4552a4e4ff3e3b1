"""Normalizations with constant scale and bias."""

from probes.cases.rows import Row, w, x
from probes.cases.tables import cite


def _batch(label: str, data: tuple[int, ...], source: str, epsilon: float) -> Row:
    channels = data[1]
    statistics = (w(channels), w(channels, fill="positive"))
    feeds = (x(*data), w(channels, fill="positive"), w(channels), *statistics)
    return Row("BatchNormalization", label, feeds, source, {"epsilon": epsilon})


def _scaled(
    op: str, label: str, data: tuple[int, ...], source: str, size: int, **attrs: object
) -> Row:
    feeds = (x(*data), w(size, fill="positive"), w(size))
    return Row(op, label, feeds, source, attrs)


# fmt: off
ROWS = (
    _batch("256-14-v1", (1, 256, 14, 14), f"{cite.RESNET50}: n82", 1e-5),
    _batch("128-28-v1", (1, 128, 28, 28), f"{cite.DENSENET}: n106", 1e-5),
    _batch("200-2x96-v1", (1, 200, 2, 96), f"{cite.CLS5}: p2o.BatchNormalization.28", 1e-5),
    _scaled("InstanceNormalization", "64-112-v1", (1, 64, 112, 112),
            f"{cite.STYLE}: second layer", 64, epsilon=1e-5),
    _scaled("InstanceNormalization", "128-56-v1", (1, 128, 56, 56),
            f"{cite.STYLE}: residual block", 128, epsilon=1e-5),
    _scaled("InstanceNormalization", "1d-512-1599-v1", (1, 512, 1599),
            f"{cite.WAV2VEC}: group norm of the first feature layer (0.5 s), as exports write it",
            512, epsilon=1e-5),
    _scaled("LayerNormalization", "197x768-v1", (1, 197, 768),
            f"{cite.VIT}: encoder norm", 768, axis=-1, epsilon=1e-6),
    _scaled("LayerNormalization", "128x768-v1", (1, 128, 768),
            f"{cite.BERT}: output norm", 768, axis=-1, epsilon=1e-12),
    _scaled("LayerNormalization", "3136x96-v1", (1, 3136, 96),
            f"{cite.SWIN}: stage 1", 96, axis=-1, epsilon=1e-5),
    _scaled("LayerNormalization", "1500x512-v1", (1, 1500, 512),
            f"{cite.WHISPER}: encoder norm", 512, axis=-1, epsilon=1e-5),
    Row("GroupNormalization", "320-64-g32-v1",
        (x(1, 320, 64, 64), w(320, fill="positive"), w(320)),
        f"{cite.UNET}: first residual block", {"num_groups": 32, "epsilon": 1e-5},
        opset=21, ir=10),
    Row("GroupNormalization", "256-25x34-g32-v1",
        (x(1, 256, 25, 34), w(256, fill="positive"), w(256)),
        f"{cite.DEFORMABLE_DETR}: input projection", {"num_groups": 32, "epsilon": 1e-5},
        opset=21, ir=10),
    Row("RMSNormalization", "128x2048-v1", (x(1, 128, 2048), w(2048, fill="positive")),
        f"{cite.LLAMA}: input norm", {"axis": -1, "epsilon": 1e-5}, opset=23, ir=10),
    Row("LRN", "64-55-v1", (x(1, 64, 55, 55),), f"{cite.INCEPTION}: n3",
        {"size": 5, "alpha": 1e-4, "beta": 0.75, "bias": 1.0}, agree="one"),
    Row("LRN", "192-55-v1", (x(1, 192, 55, 55),), f"{cite.INCEPTION}: n8",
        {"size": 5, "alpha": 1e-4, "beta": 0.75, "bias": 1.0}, agree="one"),
    Row("LpNormalization", "512-v1", (x(1, 512),), f"{cite.ARCFACE}: normalized embedding",
        {"axis": 1, "p": 2}),
    Row("MeanVarianceNormalization", "3-224-v1", (x(1, 3, 224, 224),),
        f"{cite.STYLE}: per-channel input standardization", {"axes": [0, 2, 3]}),
)
