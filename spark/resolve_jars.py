"""Fetches the jars that Spark needs beside its own into a folder, once, with the Ivy that Spark ships.

    spark-submit --packages GROUP:NAME:VERSION,... --conf spark.jars.ivy=var/ivy spark/resolve_jars.py var/ivy/jars var/jars

spark-submit has resolved the packages by the time this runs; jobs then run from the folder, offline.
"""

import shutil
import sys
from pathlib import Path


def main(resolved: str, target: str) -> int:
    Path(target).mkdir(parents=True, exist_ok=True)
    jars = sorted(Path(resolved).glob("*.jar"))
    for jar in jars:
        shutil.copy(jar, target)
    print(f"{len(jars)} jars in {target}")
    return 0 if jars else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
