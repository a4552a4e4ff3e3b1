"""What TensorRT's parser and builder say, and whose fault it is: texts in, a sentence out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

STANDARD_DOMAINS = ("", "ai.onnx")

# Said after the error that matters wherever no CUDA driver answers: it tells nothing.
AFTERTHOUGHT = "catchCudaError"
WHERE = re.compile(r"\s+In [\w:~<>() ]+? at \S+?:\d+$")
CODE = re.compile(r"^(?:\[[^\]]*\]|[\w:]+:) Error Code \d+: ")
FRAMES = (
    WHERE,
    re.compile(r"^\[[^\]]*\] "),
    re.compile(r"^\w+Exception: \S+:\d+: "),
    re.compile(r"^(?:Assertion|CHECK)[ (].*? failed\.\s+(?=\S)"),
)
KIND = re.compile(r"^([\w ]+) \((.*)\)$", re.DOTALL)
PLUGIN_OF_A_LIBRARY = re.compile(r"_TRT$|Plugin")
NO_PLUGIN = re.compile(r"Plugin not found|No importer registered")
NEEDS_PLUGIN = re.compile(
    r"failed to load (\w+) plugin|(\w+) plugin creator version \d+ was not found"
    r"|(\w+) plugin was not found in the plugin registry"
)
NO_DRIVER = re.compile(r"Cuda Error in|CUDA driver|no CUDA-capable device", re.IGNORECASE)
NO_MEMORY = re.compile(r"out ?of ?memory", re.IGNORECASE)
OUR_PROFILE = re.compile(r"optimization profile|\bprofile \d+\b", re.IGNORECASE)
CHECKERS = "onnxOpCheckers.cpp"  # looks at every node; an importer's error ends the parsing


class ParserError(NamedTuple):
    """One error of the ONNX parser. code: INVALID_NODE, ...; node: -1 where it names none; file:
    the graph's input where function is importInput."""

    code: str
    node: int
    name: str
    operator: str
    function: str
    file: str
    line: int
    text: str

    @property
    def subject(self) -> str:
        """What it is about, as a reader of the model knows it."""
        if self.operator:
            named = " ".join(filter(None, (self.operator, self.name)))
            return f"{named} (node {self.node})"
        return f"Input {self.file}" if self.function == "importInput" else "The model"

    @property
    def raw(self) -> str:
        """The error as it came."""
        place = f"{self.function} ({self.file}:{self.line})"
        return f"{self.code} {self.subject} in {place}: {self.text}"


def gist(text: str) -> str:
    """The sentence inside an error: without the place in TensorRT's sources, without the check that
    failed where words follow it."""
    lines = [line.strip() for line in text.splitlines() if AFTERTHOUGHT not in line]
    if len(lines) > 1 and lines[0].startswith("Invalid Node"):
        del lines[0]
    said = next(filter(None, lines), "")
    if '&& "' in said:
        return said.rsplit('&& "', 1)[1].rstrip('"').replace('" "', "")
    if said.startswith("Assertion failed: ") and said.count(": ") > 1:
        return said.split(": ", 2)[2]
    return _unframed(said)


def _unframed(said: str) -> str:
    said = CODE.sub("", said)
    kind = KIND.match(said)
    said = kind[2] if kind else said
    for frame in FRAMES:
        said = frame.sub("", said)
    return said.strip()


class Verdict(NamedTuple):
    """Why a model was not taken. ours: this installation or this machine lacks something, which
    says nothing of the operator."""

    text: str
    ours: bool = False


class About(NamedTuple):
    """What the model says of the first error: the operator's domain, the type of the graph's input;
    "" where there is none. nodes: how many the graph has."""

    domain: str = ""
    dtype: str = ""
    nodes: int = 0


def parser_verdict(
    errors: Sequence[ParserError], log: Sequence[str], about: About, here: str
) -> Verdict:
    """here: what was searched for a plugin ("this wheel")."""
    if not errors:
        said = next((gist(line) for line in log if gist(line)), "the parser gives no reason.")
        return Verdict("\n".join([f"The model: {said}", *log]))
    first = errors[0]
    reason = _driver(log) or _plugin(first, about.domain, here) or _plain(first)
    subject = f"{first.subject} of type {about.dtype}" if about.dtype else first.subject
    lines = [f"{subject}: {reason.text}"]
    last = errors[-1]
    if last.file != CHECKERS and 0 <= last.node < about.nodes - 1:
        lines.append("The parser stops there: nodes after it were not looked at.")
    lines += [error.raw for error in errors]
    return Verdict("\n".join(lines), reason.ours)


def builder_verdict(log: Sequence[str]) -> Verdict:
    """Of the errors that the logger got while it built."""
    telling = [line for line in log if gist(line)]
    if not telling:
        return Verdict("The builder gives no reason.\n" + "\n".join(log))
    text = "\n".join([gist(telling[0]), *log])
    ours = bool(_driver(log)) or any(OUR_PROFILE.search(line) for line in telling)
    return Verdict(text, ours)


def lacks_memory(log: Sequence[str]) -> bool:
    """Whether an error says that memory ran out."""
    return any(NO_MEMORY.search(line) for line in log)


def _driver(log: Sequence[str]) -> Verdict | None:
    """A plugin that cannot be made without a driver is reported as one that is not there."""
    for line in log:
        if NO_DRIVER.search(line) and AFTERTHOUGHT not in line:
            return Verdict(f"it needs a CUDA driver, and none answers here: {line}", ours=True)
    return None


def _plugin(error: ParserError, domain: str, here: str) -> Verdict | None:
    named = NEEDS_PLUGIN.search(error.text)
    standard = domain in STANDARD_DOMAINS or domain.startswith("ai.onnx.")
    if named:
        plugin = next(filter(None, named.groups()))
        if standard:
            return Verdict(f"its importer needs the plugin {plugin}, which {here} does not ship.")
    elif not NO_PLUGIN.search(error.text):
        return None
    elif not (PLUGIN_OF_A_LIBRARY.search(error.operator) or domain.startswith(("trt", "TRT"))):
        return Verdict(f"no importer, and no plugin of that name ships in {here}.")
    else:
        plugin = error.operator
    return Verdict(f"the plugin {plugin} comes with a library that is not in {here}.", ours=True)


def _plain(error: ParserError) -> Verdict:
    said = gist(error.text)
    return Verdict("the ONNX parser does not support it." if said == "false" else said)
