"""Exit code 0 if the Airflow of this container answers and its scheduler and database are healthy; otherwise 1, with the reason.

.venv/bin/python include/health.py
"""

import json
import os
import sys
import urllib.request

NEEDED = ("metadatabase", "scheduler", "dag_processor")


def main() -> int:
    url = f"http://127.0.0.1:{os.environ.get('AIRFLOW__API__PORT', os.environ.get('PORT', '8080'))}/api/v2/monitor/health"
    try:
        with urllib.request.urlopen(url, timeout=8) as answer:
            health = json.load(answer)
    except (OSError, ValueError) as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 1
    ill = {name: health[name]["status"] for name in NEEDED if health[name]["status"] != "healthy"}
    if ill:
        print(f"{url}: {ill}", file=sys.stderr)
    return 1 if ill else 0


if __name__ == "__main__":
    sys.exit(main())
