"""Published files of OpenMetrics as one: every family once, with the samples of all files."""

from collections.abc import Iterable

MEDIA_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def merged(texts: Iterable[str]) -> str:
    """
    >>> one = '# TYPE a gauge\\n# HELP a A.\\na{x="1"} 1\\n# EOF\\n'
    >>> print(merged([one, one.replace('"1"', '"2"')]), end="")
    # TYPE a gauge
    # HELP a A.
    a{x="1"} 1
    a{x="2"} 1
    # EOF
    """
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for text in texts:
        family = ""
        is_new = False
        for line in text.split("\n"):
            if line.startswith("# TYPE "):
                family = line.split(" ")[2]
                is_new = family not in heads
                heads.setdefault(family, [])
                samples.setdefault(family, [])
            if not line or line == "# EOF" or not family:
                continue
            if line.startswith("#"):
                heads[family] += [line] if is_new else []
            else:
                samples[family].append(line)
    lines = [line for family, head in heads.items() for line in (*head, *samples[family])]
    return "\n".join([*lines, "# EOF"]) + "\n"
