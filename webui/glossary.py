"""The short terms in which claims quote documents and source files, each in a sentence."""

import re

from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

GLOSSARY: dict[str, str | Promise] = {
    "dtype_gap": _(
        "Data types that the ONNX specification allows for a type variable (T, V, …) and for "
        "which the source registers no kernel."
    ),
    "newer spec revisions not matched": _(
        "ONNX revised the operator in these opsets; the source still names an older revision."
    ),
    "newer revisions not listed": _(
        "ONNX revised the operator in these opsets; the document does not list them."
    ),
    "absent_from_list": _(
        "The document is a list of what is supported, and the operator is not in it."
    ),
    "no kernel": _("The source registers no kernel for the operator."),
    "spec defines a function body, may run by expansion": _(
        "ONNX defines the operator by others; a runtime may run those instead."
    ),
    "translator versions": _(
        "Opsets for which the front end has a translator of the operator. That it is translated "
        "does not say that every device runs it."
    ),
    "converter versions": _("Opsets for which the converter has code for the operator."),
    "lowering versions": _("Opsets for which the compiler has a lowering of the operator."),
    "opset revisions": _("Revisions of the operator that the document lists."),
    "dla_sw": _(
        "How the DLA software of NVIDIA supports the operator: native, or only after the graph is "
        "rewritten; a version is the first one that does."
    ),
    "not exposed via TensorRT": _("The DLA software has it, but TensorRT offers no way to it."),
    "multi_core": _("Whether the operator can be split over several NPU cores."),
    "rknn_op": _("The vendor's own name for the operator in this form."),
    "openvino_layer": _("OpenVINO's own name for the operation; the mapping is ours."),
    "via=": _("How the converter takes the operator: by its own code, or by rewriting the graph."),
    "variant=": _("The vendor lists forms of the operator apart; this row is about the named one."),
    "per-node checker applies": _("The source decides node by node by rules not quoted here."),
    "static_shape_only": _("Every shape must be known when the model is compiled."),
}  # fmt: skip
# Longest first, so that a term inside another one does not hide it.
_TERMS = re.compile("|".join(re.escape(t) for t in sorted(GLOSSARY, key=len, reverse=True)))


def glossed(text: str) -> SafeString:
    """The text with its short terms explained where the pointer rests on them."""
    parts, end = [], 0
    for found in _TERMS.finditer(text):
        parts.append(conditional_escape(text[end : found.start()]))
        term = found.group()
        parts.append(format_html('<abbr title="{}">{}</abbr>', GLOSSARY[term], term))
        end = found.end()
    parts.append(conditional_escape(text[end:]))
    return format_html_join("", "{}", ((part,) for part in parts))
