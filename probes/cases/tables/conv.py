"""Convolutions: weights and biases constant, batch normalization already folded in."""

from probes.cases.rows import Row, w, x
from probes.cases.tables import cite


def _conv(
    label: str, data: tuple[int, ...], weight: tuple[int, ...], source: str, **attrs: object
) -> Row:
    attrs = {"kernel_shape": list(weight[2:]), **attrs}
    feeds = (x(*data), w(*weight, fill="conv"), w(weight[0]))
    return Row("Conv", label, feeds, source, attrs)


# fmt: off
ROWS = (
    _conv("3x3-64-64-56-v1", (1, 64, 56, 56), (64, 64, 3, 3),
          f"{cite.RESNET50}: n7", pads=[1, 1, 1, 1]),
    _conv("7x7s2-3-64-224-v1", (1, 3, 224, 224), (64, 3, 7, 7),
          f"{cite.RESNET50}: n0", strides=[2, 2], pads=[3, 3, 3, 3]),
    _conv("1x1-256-1024-14-v1", (1, 256, 14, 14), (1024, 256, 1, 1), f"{cite.RESNET50}: n84"),
    _conv("3x3s2-3-16-640-v1", (1, 3, 640, 640), (16, 3, 3, 3),
          f"{cite.YOLOV8}: layer 0", strides=[2, 2], pads=[1, 1, 1, 1]),
    _conv("dw3x3-192-40-v1", (1, 192, 40, 40), (192, 1, 3, 3),
          f"{cite.DET6}: Conv.27", group=192, pads=[1, 1, 1, 1]),
    _conv("dw5x5-192-40-v1", (1, 192, 40, 40), (192, 1, 5, 5),
          f"{cite.DET4}: p2o.Conv.13", group=192, pads=[2, 2, 2, 2]),
    _conv("dw7x7-96-56-v1", (1, 96, 56, 56), (96, 1, 7, 7),
          f"{cite.CONVNEXT}: stage 1 block", group=96, pads=[3, 3, 3, 3]),
    _conv("group4-1x1-272-14-v1", (1, 272, 14, 14), (272, 68, 1, 1),
          f"{cite.SHUFFLENET}: n66", group=4),
    _conv("dilated3x3-256-28-v1", (1, 256, 28, 28), (256, 256, 3, 3),
          f"{cite.DEEPLAB}: layer3, dilation 2", dilations=[2, 2], pads=[2, 2, 2, 2]),
    _conv("patch16-3-768-224-v1", (1, 3, 224, 224), (768, 3, 16, 16),
          f"{cite.VIT}: patch embedding", strides=[16, 16]),
    _conv("1d-k3-80-512-3000-v1", (1, 80, 3000), (512, 80, 3),
          f"{cite.WHISPER}: encoder conv1", pads=[1, 1]),
    _conv("1d-k256s128-1-258-640-v1", (1, 1, 640), (258, 1, 256),
          f"{cite.SILERO}: /model/stft/Conv", strides=[128]),
    Row("ConvTranspose", "2x2s2-24-24-80-v1",
        (x(1, 24, 80, 80), w(24, 24, 2, 2, fill="conv"), w(24)),
        f"{cite.DET5_SMALL}: ConvTranspose.0", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    Row("ConvTranspose", "4x4s2-256-128-8-v1",
        (x(1, 256, 8, 8), w(256, 128, 4, 4, fill="conv")),
        f"{cite.DCGAN}: third layer of the generator",
        {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Row("ConvTranspose", "1d-k16s8-512-256-32-v1",
        (x(1, 512, 32), w(512, 256, 16, fill="conv"), w(256)),
        f"{cite.HIFIGAN}: first upsampling",
        {"kernel_shape": [16], "strides": [8], "pads": [4, 4]}),
)
