"""What a log line must not hold: line ends that forge another one, and the links of reports."""

import logging
import re

from probes.model.plain import plain_text

LONGEST_LINE = 4000
TOKEN = re.compile(r"(/reports/|report=)([0-9A-Za-z_-]{6})[0-9A-Za-z_-]{6,}")


class PlainLines(logging.Filter):
    """Puts a record on one line and shortens report tokens: who reads logs reads no reports."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        record.msg = TOKEN.sub(r"\1\2...", plain_text(text, LONGEST_LINE))
        record.args = None
        return True
