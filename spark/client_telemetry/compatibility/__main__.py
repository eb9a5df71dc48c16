"""Runs the command line: see command_line."""

import sys

from client_telemetry.compatibility.command_line import main
from client_telemetry.knowledge_package import store

if __name__ == "__main__":
    try:
        store.activate()
    except ValueError as unusable:
        print(f"client-telemetry compatibility: {unusable}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
