"""Groups of tests that need a server or a browser: deselected by name where that is absent."""

import os

import pytest

from tests.servers import CHROMIUM, REDIS_URL, absent_groups, is_ci

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OURS = "opatlas-tests"
ABSENT = pytest.StashKey[dict[str, str]]()


def is_controller(config) -> bool:
    return not hasattr(config, "workerinput")


def pytest_configure(config):
    absent = config.stash[ABSENT] = absent_groups()
    if absent and is_ci() and is_controller(config):
        sentences = "; ".join(absent.values())
        raise pytest.UsageError(f"CI=true, and a group of tests cannot run: {sentences}.")
    if "postgres" not in absent and not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        absent["postgres"] = "this run is on SQLite (DATABASE_URL)"


def pytest_collection_modifyitems(config, items):
    absent = config.stash[ABSENT]
    kept, dropped = [], []
    for item in items:
        (dropped if any(map(item.get_closest_marker, absent)) else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_report_header(config):
    return [f"deselected group '{name}': {why}" for name, why in config.stash[ABSENT].items()]


@pytest.fixture(autouse=True, scope="session")
def data_dir(tmp_path_factory):
    """What a test run stores, and the processes it starts, goes to a folder of its own."""
    from django.conf import settings

    folder = tmp_path_factory.mktemp("data")
    os.environ["OPATLAS_DATA_DIR"] = str(folder)
    settings.DATA_DIR = folder
    settings.CASE_DIR = folder / "cases"
    settings.UPLOAD_DIR = folder / "uploads"
    return folder


@pytest.fixture
def redis_url(worker_id):
    """An empty Redis database of this worker's own; one that holds other data is left alone."""
    import redis

    number = int(worker_id.removeprefix("gw")) if worker_id != "master" else 0
    url = f"{REDIS_URL.rpartition('/')[0]}/{8 + number % 8}"
    with redis.Redis.from_url(url) as server:
        if server.dbsize() and not server.exists(OURS):
            pytest.fail(f"{url} holds data that is not from these tests: set TEST_REDIS_URL")
        server.flushdb()
        server.set(OURS, 1)
        yield url
        server.flushdb()


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for the session (Debian's; Playwright downloads none)."""
    from playwright.sync_api import sync_playwright

    # Its synchronous driver keeps an event loop running in the thread that also asks the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()
