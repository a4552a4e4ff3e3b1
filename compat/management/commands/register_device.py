"""Register a device; its agent's token is shown this once."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from compat.devices import DeviceError, register_device
from compat.wake import wake_acl


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--title", default="", help="default: the slug")
        parser.add_argument("--device-class", required=True, help="jetson_orin, rk3588, x86_cpu")
        parser.add_argument("--runtime", action="append", default=[], help="what it may probe: any")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            device, secret = register_device(
                slug=options["slug"],
                title=options["title"],
                device_class=options["device_class"],
                runtimes=options["runtime"],
            )
        except DeviceError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{device} is registered as {device.slug}. Its token, shown this once:")
        self.stdout.write(secret)
        if settings.AGENT_REDIS_URL:
            self.stdout.write("To let Redis wake its agent, give Redis this user (redis-cli):")
            self.stdout.write(wake_acl(device.slug))
