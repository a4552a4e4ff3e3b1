"""Stand-ins for rknn.api.RKNN and rknnlite.api.RKNNLite: their published parameters, and answers
from a transcript of tests/data/transcripts/rknn."""

import json
import os
from pathlib import Path

import numpy as np

from probes.run import rknn_toolkit

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "rknn"


def calls_of(name):
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))["calls"]


def printed(name, *calls):
    """What these calls printed; of all calls where none is named."""
    told = calls_of(name)
    return "".join(told[call]["prints"] for call in calls or told)


def toolkit(*names, said=None):
    """A class whose first object answers as in the first transcript, and so on. `said` collects
    what it was asked."""
    waiting = list(names)
    said = [] if said is None else said

    class Toolkit:
        def __init__(self, verbose=False, verbose_file=None):
            assert verbose, "the table of layers is printed in verbose mode only"
            self.calls = calls_of(waiting.pop(0))

        def answer(self, call, **arguments):
            said.append((call, arguments))
            told = self.calls.get(call, {"prints": "", "returns": 0})
            os.write(rknn_toolkit.OUTPUT, told["prints"].encode())
            if "raises" in told:
                raise ValueError(told["raises"])
            return told["returns"]

        def config(self, mean_values=None, std_values=None, target_platform=None):
            return self.answer("config", target_platform=target_platform)

        def load_onnx(self, model, inputs=None, input_size_list=None):
            Path("check0_base_optimize.onnx").write_bytes(Path(model).read_bytes())
            return self.answer("load_onnx", inputs=inputs, input_size_list=input_size_list)

        def build(self, do_quantization=True, dataset=None, rknn_batch_size=None):
            sample = Path(dataset).read_text().split() if dataset else []
            samples = [np.load(name).shape for name in sample]
            return self.answer("build", do_quantization=do_quantization, samples=samples)

        def export_rknn(self, export_path):
            Path(export_path).write_bytes(b"RKNN")
            return self.answer("export_rknn")

        def init_runtime(self, target=None, device_id=None, perf_debug=False, eval_mem=False):
            return self.answer("init_runtime", target=target, device_id=device_id)

        def inference(self, inputs, data_format=None, inputs_pass_through=None):
            fed = [(array.dtype.name, array.shape) for array in inputs]
            return arrays(self.answer("inference", fed=fed, data_format=data_format))

        def list_devices(self):
            return self.answer("list_devices")

        def eval_memory(self, is_print=True):
            return self.answer("eval_memory")

        def release(self):
            said.append(("release", {}))

    return Toolkit


def lite(name, said):
    """A class of the lite runtime; it takes files of models only."""

    class Lite:
        NPU_CORE_AUTO = 0

        def __init__(self, verbose=False, verbose_file=None):
            self.calls = calls_of(name)

        def answer(self, call, **arguments):
            said.append((call, arguments))
            os.write(rknn_toolkit.OUTPUT, self.calls[call]["prints"].encode())
            return self.calls[call]["returns"]

        def load_rknn(self, path, key_path=None):
            assert Path(path).exists()
            return self.answer("load_rknn")

        def init_runtime(self, target=None, device_id=None, async_mode=False, core_mask=0):
            return self.answer("init_runtime", target=target, core_mask=core_mask)

        def inference(self, inputs, data_type=None, data_format=None, inputs_pass_through=None):
            fed = [(array.dtype.name, array.shape) for array in inputs]
            return arrays(self.answer("inference", fed=fed, data_format=data_format))

        def release(self):
            said.append(("release", {}))

    return Lite


def arrays(told):
    if told is None:
        return None
    return [np.array(values, dtype).reshape(shape) for dtype, shape, values in told]
