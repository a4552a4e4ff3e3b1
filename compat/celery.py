"""The Celery application: server work over Redis when REDIS_URL is set."""

import logging
import os

from celery import Celery
from kombu.exceptions import OperationalError

from probes.protocol import WAKE_TASK, wake_names

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "compat.settings")
app = Celery("opatlas")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["compat"])
app.conf.update(
    # Latency is measured: one probe run at a time, and no message waits behind a long one.
    worker_concurrency=1,
    worker_prefetch_multiplier=1,
    broker_transport_options={"socket_connect_timeout": 3},
    # `celery -A compat worker --beat` polls; a lost message then costs ten seconds.
    beat_schedule={
        "probe what waits": {
            "task": "compat.probe_waiting",
            "schedule": 10.0,
            "options": {"expires": 10.0},
        },
        "requeue what lost workers held": {"task": "compat.requeue_expired", "schedule": 60.0},
        "delete old uploads": {"task": "compat.forget_expired", "schedule": 3600.0},
    },
)


def tell_workers(task: str, *args: int) -> None:
    """Send a task by name, once; without Redis the workers find the work when they poll."""
    try:
        app.send_task(task, args=args, retry=False)
    except OperationalError as error:
        logger.warning("Redis did not take the message, workers will find the work: %s", error)


def wake_agent(device: str) -> None:
    """Tell a device's agent that there is work; it takes the same message twice, or none."""
    queue, prefix = wake_names(device)
    options = {**app.conf.broker_transport_options, "global_keyprefix": prefix}
    try:
        with app.connection(transport_options=options) as connection:
            app.send_task(WAKE_TASK, queue=queue, connection=connection, retry=False, expires=60)
    except OperationalError as error:
        logger.warning("Redis did not take the message, the agent will ask by itself: %s", error)
