"""What to do about a finding: the reason of the evidence picks a row, far evidence another."""

from probes.judge.reasons import ADVICE, Reason, parameter_names

ADVICE_FOR: dict[str, str] = {
    "wrong_values": "distrust_values",
    "wrong_shape": "distrust_values",
    "refused": "replace_node",
    "run_error": "replace_node",
    "crashed": "replace_node",
    "timed_out": "replace_node",
    "out_of_memory": "replace_node",
    "core_none": "replace_node",
    "core_some": "check_form",
    "core_some_dtype": "change_dtype",
    "core_some_since": "change_since",
    "core_some_form": "check_form",
    "rest_failed": "check_form",
    "rest_failed_dtype": "avoid_dtype",
    "rest_failed_since": "check_form",
    "rest_only": "check_form",
    "unseen": "compare_outputs",
    "fallback": "expect_cpu",
    "mixed": "expect_cpu",
    "wrong_dtype": "cast_output",
    "unstable": "compare_outputs",
    "wrong_in_form": "compare_outputs",
    "only_constant": "make_constant",
    "only_form": "check_form",
    "only_restamped": "lower_stamp",
    "close": "compare_outputs",
    "placement_unproven": "compare_outputs",
    "claim_full": "probe_claim",
    "claim_full_says": "check_limits",
    "claim_partial": "check_limits",
    "claim_partial_says": "check_limits",
    "claim_none": "probe_claim",
    "claim_none_says": "probe_claim",
    "core_pass": "",
}

# Failures of other forms do not condemn this one.
FAR_RUNGS = frozenset({"dtype", "operator"})
ADVICE_FROM_AFAR: dict[str, str] = {
    "wrong_values": "check_form",
    "wrong_shape": "check_form",
    "core_pass": "try_node",
}


def advise(rung: str, detail: Reason) -> Reason | None:
    """What to do where `detail` is why the evidence on `rung` is what it is; None: nothing."""
    code = ADVICE_FOR.get(detail.code, "try_node")
    if rung in FAR_RUNGS:
        code = ADVICE_FROM_AFAR.get(detail.code, code)
    if not code:
        return None
    wanted = parameter_names(ADVICE[code])
    return Reason(code, {name: detail.params[name] for name in wanted if name in detail.params})
