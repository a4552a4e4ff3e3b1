"""Reorderings by Reshape and Transpose, in five and six axes."""

from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import c, x

TAKEN_APART = "apart = Reshape (x, deep)  turned = Transpose <perm = %s> (apart)  "

# fmt: off
PATTERNS = (
    Pattern("ChannelShuffle", "5d-4-32-14-v1", f"{cite.SHUFFLENET}: four groups",
        {"x": x(1, 32, 14, 14), "deep": c([1, 4, 8, 14, 14]), "whole": c([1, 32, 14, 14])},
        TAKEN_APART % [0, 2, 1, 3, 4] + "y0 = Reshape (turned, whole)"),
    Pattern("PixelShuffle", "6d-2-32-20-v1", f"{cite.ESPCN}: by Reshape and Transpose",
        {"x": x(1, 32, 20, 20), "deep": c([1, 8, 2, 2, 20, 20]), "whole": c([1, 8, 40, 40])},
        TAKEN_APART % [0, 1, 4, 2, 5, 3] + "y0 = Reshape (turned, whole)"),
    Pattern("WindowPartition", "6d-7-28-32-v1", f"{cite.SWIN}: windows of 7, and back",
        {"x": x(1, 28, 28, 32), "deep": c([1, 4, 7, 4, 7, 32]), "windows": c([16, 49, 32]),
         "again": c([1, 4, 4, 7, 7, 32]), "whole": c([1, 28, 28, 32])},
        TAKEN_APART % [0, 1, 3, 2, 4, 5] + """tokens = Reshape (turned, windows)
        grid = Reshape (tokens, again)  back = Transpose <perm = [0, 1, 3, 2, 4, 5]> (grid)
        y0 = Reshape (back, whole)"""),
    Pattern("Focus", "slices-3-40-v1", f"{cite.YOLOV5}: every second pixel, four times",
        {"x": x(1, 3, 40, 40), "zero": c([0]), "one": c([1]), "end": c([2**63 - 1]),
         "down": c([2]), "across": c([3]), "two": c([2])},
        """even = Slice (x, zero, end, down, two)  odd = Slice (x, one, end, down, two)
        a = Slice (even, zero, end, across, two)  b = Slice (odd, zero, end, across, two)
        d = Slice (even, one, end, across, two)  e = Slice (odd, one, end, across, two)
        y0 = Concat <axis = 1> (a, b, d, e)"""),
)
