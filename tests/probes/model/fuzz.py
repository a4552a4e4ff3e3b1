"""The reader against mutated models for as long as one likes, outside the suite.

`python -m tests.probes.model.fuzz --minutes 10`: ends with 1, and keeps the input, at the first
exception that is no refusal, the first death of the process and the first input that takes long.
"""

import argparse
import copy
import json
import multiprocessing
import random
import sys
import time
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError, Message

from probes.model.functions import all_nodes
from probes.model.modelfile import load_structure
from probes.model.refusals import ModelFileError
from probes.model.scopes import open_scope, walk_nodes
from probes.model.signature import make_signature
from tests.probes.model.test_fuzz import SEEDS
from tests.security.models import BUILDERS

SECONDS = 5.0  # of one input, on a machine that others use too
LONGEST_SEED = 20_000
NUMBERS = (
    b"\x00",
    b"\x7f",
    b"\x80\x01",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 10,
    b"\x80" * 4 + b"\x00",
)


def mutate(data: bytes, chance: random.Random, seeds: list[bytes]) -> bytes:
    """One to eight edits: bytes changed, cut, doubled, moved, numbers put in, seeds spliced."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(out) + 1)
        size = chance.choice((1, 1, 2, 4, 16, 64))
        kind = chance.randrange(7)
        if kind == 0 and at < len(out):
            out[at] = chance.randrange(256)
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del out[at : at + size]
        elif kind == 3:
            out[at:at] = out[at : at + size] * chance.choice((1, 2, 50))
        elif kind == 4:
            out[at : at + 1] = chance.choice(NUMBERS)
        elif kind == 5:
            other = chance.choice(seeds)
            start = chance.randrange(len(other))
            out[at:at] = other[start : start + size * 4]
        else:
            out[at : at + size] = chance.randbytes(size)
    return bytes(out)


def messages(root: Message) -> list[Message]:
    """The message and everything inside it."""
    found = [root]
    for one in found:
        for field, value in one.ListFields():
            if field.type == field.TYPE_MESSAGE:
                found += [value] if isinstance(value, Message) else list(value)
    return found


def change(data: bytes, chance: random.Random, words: list[str]) -> bytes:
    """One to six changes of a parsed model, so that its lengths stay right."""
    model = onnx.ModelProto()
    model.ParseFromString(data)
    for _ in range(chance.randint(1, 6)):
        inside = messages(model)
        one = chance.choice(inside)
        filled = one.ListFields()
        if not filled:
            continue
        field, value = chance.choice(filled)
        many = not isinstance(value, (Message, str, bytes, int, float))
        if chance.random() < 0.15:
            one.ClearField(field.name)
        elif field.type == field.TYPE_MESSAGE:
            alike = [each for each in inside if each.DESCRIPTOR is field.message_type]
            target = (
                (value.add() if chance.random() < 0.5 else chance.choice(value)) if many else value
            )
            target.CopyFrom(copy.deepcopy(chance.choice(alike)))
        else:
            new = {
                field.TYPE_STRING: lambda: chance.choice(words),
                field.TYPE_BYTES: lambda: chance.randbytes(chance.choice((0, 1, 8, 600))),
                field.TYPE_FLOAT: lambda: chance.choice((0.0, 1.0, float("nan"), -1e30)),
                field.TYPE_DOUBLE: lambda: chance.choice((0.0, float("inf"))),
                field.TYPE_ENUM: lambda: chance.randrange(25),
                field.TYPE_INT32: lambda: chance.choice((0, 1, 2, 7, 16, -1, 2**31 - 1)),
                field.TYPE_INT64: lambda: chance.choice((0, 1, -1, 13, 2**31, 2**62, -(2**63))),
                field.TYPE_UINT64: lambda: chance.choice((0, 2**64 - 1)),
            }[field.type]()
            try:
                if many:
                    value[chance.randrange(len(value))] = new
                else:
                    setattr(one, field.name, new)
            except ValueError:  # an enumeration that is closed
                continue
        if model.ByteSize() > 4 * LONGEST_SEED:
            break
    return bytes(model.SerializeToString())


def read(path: Path) -> str:
    """The structure, and the signatures of what is declared; the code of a refusal."""
    try:
        structure = load_structure(path, sha256="0" * 64)
    except ModelFileError as error:
        json.dumps(error.to_json())
        return error.code
    opsets = {entry.domain or "ai.onnx": entry.version for entry in structure.model.opset_import}
    for visit in walk_nodes(open_scope(structure.model.graph)):
        json.dumps(make_signature(visit, opsets), allow_nan=False)
    list(all_nodes(list(structure.model.graph.node)))
    return "problems" if structure.problems else "read"


def work(folder: str, seed: int, tell: Any) -> None:
    """Endless: tells the end of every input; what is being read lies in the folder."""
    chance = random.Random(seed)
    built = (build() for name, build in BUILDERS.items() if not name.startswith("many_"))
    seeds = [one for one in (*SEEDS, *built) if 0 < len(one) < LONGEST_SEED]
    parsed = [one for one in seeds if parses(one)]
    words = [name for one in parsed for name in names(one)] + ["", "Relu", "If", "Loop", "ai.onnx"]
    path = Path(folder, f"{seed}.onnx")
    while True:
        if chance.random() < 0.3:
            path.write_bytes(mutate(chance.choice(seeds), chance, seeds))
        else:
            path.write_bytes(change(chance.choice(parsed), chance, words))
        tell.send(read(path))


def parses(data: bytes) -> bool:
    try:
        return bool(onnx.ModelProto().ParseFromString(data))
    except DecodeError:
        return False


def names(data: bytes) -> list[str]:
    """Names of values, operators and functions of a model."""
    model = onnx.ModelProto()
    model.ParseFromString(data)
    nodes = [*model.graph.node, *(node for one in model.functions for node in one.node)]
    found = {name for node in nodes for name in (*node.input, *node.output, node.op_type)}
    return sorted(name for name in found if isinstance(name, str) and len(name) < 100)


def run(folder: str, minutes: float, seed: int) -> tuple[dict[str, int], str]:
    """How often each end was met, and what went wrong ("" for nothing)."""
    heard, tell = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("spawn").Process(target=work, args=(folder, seed, tell))
    child.start()
    tell.close()
    ends: dict[str, int] = {}
    stop = time.monotonic() + minutes * 60
    fault = ""
    while time.monotonic() < stop and not fault:
        patience = SECONDS if ends else 120.0  # at first the seeds are built
        try:
            if not heard.poll(patience):
                fault = f"an input took more than {SECONDS:g} s"
            else:
                end = heard.recv()
                ends[end] = ends.get(end, 0) + 1
        except EOFError:
            child.join()
            fault = f"the process ended with {child.exitcode}"
    child.kill()
    return ends, fault


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--folder", default="/tmp")
    options = parser.parse_args()
    ends, fault = run(options.folder, options.minutes, options.seed)
    print(json.dumps({"inputs": sum(ends.values()), "seed": options.seed, **ends}))
    if fault:
        print(f"{fault}: see {options.folder}/{options.seed}.onnx", file=sys.stderr)
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
