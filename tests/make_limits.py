"""Limits in the database for tests: what a search of a made-up runtime finds."""

from datetime import UTC, datetime

from compat.models import Limit
from probes.cases.limits import limits_by_operator
from probes.run.limits import OperatorLimits, search
from probes.run.outcome import Outcome, Placement, ProbeResult
from tests.make import make_environment, make_operator, make_target

REFUSAL = "E build: kernel too large\nin rule_conv"


def answer(case, *, outcome=Outcome.PASSED, **fields):
    fields.setdefault("placement", Placement.ACCELERATOR)
    return ProbeResult(case.id, "as_is", "t", outcome, **fields)


def up_to_seven(case):
    """A kernel of 8 is refused, pads of 10 run on the CPU, but those of 128 do not."""
    parameter, value = case.name.split("/")[2:4]
    if parameter == "kernel" and int(value) > 7:
        return answer(case, outcome=Outcome.REJECTED, message=REFUSAL,
                      placement=Placement.UNKNOWN)  # fmt: skip
    if parameter == "pad" and 10 <= int(value) < 128:
        return answer(case, placement=Placement.FALLBACK, placement_detail="Conv:CPU")
    return answer(case)


def find_limits(operator="Conv", parameters=("kernel", "stride", "pad"), ask=up_to_seven):
    rows = [row for row in limits_by_operator()[operator] if row.parameter in parameters]
    found = tuple(search(row, ask) for row in rows)
    return OperatorLimits("ai.onnx", operator, 11, found, (), {}, {}).to_dict()


def make_limits(target=None, operator="Conv", **fields):
    found = find_limits(operator)
    return Limit.objects.create(
        target=target or make_target(),
        operator=make_operator(operator),
        environment=make_environment(),
        found_at=datetime(2026, 11, 29, tzinfo=UTC),
        **{name: found[name] for name in ("since_version", "parameters", "dtypes", "operands")},
        **fields,
    )
