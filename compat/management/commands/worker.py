"""Probe what is queued for this machine's targets until Ctrl-C or SIGTERM."""

import logging
from typing import Any

from django.core.management.base import BaseCommand

from compat.reports import forget_expired
from compat.terminal import end_by_signal
from compat.work import work_forever

logger = logging.getLogger("compat.worker")


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        logger.info("The worker looks for queued probes.")
        with end_by_signal():
            work_forever(chores=[forget_expired])
        logger.info("The worker has stopped; what it held is queued again.")
