"""Which Kafka clients a broker upgrade breaks, from what the brokers saw."""


class Unusable(ValueError):
    """An argument, or what a file or location that an argument names holds. The text has one line, which says why and what
    to write instead: a command or stage ends with it and exit code 2 (console/refusal.py).
    """
