"""Spectra."""

import numpy as np

from probes.cases.rows import Row, c, f, x
from probes.cases.tables import cite

# A Hann window, rounded to 2**-12: the same on every machine whatever its cosine gives.
HANN_400 = np.round((0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)) * 4096) / 4096

# fmt: off
ROWS = (
    Row("STFT", "400-hop160-8000-v1", (x(1, 8000, 1), c(160), f(HANN_400), c(400)),
        f"{cite.WHISPER}: log-mel front end, half a second", {"onesided": 1}),
    Row("DFT", "512-v1", (x(1, 512, 1),), f"{cite.DEEPFILTER}: one analysis frame",
        {"axis": 1, "onesided": 1}),
)
