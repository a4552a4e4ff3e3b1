"""Stands in for `iree.compiler` and `iree.runtime`: answers as the real ones did when a transcript
was recorded.

A transcript holds a model, a back end, the probe's inputs, what the importer raised, what
iree-base-compiler 3.13.0 printed on descriptor 2, and the buffers that its CPU module gave back.
"""

import base64
import json
import os
from enum import IntEnum
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

from probes.model.values import Tensor

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "data" / "transcripts" / "iree"
NAMES = tuple(sorted(path.stem for path in TRANSCRIPTS.glob("*.json")))
# The runtime's own numbers.
HalElementType = IntEnum(
    "HalElementType",
    {
        "INT_8": 0x10000008, "INT_16": 0x10000010, "INT_32": 0x10000020, "INT_64": 0x10000040,
        "SINT_8": 0x11000008, "SINT_16": 0x11000010, "SINT_32": 0x11000020, "SINT_64": 0x11000040,
        "UINT_8": 0x12000008, "UINT_16": 0x12000010, "UINT_32": 0x12000020, "UINT_64": 0x12000040,
        "BOOL_8": 0x13000008, "FLOAT_16": 0x21000010, "FLOAT_32": 0x21000020,
        "FLOAT_64": 0x21000040, "BFLOAT_16": 0x22000010, "COMPLEX_64": 0x23000040,
        "COMPLEX_128": 0x23000080, "FLOAT_8_E5M2": 0x24000008, "FLOAT_8_E4M3_FN": 0x25000008,
        "FLOAT_8_E5M2_FNUZ": 0x26000008, "FLOAT_8_E4M3_FNUZ": 0x27000008,
        "FLOAT_8_E8M0_FNU": 0x28000008,
    },
)  # fmt: skip


class OnnxImportError(Exception):
    pass


class Transcript:
    def __init__(self, name):
        self.data = json.loads((TRANSCRIPTS / f"{name}.json").read_text(encoding="utf-8"))
        self.backend = self.data["backend"]
        self.model = base64.b64decode(self.data["model"])
        self.inputs, self.expected = map(self.tensors, ("inputs", "expected"))

    def tensors(self, key):
        return [
            Tensor(dtype, tuple(dims), base64.b64decode(data))
            for dtype, dims, data in self.data[key]
        ]


class View:
    """A buffer view: the runtime's number of a type, dims and bytes."""

    def __init__(self, element_type, shape, data):
        self.element_type, self.shape, self.data = element_type, list(shape), data
        self.byte_length = len(data)
        self.ref = self

    def map(self):
        return SimpleNamespace(asarray=lambda _, dtype: np.frombuffer(self.data, dtype))


class VariantList(list):
    def __init__(self, capacity):
        super().__init__()

    def push_ref(self, ref):
        self.append(ref)

    def get_as_object(self, index, kind):
        assert isinstance(self[index], kind)
        return self[index]


class Closing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True


class FakeIree:
    """The packages. `ask(name)` chooses what they answer from; flags, fed: what they were given."""

    def __init__(self):
        self.flags, self.fed, self.threads = [], [], []
        self.load_error = self.invoke_error = ""

    def ask(self, name):
        self.transcript = Transcript(name)
        return self.transcript

    def modules(self):
        parts = {
            "iree": {},
            "iree.compiler": {"ir": SimpleNamespace(Context=Closing)},
            "iree.compiler.version": {"VERSION": "3.13.0rc1", "REVISIONS": {"IREE": "89ece87"}},
            "iree.compiler.api": self.compiler_api(),
            "iree.compiler.extras": {},
            "iree.compiler.extras.onnx_importer": {
                "ModelInfo": lambda proto: SimpleNamespace(
                    main_graph=proto.graph,
                    create_module=lambda context: SimpleNamespace(operation=FakeModule()),
                ),
                "NodeImporter": SimpleNamespace(define_function=self.define_function),
            },
            "iree.runtime": self.runtime(),
        }
        made = {}
        for name, contents in parts.items():
            made[name] = ModuleType(name)
            made[name].__dict__.update(contents, __path__=[])
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(made[parent], last, made[name])
        return made

    def define_function(self, graph, module):
        assert graph.name == "main"
        return SimpleNamespace(import_all=self.import_all)

    def import_all(self):
        if self.transcript.data["import_error"]:
            raise OnnxImportError(self.transcript.data["import_error"][1])

    def compiler_api(self):
        fake = self

        class Session(Closing):
            context = SimpleNamespace(enable_multithreading=fake.threads.append)

            def set_flags(self, *flags):
                fake.flags.append(flags)

            def invocation(self):
                return Invocation()

        class Invocation(Closing):
            diagnostics = False

            def enable_console_diagnostics(self):
                self.diagnostics = True

            def parse_source(self, source):
                assert source == b"bytecode"
                return True

            def execute(self):
                if self.diagnostics:
                    os.write(2, fake.transcript.data["log"].encode())
                return fake.transcript.data["compiled"]

            def output_vm_bytecode(self, output):
                output.append(b"module")

        class Output(list):
            open_membuffer = classmethod(lambda cls: cls())

            def map_memory(self):
                return self[0]

        source = SimpleNamespace(wrap_buffer=lambda session, buffer: buffer)
        return {
            "Session": Session, "Invocation": Invocation, "Output": Output, "Source": source,
        }  # fmt: skip

    def runtime(self):
        device = SimpleNamespace(allocator=SimpleNamespace(allocate_buffer_copy=self.allocate))

        def config(driver):
            assert driver == "local-sync"
            return SimpleNamespace(vm_instance="vm", default_vm_modules=("hal",), device=device)

        def context(instance, modules):
            if self.load_error:
                raise RuntimeError(self.load_error)
            return SimpleNamespace(invoke=self.invoke)

        return {
            "HalElementType": HalElementType,
            "HalBufferView": View,
            "VmVariantList": VariantList,
            "VmContext": context,
            "VmModule": SimpleNamespace(
                copy_buffer=lambda instance, module: SimpleNamespace(lookup_function=str)
            ),
            "Config": config,
            "MemoryType": SimpleNamespace(DEVICE_LOCAL=48),
            "BufferUsage": SimpleNamespace(DEFAULT=3),
        }

    def allocate(self, memory_type, allowed_usage, device, buffer, element_type):
        assert (memory_type, allowed_usage) == (48, 3)
        return View(int(element_type), buffer.shape, buffer.tobytes())

    def invoke(self, function, arguments, results):
        assert function == "main"
        if self.invoke_error:
            raise RuntimeError(self.invoke_error)
        self.fed.append([(view.element_type, view.shape, view.data) for view in arguments])
        for element, shape, data in self.transcript.data["outputs"]:
            results.append(View(element, shape, base64.b64decode(data)))


class FakeModule:
    def verify(self):
        return True

    def write_bytecode(self, stream):
        stream.write(b"bytecode")
