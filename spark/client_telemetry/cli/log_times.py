"""The options for times in logs, and their names in messages: readers of logs know the option, not how a command spells it."""

from client_telemetry.console.arguments import Arguments, year, zone

_SPELLINGS = {"zone": "Europe/Berlin", "year": "2026"}


def add_time_options(parser: Arguments) -> None:
    """`--zone` (args.zone, a tzinfo; UTC by default) and `--year` (args.year)."""
    parser.add_argument(
        "--zone", type=zone, default="UTC", help="time zone of log times without one; default: UTC"
    )
    parser.add_argument(
        "--year", type=year, help="year of log times without one; default: that of the file's time"
    )


def spelled(message: str, *, of_make: bool = True) -> str:
    """A message with the option where it says what to specify; `of_make`: whether make has the command too.

    >>> spelled("a time without its year: specify the year", of_make=False)
    'a time without its year: specify --year=2026'
    """
    for name, value in _SPELLINGS.items():
        make = f" (make: {name.upper()}={value})" if of_make else ""
        message = message.replace(f"specify the {name}", f"specify --{name}={value}{make}")
    return message
