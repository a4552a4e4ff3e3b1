"""One tensor as it passes through the reader: what it declares against what it holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from probes.model import messages
from probes.model.messages import LENGTH
from probes.model.refusals import ModelFileError, Problem
from probes.model.values import DTYPES, NUMBER_OF, STRING

SMALL_BYTES = 512  # 64 elements of the widest common type
SMALL_INTEGERS = 8192  # shapes, axes, split sizes: shape inference reads them
INTEGERS = frozenset(NUMBER_OF[name] for name in ("int32", "int64", "bool"))

# Field -> bytes of one entry; 0 is a varint, None a length-prefixed entry.
ENTRY_BYTES: dict[int, int | None] = {4: 4, 5: 0, 6: None, 7: 0, messages.RAW: 1, 10: 8, 11: 0}
TYPED_FIELD = {"float": 4, "complex64": 4, "int64": 7, "string": 6, "double": 10, "complex128": 10}
TYPED_FIELD |= {"uint32": 11, "uint64": 11}
INT32_FIELD = 5  # everything else, sub-byte types packed two or four to an entry


@dataclass
class TensorTally:
    """Declared type and dimensions of one tensor and the entries that its payload holds."""

    dims: list[int] = field(default_factory=list)
    dtype: int = 0
    name: str = ""
    external: bool = False
    entries: dict[int, int] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)

    def count_payload(self, number: int, wire: int, body: memoryview) -> None:
        """Adds one payload field; packed numbers are counted, never decoded."""
        size = ENTRY_BYTES[number]
        if wire != LENGTH or size is None:
            found = 1
        elif size == 0:
            found = count_varints(body)
        else:
            found = len(body) // size
        self.entries[number] = self.entries.get(number, 0) + found

    def find_problem(self) -> Problem | None:
        """What contradicts itself in the tensor; ModelFileError when it lies outside the file."""
        if self.external:
            raise ModelFileError("external_data", tensor=self.name)
        if min(self.dims, default=0) < 0:
            return "negative_dim", {"tensor": self.name, "dims": self.dims}
        if self.dtype == 0 and (self.dims or self.entries):
            return "untyped_tensor", {"tensor": self.name}
        row = DTYPES.get(self.dtype)
        if row is None or row.bits == 6:
            return None  # newer than this table, or packed differently between versions
        if len(self.entries) > 1:
            return "payload_twice", {"tensor": self.name}
        number, expected = self.expected_entries()
        found = self.entries.get(number, 0)
        if found == expected:
            return None
        return "payload_size", {
            "tensor": self.name,
            "dims": self.dims,
            "dtype": row.name,
            "expected": expected,
            "found": found,
            "unit": "bytes" if number == messages.RAW else "numbers",
        }

    def expected_entries(self) -> tuple[int, int]:
        """The field that should hold the payload and how many entries the dimensions need."""
        count, row = self.count_elements(), DTYPES[self.dtype]
        if messages.RAW in self.entries and self.dtype != STRING:
            return messages.RAW, -(-count * row.bits // 8)
        number = TYPED_FIELD.get(row.name, INT32_FIELD)
        if row.name.startswith("complex"):
            count *= 2
        per_entry = max(1, 8 // row.bits) if row.bits else 1
        return number, -(-count // per_entry)

    def count_elements(self) -> int:
        return math.prod(max(dim, 0) for dim in self.dims)

    def declared_bytes(self) -> int:
        """Size of the values as the runtime holds them; strings count as nothing."""
        row = DTYPES.get(self.dtype)
        return -(-self.count_elements() * row.bits // 8) if row else 0

    def is_small(self) -> bool:
        """True when the values are kept: they may decide support, and hardly are weights."""
        size = sum(end - start for start, end in self.spans)
        return size <= (SMALL_INTEGERS if self.dtype in INTEGERS else SMALL_BYTES)


def count_varints(body: memoryview) -> int:
    """Numbers in a packed varint field: bytes without the continuation bit."""
    step = 1 << 20
    return sum(
        int(np.count_nonzero(np.frombuffer(body[at : at + step], np.uint8) < 0x80))
        for at in range(0, len(body), step)
    )
