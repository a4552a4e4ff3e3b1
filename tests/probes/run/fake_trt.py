"""Stands in for `tensorrt_rtx`: answers as the real one did when a transcript was recorded.

A transcript holds a model, the probe's inputs, and what parser, network, logger and builder of
tensorrt-rtx 1.7.1.116 said of them (INFO and VERBOSE lines but the first ones left out).
"""

import base64
import json
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

from probes.model.values import Tensor

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "data" / "transcripts" / "tensorrt"
NAMES = tuple(sorted(path.stem for path in TRANSCRIPTS.glob("*.json")))
Code = Enum("Code", "UNSUPPORTED_NODE INVALID_NODE INVALID_GRAPH MODEL_DESERIALIZE_FAILED")
Capability = Enum("Capability", "SM75 SM80 SM86 SM89 SM120 SM121")
Severity = Enum("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE")


class Transcript:
    def __init__(self, name):
        self.data = json.loads((TRANSCRIPTS / f"{name}.json").read_text(encoding="utf-8"))
        self.model = base64.b64decode(self.data["model"])
        self.inputs = [
            Tensor(dtype, tuple(dims), base64.b64decode(data))
            for dtype, dims, data in self.data["inputs"]
        ]

    def say(self, logger, key):
        for severity, message in self.data[key]:
            logger.log(Severity[severity], message)


class Logger:
    """Base of the adapter's own."""

    def __init__(self):
        self.made = True


class Network:
    def __init__(self, transcript):
        self.tensors = [
            SimpleNamespace(name=name, shape=tuple(shape), is_shape_tensor=is_shape)
            for name, shape, is_shape in transcript.data["tensors"]
        ]
        self.layers = transcript.data["layers"]
        self.num_inputs = len(self.tensors)
        self.num_layers = len(self.layers)

    def get_input(self, index):
        return self.tensors[index]

    def get_layer(self, index):
        return SimpleNamespace(type=SimpleNamespace(name=self.layers[index]))


class Profile:
    def __init__(self):
        self.shapes, self.values = {}, {}

    def set_shape(self, name, least, best, most):
        self.shapes[name] = (tuple(least), tuple(best), tuple(most))

    def set_shape_input(self, name, least, best, most):
        self.values[name] = (least, best, most)


class Config:
    def __init__(self):
        self.num_compute_capabilities = 0
        self.capabilities, self.profiles = {}, []
        self.takes_profiles = True

    def set_compute_capability(self, capability, index):
        assert index < self.num_compute_capabilities
        self.capabilities[index] = capability

    def add_optimization_profile(self, profile):
        self.profiles.append(profile)
        return len(self.profiles) - 1 if self.takes_profiles else -1


class FakeRtx:
    """The module. `ask(name)` chooses what it answers from; configs: those it made."""

    __version__ = "1.7.1.116"
    ILogger = Logger
    ComputeCapability = Capability

    def __init__(self):
        self.configs = []
        self.plugins_loaded = False
        self.takes_profiles = True

    def ask(self, name):
        self.transcript = Transcript(name)
        return self.transcript

    def init_libnvinfer_plugins(self, logger, namespace):
        assert isinstance(logger, Logger)
        self.plugins_loaded = namespace == ""
        return True

    def Builder(self, logger):
        return FakeBuilder(self, logger)

    def OnnxParser(self, network, logger):
        return FakeParser(self.transcript, logger)


class FakeBuilder:
    def __init__(self, fake, logger):
        self.fake, self.logger = fake, logger

    def create_network(self, flags):
        assert flags == 0
        return Network(self.fake.transcript)

    def create_builder_config(self):
        config = Config()
        config.takes_profiles = self.fake.takes_profiles
        self.fake.configs.append(config)
        return config

    def create_optimization_profile(self):
        return Profile()

    def build_serialized_network(self, network, config):
        self.fake.transcript.say(self.logger, "builder_log")
        return b"plan" if self.fake.transcript.data["built"] else None


class FakeParser:
    def __init__(self, transcript, logger):
        self.transcript, self.logger = transcript, logger
        self.errors = transcript.data["errors"]
        self.num_errors = len(self.errors)

    def parse(self, model):
        assert model == self.transcript.model
        self.transcript.say(self.logger, "parser_log")
        return self.transcript.data["parsed"]

    def get_error(self, index):
        error = self.errors[index]
        told = {**error, "code": Code[error["code"]]}
        return SimpleNamespace(**{name: lambda value=value: value for name, value in told.items()})
