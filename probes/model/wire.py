"""Walks a protobuf file field by field and copies what is not weights; nothing is recursive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from probes.model import messages
from probes.model.cursor import Cursor, Frame, encode_varint
from probes.model.messages import LENGTH, VARINT, Keep, Message
from probes.model.payload import TensorTally
from probes.model.refusals import LIMITS, Limits, ModelFileError, Problem, gettext_noop

COUNTED = {
    "nodes": gettext_noop("nodes"),
    "tensors": gettext_noop("tensors and value descriptions"),
    "subgraphs": gettext_noop("graphs"),
    "functions": gettext_noop("functions"),
    "fields": gettext_noop("protobuf fields"),
}
MOST_PROBLEMS = 50
FORGET_STEP = 16 * 1024**2


@dataclass
class Stripped:
    """A model without its weights: a smaller valid protobuf, and what was left out."""

    data: bytes
    initializers: int
    initializer_bytes: int
    weight_bytes: int
    has_training: bool
    problems: list[Problem]


def strip_weights(
    view: memoryview, limits: Limits = LIMITS, forget: Callable[[], object] = lambda: None
) -> Stripped:
    """Reads a whole file; ModelFileError for bytes that are no model within the limits.

    `forget` is called every 16 MB: what lies behind is not looked at again.
    """
    return Walk(view, limits, forget).run()


class Walk(Cursor):
    """One pass over one file. Payloads are skipped by length, so their pages are never touched."""

    def __init__(
        self, view: memoryview, limits: Limits, forget: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__(view)
        self.forget = forget
        self.forgotten = 0
        self.limits = limits
        self.counts: Counter[str] = Counter()
        self.kept = 0
        self.initializers = self.initializer_bytes = self.weight_bytes = 0
        self.has_training = False
        self.problems: list[Problem] = []
        self.stack = [Frame(messages.MODEL, len(view))]

    def run(self) -> Stripped:
        root = self.stack[0]
        while True:
            frame = self.stack[-1]
            if self.pos < frame.end:
                self.read_field(frame)
            elif frame is root:
                break
            else:
                self.close(frame)
            if self.pos - self.forgotten > FORGET_STEP:
                self.forget()
                self.forgotten = self.pos
        return Stripped(
            b"".join(root.out),
            self.initializers,
            self.initializer_bytes,
            self.weight_bytes,
            self.has_training,
            self.problems,
        )

    def read_field(self, frame: Frame) -> None:
        start = self.pos
        key = self.read_varint(frame)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise self.damaged(f"field number {number}", start)
        self.count("fields")
        body = self.pos
        end = self.end_of(frame, wire)
        rule = frame.message.fields.get(number, Keep.DROP)
        if isinstance(rule, Message):
            if wire != LENGTH:
                raise self.damaged(f"{rule.name} with wire type {wire}", start)
            self.open(rule, number, start, self.pos, end)
            return
        self.pos = end
        if rule is Keep.COPY:
            self.keep(frame, start, end)
            if frame.tensor is not None:
                self.note_tensor(frame.tensor, number, wire, body, end)
        elif rule is Keep.NAME:
            self.keep_name(frame, number, wire, start, end)
        elif rule is Keep.PAYLOAD and frame.tensor is not None:
            content = self.view[self.content_start(wire, body) : end]
            frame.tensor.count_payload(number, wire, content)
            frame.tensor.spans.append((start, end))
        elif frame.message is messages.MODEL and number == 20:
            self.has_training = True

    def open(self, message: Message, number: int, start: int, body: int, end: int) -> None:
        if len(self.stack) >= self.limits.depth:
            raise ModelFileError("too_deep", limit=self.limits.depth)
        if message.counted:
            self.count(message.counted)
        if message is messages.DIM and len(self.stack[-1].out) >= self.limits.dims:
            raise ModelFileError(
                "too_many", limit=self.limits.dims, what=gettext_noop("dimensions")
            )
        tag = bytes(self.view[start : self.tag_end(start)])
        tally = TensorTally() if message is messages.TENSOR else None
        parent = self.stack[-1].tensor
        if message is messages.EXTERNAL_ENTRY and parent is not None:
            parent.external = True
        self.stack.append(Frame(message, end, tag, number, tensor=tally))
        self.pos = body if message.fields else end

    def close(self, frame: Frame) -> None:
        self.stack.pop()
        parent = self.stack[-1]
        if frame.tensor is not None:
            self.close_tensor(frame, frame.tensor, parent)
        body = b"".join(frame.out)
        if frame.message is not messages.EXTERNAL_ENTRY:
            parent.out.append(frame.tag + encode_varint(len(body)) + body)

    def close_tensor(self, frame: Frame, tally: TensorTally, parent: Frame) -> None:
        problem = tally.find_problem()
        if problem and len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        size = tally.declared_bytes()
        self.weight_bytes += size
        grand = self.stack[-2] if len(self.stack) > 1 else parent
        in_graph = parent.message is messages.GRAPH
        in_sparse = parent.message is messages.SPARSE and grand.message is messages.GRAPH
        if in_graph or (in_sparse and frame.number == 1):
            self.initializers += 1
        if in_graph or in_sparse:
            self.initializer_bytes += size
        if tally.is_small():
            for start, end in tally.spans:
                self.keep(frame, start, end)

    def keep(self, frame: Frame, start: int, end: int) -> None:
        self.kept += end - start
        if self.kept > self.limits.kept_bytes:
            limit = self.limits.kept_bytes
            raise ModelFileError(
                "too_many", limit=limit, what=gettext_noop("bytes beside the weights")
            )
        frame.out.append(bytes(self.view[start:end]))

    def keep_name(self, frame: Frame, number: int, wire: int, start: int, end: int) -> None:
        if wire != LENGTH:
            raise self.damaged(f"a name with wire type {wire}", start)
        if end - start > self.limits.name_bytes:
            raise ModelFileError("too_long", limit=self.limits.name_bytes)
        raw = bytes(self.view[self.content_start(wire, self.tag_end(start)) : end])
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ModelFileError("bad_name", offset=start) from None
        self.keep(frame, start, end)
        if frame.tensor is not None and number == messages.TENSOR_NAME:
            frame.tensor.name = text

    def note_tensor(self, tally: TensorTally, number: int, wire: int, body: int, end: int) -> None:
        """Remembers dimensions, type and location as they pass."""
        values = list(self.varints(wire, body, end))
        if number == messages.DIMS:
            tally.dims += [value - (1 << 64) if value >> 63 else value for value in values]
            if len(tally.dims) > self.limits.dims:
                raise ModelFileError(
                    "too_many", limit=self.limits.dims, what=gettext_noop("dimensions")
                )
        elif values and number == messages.DATA_TYPE:
            tally.dtype = values[-1]
        elif values and number == messages.LOCATION:
            tally.external |= values[-1] == 1

    def varints(self, wire: int, body: int, end: int) -> list[int]:
        """The numbers of a field, packed or not."""
        if wire not in (VARINT, LENGTH):
            raise self.damaged(f"a number with wire type {wire}", body)
        after, self.pos = self.pos, self.content_start(wire, body)
        frame = Frame(messages.INDICES, end)
        found: list[int] = []
        while self.pos < end and len(found) <= self.limits.dims:
            found.append(self.read_varint(frame))
        self.pos = after
        return found

    def count(self, what: str) -> None:
        self.counts[what] += 1
        limit: int = getattr(self.limits, what)
        if self.counts[what] > limit:
            raise ModelFileError("too_many", limit=limit, what=COUNTED[what])
