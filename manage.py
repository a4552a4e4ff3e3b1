#!/usr/bin/env python3
"""Django's command line for OpAtlas."""

import os
import sys

INTERRUPTED = 130  # as a shell says of a command that Ctrl-C ended


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "compat.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
