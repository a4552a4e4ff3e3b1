"""The operators that people ask about first, in the order in which the Top 20 view shows them."""

from typing import NamedTuple


class TopOperator(NamedTuple):
    domain: str
    name: str
    beside: bool = False  # shown beside the twenty


TOP20: tuple[TopOperator, ...] = (
    TopOperator("ai.onnx", "Conv"),
    TopOperator("ai.onnx", "ConvTranspose"),
    TopOperator("ai.onnx", "MatMul"),
    TopOperator("ai.onnx", "Gemm"),
    TopOperator("ai.onnx", "Relu"),
    TopOperator("ai.onnx", "Sigmoid"),
    TopOperator("ai.onnx", "HardSwish"),
    TopOperator("ai.onnx", "Gelu"),
    TopOperator("ai.onnx", "Softmax"),
    TopOperator("ai.onnx", "LayerNormalization"),
    TopOperator("ai.onnx", "BatchNormalization"),
    TopOperator("ai.onnx", "InstanceNormalization"),
    TopOperator("ai.onnx", "GroupNormalization"),
    TopOperator("ai.onnx", "GlobalAveragePool"),
    TopOperator("ai.onnx", "MaxPool"),
    TopOperator("ai.onnx", "AveragePool"),
    TopOperator("ai.onnx", "Resize"),
    TopOperator("ai.onnx", "Concat"),
    TopOperator("ai.onnx", "Transpose"),
    TopOperator("ai.onnx", "ReduceMean"),
    TopOperator("ai.onnx", "Attention", beside=True),
    TopOperator("com.microsoft", "MultiHeadAttention", beside=True),
    TopOperator("ai.onnx", "GridSample", beside=True),
    TopOperator("ai.onnx", "TopK", beside=True),
    TopOperator("ai.onnx", "NonMaxSuppression", beside=True),
)

TOP20_RANK: dict[tuple[str, str], int] = {
    (row.domain, row.name): rank for rank, row in enumerate(TOP20)
}
