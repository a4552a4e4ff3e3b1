"""Recurrent layers with constant weights."""

from probes.cases.rows import Feed, Row, w, x
from probes.cases.tables import cite


def _weights(directions: int, gates: int, size: int, hidden: int) -> tuple[Feed, Feed, Feed]:
    rows = gates * hidden
    return (
        w(directions, rows, size, fill="recurrent"),
        w(directions, rows, hidden, fill="recurrent"),
        w(directions, 2 * rows),
    )


# fmt: off
ROWS = (
    Row("LSTM", "step-128-v1",
        (x(1, 1, 128), *_weights(1, 4, 128, 128), None, x(1, 1, 128), x(1, 1, 128)),
        f"{cite.SILERO_6}: /decoder/rnn/LSTM", {"hidden_size": 128}, outputs=3),
    Row("LSTM", "bidirectional-26x512x256-v1",
        (x(26, 1, 512), *_weights(2, 4, 512, 256)), f"{cite.CRNN}: first recurrent layer",
        {"hidden_size": 256, "direction": "bidirectional"}, outputs=3),
    Row("LSTM", "sequence-32x128-v1",
        (x(32, 1, 128), *_weights(1, 4, 128, 128), None, x(1, 1, 128), x(1, 1, 128)),
        "silero-vad==6.2.3 silero_vad/data/silero_vad_16k_sequence.onnx: /recurrent/LSTM",
        {"hidden_size": 128}, outputs=3),
    Row("GRU", "100x256-v1", (x(100, 1, 256), *_weights(1, 3, 256, 256)),
        f"{cite.DEEPFILTER}: encoder GRU", {"hidden_size": 256, "linear_before_reset": 1},
        outputs=2),
    Row("GRU", "bidirectional-50x128-v1", (x(50, 1, 128), *_weights(2, 3, 128, 128)),
        "Tacotron CBHG, 50 characters (Wang et al. 2017, arXiv:1703.10135): encoder GRU",
        {"hidden_size": 128, "linear_before_reset": 1, "direction": "bidirectional"}, outputs=2),
    Row("RNN", "28x128-v1", (x(28, 1, 28), *_weights(1, 1, 28, 128)),
        "torch.nn.RNN on rows of a 28x28 digit (Le et al. 2015, arXiv:1504.00941)",
        {"hidden_size": 128}, outputs=2),
)
