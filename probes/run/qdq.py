"""A float model as a quantized one: QuantizeLinear and DequantizeLinear around every float32 value,
8 bits, one scale a tensor, ranges from one inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from probes.run.adapter import NotApplicable

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

# The first QuantizeLinear, and the last for which ONNX Runtime's CPU has a kernel.
OLDEST_OPSET, NEWEST_OPSET = 10, 27
# Inputs by position that are multiplied: signed codes around zero.
WEIGHTS = {"Conv": 1, "ConvTranspose": 1, "Gemm": 1, "MatMul": 1}
# Added to an accumulator of 32 bits: codes of the product of the two scales.
BIASES = {"Conv": 2, "ConvTranspose": 2, "Gemm": 2}
# Float inputs that are settings, not data.
SETTINGS = {"Resize": (1, 2), "Upsample": (1,), "Clip": (1, 2), "Pad": (2,), "Dropout": (1,)}
# Values are moved, not computed: the codes stay what they are.
MOVES = frozenset(
    ("DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity",
     "MaxPool", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose",
     "Unsqueeze")
)  # fmt: skip
# The first input with parts replaced by another: one scale for all three.
MIXES = {"ScatterElements": (0, 2), "ScatterND": (0, 2)}
# Where the range is the operator's, not the data's.
RANGES = {"Softmax": (0.0, 1.0)}
# Take places in a picture: what 8 bits make of those says nothing of the operator.
COORDINATES = frozenset(("AffineGrid", "GridSample", "RoiAlign", "MaxRoiPool", "NonMaxSuppression"))
QUANTIZING = ("quant", "qlinear", "integer")  # parts of the names of operators that do it already


class Codes(NamedTuple):
    """What a code stands for: (code - zero) * scale."""

    scale: np.float32
    zero: int
    dtype: int

    @property
    def numpy(self) -> np.dtype[Any]:
        """The type of the codes."""
        return np.dtype(helper.tensor_dtype_to_np_dtype(self.dtype))

    def quantize(self, array: Array) -> Array:
        """The nearest codes, ties to even as QuantizeLinear has it."""
        limits = np.iinfo(self.numpy)
        codes = np.rint(array.astype(np.float64) / self.scale) + self.zero
        clipped: Array = np.clip(codes, limits.min, limits.max).astype(self.numpy)
        return clipped


def unsigned(array: Array) -> Codes:
    """256 codes over the range of the values, zero among them."""
    low, high = min(float(array.min()), 0.0), max(float(array.max()), 0.0)
    scale = np.float32((high - low) / 255) or np.float32(1)
    return Codes(scale, int(np.clip(np.rint(-low / scale), 0, 255)), TensorProto.UINT8)


def signed(array: Array) -> Codes:
    """255 codes around zero."""
    scale = np.float32(float(np.abs(array).max()) / 127) or np.float32(1)
    return Codes(scale, 0, TensorProto.INT8)


def exposed(model: bytes) -> bytes:
    """The model with every node's outputs among the graph's, to see their ranges."""
    proto = onnx.load_from_string(model)
    known = {info.name for info in proto.graph.output}
    names = [name for node in proto.graph.node for name in node.output if name]
    proto.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    return bytes(proto.SerializeToString())


def check(model: bytes) -> None:
    """Raises NotApplicable where 8 bits make no sense or are in the model already."""
    proto = onnx.load_from_string(model)
    opset = max((i.version for i in proto.opset_import if not i.domain), default=0)
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise NotApplicable(f"No QuantizeLinear of opset {opset} that ONNX Runtime can run.")
    if proto.functions or any(_has_body(node) for node in proto.graph.node):
        raise NotApplicable("Quantizing enters no function and no subgraph.")
    if any(mark in node.op_type.lower() for node in proto.graph.node for mark in QUANTIZING):
        raise NotApplicable("The model quantizes already.")
    if any(node.op_type in COORDINATES for node in proto.graph.node):
        raise NotApplicable("Coordinates are not quantized to 8 bits.")
    initial = {tensor.name for tensor in proto.graph.initializer}
    inputs = [info for info in proto.graph.input if info.name not in initial]
    if not any(map(_is_float, inputs)) or not all(map(_is_float, proto.graph.output)):
        raise NotApplicable("Not from float32 to float32: nothing to quantize.")


def _has_body(node: onnx.NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def _is_float(info: onnx.ValueInfoProto) -> bool:
    return bool(info.type.tensor_type.elem_type == TensorProto.FLOAT)


def quantized(model: bytes, values: Mapping[str, Array]) -> tuple[bytes, list[float]]:
    """The quantized model and the step of each of its outputs; `values`: of every graph input and
    node output, as the float model gave them."""
    rewriting = Rewriting(onnx.load_from_string(model), values)
    return rewriting.model(), rewriting.steps()


@dataclass
class Rewriting:
    """One model on its way to 8 bits. Where v was, v remains the dequantized value."""

    proto: onnx.ModelProto
    values: Mapping[str, Array]
    codes: dict[str, Codes] = field(default_factory=dict)
    shapes: list[onnx.ValueInfoProto] = field(default_factory=list)
    made: int = 0

    def __post_init__(self) -> None:
        self.constants = {
            tensor.name: numpy_helper.to_array(tensor)
            for tensor in self.proto.graph.initializer
            if tensor.data_type == TensorProto.FLOAT
        }
        self.kept = list(self.proto.graph.initializer)
        initial = {tensor.name for tensor in self.kept}
        inputs = [info for info in self.proto.graph.input if info.name not in initial]
        del self.proto.graph.input[:]  # old models list their constants there as well
        self.proto.graph.input.extend(inputs)
        for name, array in self.values.items():
            if _quantizable(name, array) and name not in self.constants:
                self.codes[name] = unsigned(array)
        for node in self.proto.graph.node:
            self._settle(node)

    def _settle(self, node: onnx.NodeProto) -> None:
        """Codes that are not decided by one value's own range."""
        if node.op_type in RANGES:
            settled = unsigned(np.asarray(RANGES[node.op_type], np.float32))
            self.codes.update({name: settled for name in node.output if name in self.codes})
        mixed = [node.input[place] for place in MIXES.get(node.op_type, ())] + [*node.output]
        if node.op_type in MIXES and node.output[0] in self.codes:
            known = {**self.values, **self.constants}
            together = unsigned(np.concatenate([known[name].reshape(-1) for name in mixed]))
            self.codes.update({name: together for name in mixed if name in self.codes})

    def model(self) -> bytes:
        """The quantized model."""
        graph = self.proto.graph
        inputs = [info.name for info in graph.input if info.name in self.codes]
        names = {name: f"{name}_dequantized" for name in inputs}
        nodes: list[onnx.NodeProto] = []
        for name in inputs:
            nodes += self._pair(name, name, names[name])
        for node in graph.node:
            nodes += self._around(node, names)
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(nodes)
        read = {name for node in nodes for name in node.input}
        graph.initializer.extend(tensor for tensor in self.kept if tensor.name in read)
        graph.value_info.extend(self.shapes)
        self.proto.ir_version = max(self.proto.ir_version, 4)  # constants that are no inputs
        return bytes(self.proto.SerializeToString())

    def steps(self) -> list[float]:
        """Of every output; 0 where it is passed on as it came."""
        outputs = (info.name for info in self.proto.graph.output)
        return [float(self.codes[name].scale) if name in self.codes else 0.0 for name in outputs]

    def _around(self, node: onnx.NodeProto, names: Mapping[str, str]) -> Iterator[onnx.NodeProto]:
        """The node between the constants it reads and the quantized values it writes."""
        self._keep_codes(node)
        read = list(node.input)
        for position, name in enumerate(read):
            if name in self.constants and position not in SETTINGS.get(node.op_type, ()):
                read[position] = f"{name}_{self.made}"
                yield self._constant(node, position, read[position])
            else:
                read[position] = names.get(name, name)
        wrapped = [name for name in node.output if name in self.codes]
        written = [f"{name}_computed" if name in self.codes else name for name in node.output]
        del node.input[:], node.output[:]
        node.input.extend(read)
        node.output.extend(written)
        yield node
        for name in wrapped:
            self._remember(f"{name}_computed", self.values[name])
            yield from self._pair(f"{name}_computed", name, name)

    def _remember(self, name: str, array: Array) -> None:
        """A shape that no rule may infer: the provider takes nothing without one."""
        info = helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        self.shapes.append(info)

    def _keep_codes(self, node: onnx.NodeProto) -> None:
        source = self.codes.get(node.input[0]) if node.input else None
        if node.op_type in MOVES and source is not None:
            self.codes.update({name: source for name in node.output if name in self.codes})

    def _constant(self, node: onnx.NodeProto, position: int, name: str) -> onnx.NodeProto:
        """The node that makes a constant of its codes."""
        array = self.constants[node.input[position]]
        codes = self._codes_of(node, position, array)
        stored = numpy_helper.from_array(codes.quantize(array), f"{name}_codes")
        self.kept.append(stored)
        zero = codes.dtype != TensorProto.INT32  # whose zero point is left out
        return helper.make_node(
            "DequantizeLinear", [stored.name, *self._parameters(name, codes, zero)], [name]
        )

    def _codes_of(self, node: onnx.NodeProto, position: int, array: Array) -> Codes:
        if position == WEIGHTS.get(node.op_type):
            return signed(array)
        if position in MIXES.get(node.op_type, ()) and node.output[0] in self.codes:
            return self.codes[node.output[0]]
        data = self.codes.get(node.input[0])
        weight = self.constants.get(node.input[1]) if len(node.input) > 1 else None
        if position == BIASES.get(node.op_type) and data and weight is not None:
            return Codes(np.float32(data.scale * signed(weight).scale), 0, TensorProto.INT32)
        return unsigned(array)

    def _pair(self, source: str, value: str, result: str) -> list[onnx.NodeProto]:
        codes = self.codes[value]
        parameters = self._parameters(value, codes, True)
        middle = f"{value}_codes"
        return [
            helper.make_node("QuantizeLinear", [source, *parameters], [middle]),
            helper.make_node("DequantizeLinear", [middle, *parameters], [result]),
        ]

    def _parameters(self, name: str, codes: Codes, zero: bool) -> list[str]:
        self.made += 1
        scale = numpy_helper.from_array(np.asarray(codes.scale), f"{name}_scale_{self.made}")
        point = numpy_helper.from_array(
            np.asarray(codes.zero, codes.numpy), f"{name}_zero_{self.made}"
        )
        made = [scale, point] if zero else [scale]
        self.kept.extend(made)
        return [tensor.name for tensor in made]


def _quantizable(name: str, array: Any) -> bool:
    """Whether a value is quantized; raises NotApplicable where 8 bits cannot hold it."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or not array.size:
        return False
    if not np.isfinite(array).all():
        raise NotApplicable(f"{name} is not finite: no scale holds it.")
    return True
