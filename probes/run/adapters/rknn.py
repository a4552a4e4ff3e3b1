"""Rockchip's RKNN: compiler and simulator on a host; boards over the toolkit or its lite runtime.

The ways to a board follow the published interfaces; nobody has tried them on one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probes.model.values import NUMBER_OF, Tensor, Value, from_numpy, to_numpy
from probes.run import rknn_log
from probes.run.adapter import (
    Adapter,
    Capabilities,
    Enter,
    HarnessError,
    NotApplicable,
    Refused,
    Session,
)
from probes.run.environment import package_version
from probes.run.outcome import Stage
from probes.run.rknn_toolkit import (
    Folder,
    Printed,
    ask,
    import_lite,
    import_toolkit,
    is_torch_missing,
)

NEWEST_OPSET = 19
# What models can have at their edges; others abort the compiler (uint8) or are refused by name.
EDGE_TYPES = ("float", "float16", "int32", "int64", "bool")
FLOATS = (NUMBER_OF["float"], NUMBER_OF["float16"], NUMBER_OF["double"])
DISTRIBUTIONS = {"simulator": "rknn-toolkit2", "board": "rknn-toolkit2",
                 "lite": "rknn-toolkit-lite2"}  # fmt: skip


class RknnSession(Session):
    """A built model and the folder that the toolkit writes into. `scalars`: the inputs without
    dimensions are fed as [1], for the toolkit's own feeding fails on them. memory_bytes: of the
    model on a board, as the board says."""

    def __init__(self, model: bytes) -> None:
        self.printed = self.printed_since_fed = Printed()
        self.folder = Folder()
        self.model = model
        self.runtime: Any = None
        self.scalars = False
        self.feeds: dict[str, Any] = {}
        self.memory_bytes: int | None = None

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position, in the shapes and the layout of the graph."""
        arrays = [_fed(value) for value in inputs]
        self.feeds = {"inputs": arrays, "data_format": ["nchw"] * len(arrays)}
        self.printed_since_fed = Printed()

    def run(self) -> Any:
        """One inference; a complaint about what is fed is ours."""
        raised, raw = "", None
        try:
            raw = self.runtime.inference(**self.feeds)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the toolkit raises whatever it met
            raised = str(error)
        if raw is None:
            text = rknn_log.message(raised, self.printed_since_fed.text())
            ours = self.scalars or rknn_log.is_fed_wrong(text) or is_torch_missing(text)
            raise HarnessError(text) if ours else Refused(Stage.RUN, text)
        return raw

    def outputs(self, raw: Any) -> list[Value]:
        """In the declared types and shapes where only the toolkit's interface changed them: it
        hands half precision out as float32, and it has scalars as [1]."""
        import onnx

        declared = onnx.load_from_string(self.model).graph.output
        types = [info.type.tensor_type for info in declared]
        if len(types) != len(raw):
            return [from_numpy(np.asarray(array)) for array in raw]
        return [_as_declared(*pair, self.scalars) for pair in zip(raw, types, strict=True)]

    def close(self) -> None:
        """Release the model, remove what was written, shorten what was printed."""
        if self.runtime is not None:
            self.runtime.release()
        self.folder.remove()
        self.printed.shorten()


class RknnAdapter(Adapter):
    """config: platform ("rk3588", "rk3576", "rk3566"), precision ("fp16", "int8"), way
    ("simulator", "board", "lite"); for a board device_id (or address:port after `adb connect`),
    for lite compiled: a folder of models compiled elsewhere, SHA-256 of the ONNX file + ".rknn"."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.platform = str(self.config.get("platform", "rk3588"))
        self.precision = str(self.config.get("precision", "fp16"))
        self.way = str(self.config.get("way", "simulator"))
        self.compiled = self.config.get("compiled", "")
        self.toolkit = None if self.way == "lite" and self.compiled else import_toolkit()
        self.lite = import_lite() if self.way == "lite" else None
        if self.toolkit is not None and self.way == "board":
            _check_board(self.toolkit(verbose=True))

    @property
    def version(self) -> str:
        return package_version(DISTRIBUTIONS[self.way])

    def facts(self) -> dict[str, Any]:
        """The simulator computes layers with ONNX Runtime, so its version counts."""
        names = ("rknn-toolkit2", "rknn-toolkit-lite2", "onnxruntime", "torch")
        return {name.replace("-", "_"): package_version(name) or "absent" for name in names}

    def capabilities(self) -> Capabilities:
        """Over the toolkit a board's time would hold the transfer: only lite's is latency."""
        return Capabilities(
            max_opset=NEWEST_OPSET,
            dtypes=EDGE_TYPES,
            static_shapes=True,
            constant_inputs=True,
            explicit_attributes=True,
            arithmetic={"fp16": "float16", "int8": "int8"}[self.precision],
            intended_unit="npu",
            latency_meaningful=self.way == "lite",
            evidence="simulated" if self.way == "simulator" else "measured",
        )

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        if self.precision == "int8" and not any(_is_float(value) for value in inputs):
            raise NotApplicable("There is no input of floats whose range could be quantized.")
        session = RknnSession(model)
        try:
            self._load(session, inputs, enter)
        except BaseException:
            session.close()
            raise
        return session

    def _load(self, session: RknnSession, inputs: Sequence[Value], enter: Enter) -> None:
        known = Path(self.compiled) / f"{hashlib.sha256(session.model).hexdigest()}.rknn"
        if self.toolkit is not None:
            self._build(session, inputs, [], enter)
            layers = rknn_log.layers(session.printed.text())
            session.placement, session.placement_detail = rknn_log.placement(layers)
            self._build_for_scalars(session, inputs)
        elif not known.exists():
            raise HarnessError(f"{known.name} is not among the compiled models.")
        START[self.way](self, session, known, enter)

    def _build(
        self,
        session: RknnSession,
        inputs: Sequence[Value],
        sizes: Sequence[Sequence[int]],
        enter: Enter,
    ) -> None:
        """Convert and compile; `sizes` are shapes of the inputs other than the graph's own."""
        assert self.toolkit is not None
        Path("model.onnx").write_bytes(session.model)
        named = {"inputs": _names(session.model), "input_size_list": sizes} if sizes else {}
        session.runtime = toolkit = self.toolkit(verbose=True)
        if toolkit.config(target_platform=self.platform) not in (0, None):
            raise HarnessError(f"The toolkit does not take the platform {self.platform}.")
        enter(Stage.CONVERT)
        ask(Stage.CONVERT, lambda: toolkit.load_onnx(model="model.onnx", **named))
        quantized = self.precision == "int8"
        dataset = _write_dataset(inputs) if quantized else None
        enter(Stage.COMPILE)
        ask(Stage.COMPILE, lambda: toolkit.build(do_quantization=quantized, dataset=dataset))

    def _build_for_scalars(self, session: RknnSession, inputs: Sequence[Value]) -> None:
        """The compiler has taken the graph as it is; what is run must be one that can be fed."""
        shapes = [list(value.dims) for value in inputs if isinstance(value, Tensor)]
        if len(shapes) != len(inputs) or all(shapes):
            return
        session.runtime.release()
        session.scalars = True
        try:
            self._build(session, inputs, [shape or [1] for shape in shapes], lambda _: None)
        except Refused as refused:
            text = f"It compiles, but its inputs cannot be fed: {refused.message}"
            raise HarnessError(text) from refused

    def start_simulator(self, session: RknnSession, known: Path, enter: Enter) -> None:
        """Nothing is loaded yet: the simulator prepares the graph at its first inference."""
        enter(Stage.LOAD)
        ask(Stage.LOAD, session.runtime.init_runtime)

    def start_board(self, session: RknnSession, known: Path, enter: Enter) -> None:
        """On a board that the host sees over USB or the network. Not verified on a board."""
        where = {"target": self.platform, "device_id": self.config.get("device_id")}
        enter(Stage.LOAD)
        try:
            ask(Stage.LOAD, lambda: session.runtime.init_runtime(**where, eval_mem=True))
        except Refused as refused:
            if rknn_log.is_unreachable(refused.message):
                raise HarnessError(refused.message) from refused
            raise
        detail = session.runtime.eval_memory(is_print=False) or {}
        session.memory_bytes = detail.get("total_model_allocation")

    def start_lite(self, session: RknnSession, known: Path, enter: Enter) -> None:
        """On the board itself, on all cores. Not verified on a board."""
        if self.toolkit is not None:
            known = Path("model.rknn").absolute()
            ask(Stage.COMPILE, lambda: session.runtime.export_rknn(str(known)))
            session.runtime.release()
        assert self.lite is not None
        session.runtime = lite = self.lite(verbose=True)
        enter(Stage.LOAD)
        ask(Stage.LOAD, lambda: lite.load_rknn(str(known)))
        ask(Stage.LOAD, lambda: lite.init_runtime(core_mask=lite.NPU_CORE_AUTO))


START: dict[str, Callable[[RknnAdapter, RknnSession, Path, Enter], None]] = {
    "simulator": RknnAdapter.start_simulator,
    "board": RknnAdapter.start_board,
    "lite": RknnAdapter.start_lite,
}


def _check_board(toolkit: Any) -> None:
    """Without a board there is nobody to ask."""
    over_adb, over_ntb = toolkit.list_devices()
    toolkit.release()
    if not over_adb and not over_ntb:
        raise RuntimeError("The toolkit sees no board, neither over adb nor over ntb.")


def _names(model: bytes) -> list[str]:
    import onnx

    graph = onnx.load_from_string(model).graph
    initialised = {tensor.name for tensor in graph.initializer}
    return [info.name for info in graph.input if info.name not in initialised]


def _write_dataset(inputs: Sequence[Value]) -> str:
    """The probe's own inputs, as the one sample that ranges are taken from."""
    names = [f"input{i}.npy" for i in range(len(inputs))]
    for name, value in zip(names, inputs, strict=True):
        np.save(name, _fed(value))
    Path("dataset.txt").write_text(" ".join(names) + "\n")
    return "dataset.txt"


def _is_float(value: Value) -> bool:
    return isinstance(value, Tensor) and value.dtype in FLOATS


def _fed(value: Value) -> Any:
    """The toolkit takes no float64, whatever the graph says, and no scalar without a dimension."""
    if not isinstance(value, Tensor):
        raise HarnessError("RKNN takes tensors only, not a sequence or nothing")
    array = to_numpy(value)
    array = array.astype(np.float32) if array.dtype == np.float64 else array
    return array if array.ndim else array.reshape(1)


def _as_declared(array: Any, declared: Any, scalars: bool) -> Value:
    array = np.asarray(array)
    dims = [dim.dim_value for dim in declared.shape.dim]
    ours = scalars or (declared.HasField("shape") and array.shape == (1,) and not dims)
    if ours and array.size == np.prod(dims, dtype=np.int64):
        array = array.reshape(dims)
    if declared.elem_type == NUMBER_OF["float16"] and array.dtype == np.float32:
        with np.errstate(over="ignore"):
            half = array.astype(np.float16)
        if np.array_equal(half.astype(np.float32), array, equal_nan=True):
            array = half
    return from_numpy(array)


adapter = RknnAdapter
