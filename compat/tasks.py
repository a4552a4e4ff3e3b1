"""What Celery workers run: thin, by name, with ids. The queue itself is the Probe rows."""

from collections.abc import Callable

from celery import shared_task

from compat import leases, reports, work

TaskFunction = Callable[..., int]
task: Callable[..., Callable[[TaskFunction], TaskFunction]] = shared_task


@task(name="compat.probe_target")
def probe_target(target_id: int) -> int:
    """Probe what is queued for a target of this machine; returns how many results were stored."""
    return work.probe_here(target_id=target_id)


@task(name="compat.probe_waiting")
def probe_waiting() -> int:
    """The poll besides the messages: everything that waits for this machine."""
    return work.probe_here()


@task(name="compat.requeue_expired")
def requeue_expired() -> int:
    """Offer again what lost workers held."""
    return leases.requeue_expired()


@task(name="compat.forget_expired")
def forget_expired() -> int:
    """Delete uploads whose time is over."""
    reports.forget_expired()
    return 0
