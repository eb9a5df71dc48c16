"""Runs the command line: see command_line."""

import sys

from client_telemetry.compatibility.command_line import main

if __name__ == "__main__":
    sys.exit(main())
