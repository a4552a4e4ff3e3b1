"""Why a verdict is what it is: a code with parameters, and one English template for each."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from probes.judge.words import WORD_TABLES, gettext_noop, joined_word

Param = int | str | list[str]

MESSAGE_LENGTH = 160


class Reason(NamedTuple):
    code: str
    params: Mapping[str, Param]


REASONS: dict[str, str] = {
    # the core decides
    "core_pass": gettext_noop("%(passed)s of %(total)s core cases pass"),
    "core_some": gettext_noop("%(passed)s of %(total)s core cases pass; fails with %(which)s"),
    "core_some_dtype": gettext_noop(
        "only with %(good)s, not with %(bad)s (%(passed)s of %(total)s core cases pass)"
    ),
    "core_some_since": gettext_noop(
        "only operator version %(good)s, not %(bad)s (%(passed)s of %(total)s core cases pass)"
    ),
    "core_some_form": gettext_noop(
        "%(passed)s of %(total)s core cases pass, only with %(forms)s; fails with %(which)s"
    ),
    "wrong_values": gettext_noop(
        "wrong values without an error in %(count)s of %(total)s core cases: %(which)s"
    ),
    "wrong_shape": gettext_noop(
        "wrong output shape without an error in %(count)s of %(total)s core cases: %(which)s"
    ),
    "refused": gettext_noop("refused at %(stage)s: %(message)s"),
    "run_error": gettext_noop("fails while running: %(message)s"),
    "crashed": gettext_noop("crashes at %(stage)s: %(message)s"),
    "timed_out": gettext_noop("does not end in time at %(stage)s"),
    "out_of_memory": gettext_noop("runs out of memory at %(stage)s"),
    "core_none": gettext_noop("none of %(total)s core cases passes: %(outcomes)s"),
    # every core case passes, with a reservation
    "unseen": gettext_noop("compiles, numbers unseen (%(count)s of %(total)s core cases)"),
    "fallback": gettext_noop("%(count)s of %(total)s core cases fall back to the CPU"),
    "mixed": gettext_noop("%(count)s of %(total)s core cases run partly on the CPU"),
    "wrong_dtype": gettext_noop(
        "right values in a wrong data type in %(count)s of %(total)s core cases: %(which)s"
    ),
    "unstable": gettext_noop("not repeatable in %(count)s of %(total)s core cases: %(which)s"),
    "wrong_in_form": gettext_noop(
        "passes, but wrong values without an error in another form of %(which)s"
    ),
    "only_constant": gettext_noop("only with constant inputs in %(count)s of %(total)s core cases"),
    "only_form": gettext_noop("only with %(form)s in %(count)s of %(total)s core cases"),
    "only_restamped": gettext_noop(
        "only after restamping to an older opset or IR version in %(count)s of %(total)s core cases"
    ),
    "close": gettext_noop(
        "small errors, inside the tolerance band, in %(count)s of %(total)s core cases"
    ),
    "placement_unproven": gettext_noop(
        "passes in the simulator; running on the accelerator is not proven"
    ),
    # the rest lowers, or is all there is
    "rest_failed": gettext_noop(
        "%(count)s of %(rest_total)s cases beyond the core fail: %(which)s"
    ),
    "rest_failed_dtype": gettext_noop(
        "fails with %(bad)s in %(count)s of %(rest_total)s cases beyond the core"
    ),
    "rest_failed_since": gettext_noop(
        "fails with operator version %(bad)s in %(count)s of %(rest_total)s cases beyond the core"
    ),
    "rest_only": gettext_noop(
        "tried only in data types that the target does not declare: "
        "%(rest_passed)s of %(rest_total)s cases pass"
    ),
    "undeclared_only": gettext_noop("tried only in data types that the target does not declare"),
    # beside the decision
    "rest_reserved": gettext_noop(
        "%(count)s of %(rest_total)s cases beyond the core pass with a reservation: %(which)s"
    ),
    "oracle_one": gettext_noop(
        "the oracles disagree; only one confirms the expected outputs of %(which)s"
    ),
    "placement_unreported": gettext_noop("the runtime does not say where it ran"),
    "promoted": gettext_noop("no mainstream case; %(total)s node tests decide"),
    # no evidence of our own
    "not_tried": gettext_noop("not tried, and no vendor's list says anything"),
    "not_attributable": gettext_noop(
        "nothing attributable: %(count)s probes prove nothing about the runtime"
    ),
    "claim_full": gettext_noop("%(source)s lists it as supported"),
    "claim_full_says": gettext_noop("%(source)s lists it as supported: %(restriction)s"),
    "claim_partial": gettext_noop("%(source)s lists it as supported with limits"),
    "claim_partial_says": gettext_noop("%(source)s, supported with limits: %(restriction)s"),
    "claim_none": gettext_noop("%(source)s lists it as not supported"),
    "claim_none_says": gettext_noop("%(source)s lists it as not supported: %(restriction)s"),
    "claim_unit": gettext_noop("the claim is for %(unit)s"),
    # findings: what the nearest evidence says of a node, by rung and level
    "exact_green": gettext_noop("this very node passes"),
    "exact_yellow": gettext_noop("this very node works with limits"),
    "exact_red": gettext_noop("this very node fails"),
    "class_green": gettext_noop("the same form in another size passes"),
    "class_yellow": gettext_noop("the same form in other sizes works with limits"),
    "class_red": gettext_noop("the same form in other sizes fails"),
    "dtype_green": gettext_noop("the operator passes in these data types; this form was not tried"),
    "dtype_yellow": gettext_noop(
        "the operator has limits or failures in these data types; this form was not tried"
    ),
    "dtype_red": gettext_noop("the operator fails in these data types; this form was not tried"),
    "operator_green": gettext_noop("the operator passes in other forms; this form was not tried"),
    "operator_yellow": gettext_noop("the operator has limits or failures; this form was not tried"),
    "operator_red": gettext_noop(
        "the operator fails or gives wrong results; this form was not tried"
    ),
    "documented_green": gettext_noop("the vendor lists the operator; nothing was run"),
    "documented_yellow": gettext_noop("the vendor lists the operator with limits; nothing was run"),
    "documented_red": gettext_noop(
        "the vendor lists the operator as not supported; nothing was run"
    ),
    "documented_dtype": gettext_noop(
        "the vendor lists the operator for %(listed)s, not for %(dtype)s; nothing was run"
    ),
    "untried": gettext_noop("%(operator)s was not tried on this target"),
    "unknown_domain": gettext_noop("nobody knows the operator domain %(domain)s (%(operator)s)"),
    "unreadable": gettext_noop("the inputs of %(operator)s could not be worked out"),
    "constant": gettext_noop("constant, folded"),
    "folded": gettext_noop("depends on constants only; folded before anything runs"),
    "stamp_opset": gettext_noop(
        "the model is stamped opset %(stamp)s; the runtime stops at %(maximum)s"
    ),
    "stamp_ir": gettext_noop(
        "the model is stamped IR version %(stamp)s; the runtime stops at %(maximum)s"
    ),
    "stamp_refused": gettext_noop("refused for its version stamp: %(message)s"),
    "stamp_declared": gettext_noop("declared by the runtime, not seen to be refused"),
    "stamp_listed": gettext_noop("the vendor's list ends there; nothing was run"),
}

# What to do about a finding.
ADVICE: dict[str, str] = {
    "try_node": gettext_noop("Its exact form was not tried: test it on the target to be sure."),
    "name_domain": gettext_noop(
        "Say which library provides the domain, or export with standard operators."
    ),
    "infer_shapes": gettext_noop("Export with inferred shapes and types, then ask again."),
    "restamp": gettext_noop(
        "Lower the version stamp to %(maximum)s: no operator of the model is newer."
    ),
    "restamp_ir": gettext_noop("Lower the IR version stamp to %(maximum)s; the graph stays."),
    "lower_stamp": gettext_noop("Lower the opset and IR stamps to what the runtime knows."),
    "convert_opset": gettext_noop(
        "Export for opset %(maximum)s, or convert down: the model uses newer operators."
    ),
    "make_constant": gettext_noop(
        "Make every input but the first constant: freeze weights, fold shapes."
    ),
    "change_dtype": gettext_noop("Use one of these data types here: %(good)s."),
    "avoid_dtype": gettext_noop("Avoid these data types here: %(bad)s."),
    "change_since": gettext_noop("Export for an opset with operator version %(good)s."),
    "check_form": gettext_noop("Compare this node with the forms that fail, or probe it."),
    "check_limits": gettext_noop("Check the node against the limits that the list states."),
    "expect_cpu": gettext_noop("Expect copies to the CPU and back; measure, or replace the node."),
    "compare_outputs": gettext_noop("Run the model on the target and compare its outputs."),
    "cast_output": gettext_noop("Expect another data type, or add a Cast after the node."),
    "replace_node": gettext_noop("Replace the node by operators that work, or run it on the CPU."),
    "distrust_values": gettext_noop(
        "Do not trust its values: nothing reports the error. Replace it."
    ),
    "probe_claim": gettext_noop(
        "The vendor's word is all there is: test it on the device before you rely on it."
    ),
}


def parameter_names(template: str) -> tuple[str, ...]:
    """The names a template asks for, in order, each once."""
    return tuple(dict.fromkeys(re.findall(r"%\((\w+)\)s", template)))


def first_line(message: str) -> str:
    """The first line that says something, printable and short enough for a table cell."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    line = "".join(character for character in line if character.isprintable())
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"


def render(
    reason: Reason,
    translate: Callable[[str], str] = gettext_noop,
    templates: Mapping[str, str] = REASONS,
) -> str:
    """The reason as a sentence.

    An unknown code (a document from a newer version) is shown as it is, with its parameters.
    """
    template = templates.get(reason.code)
    if template is None:
        return " ".join([reason.code, *(f"{k}={v}" for k, v in reason.params.items())])
    words = {
        name: _words(name, reason.params.get(name, ""), translate)
        for name in parameter_names(template)
    }
    # A runtime that refuses without a word leaves "refused at loading: ".
    return (translate(template) % words).rstrip(": ")


def _words(name: str, value: Param, translate: Callable[[str], str]) -> str:
    table = WORD_TABLES.get(name)
    items = value if isinstance(value, list) else [str(value)]
    if table is not None:
        items = [joined_word(table, item, translate) for item in items]
    return ", ".join(items)
