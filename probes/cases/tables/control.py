"""Control flow with small bodies."""

from onnx import GraphProto, parser

from probes.cases.rows import Row, c, given, w, x
from probes.cases.tables import cite


def _body(text: str) -> GraphProto:
    graph: GraphProto = parser.parse_graph(text)
    return graph


# fmt: off
ROWS = (
    Row("If", "squeeze-or-pass-v1", (given([True], "?"),), f"{cite.SILERO}: decoder/If",
        {"then_branch": _body("""then () => (float then_out)
            { axes = Constant <value = int64[1] {1}> ()  then_out = Squeeze (outer0, axes) }"""),
         "else_branch": _body("else () => (float else_out) { else_out = Identity (outer0) }")},
        captured=(x(1, 1, 128),), static=False),
    Row("Loop", "decoder-10x256-v1", (c(10), c(True, "?"), x(1, 256)),
        "Tacotron 2 decoder frames (Shen et al. 2017, arXiv:1712.05884): a scripted loop",
        {"body": _body("""step (int64 i, bool going, float[1, 256] state)
            => (bool still, float[1, 256] next, float[1, 256] frame) {
                still = Identity (going)
                moved = MatMul (state, outer0)
                next = Tanh (moved)
                frame = Identity (next)
            }""")},
        outputs=2, captured=(w(256, 256, fill="matmul"),), agree="one"),
    Row("Scan", "highway-26x256-v1", (x(1, 256), x(26, 1, 256)),
        f"{cite.CRNN}: a recurrent layer as tf2onnx writes it",
        {"num_scan_inputs": 1, "body": _body("""step (float[1, 256] state, float[1, 256] seen)
            => (float[1, 256] next, float[1, 256] frame) {
                moved = MatMul (state, outer0)
                total = Add (moved, seen)
                next = Tanh (total)
                frame = Identity (next)
            }""")},
        outputs=2, captured=(w(256, 256, fill="matmul"),)),
)
