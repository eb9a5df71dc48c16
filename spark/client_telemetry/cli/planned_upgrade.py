"""The options that go into messages to owners."""

from client_telemetry.console.arguments import Arguments, day


def add_planned_upgrade(parser: Arguments) -> None:
    """`--planned-for` (args.planned_for, a day) and `--asked-by` (args.asked_by)."""
    parser.add_argument(
        "--planned-for", type=day, metavar="DAY", help="planned day of the upgrade, such as 2026-12-05"
    )
    parser.add_argument("--asked-by", help="contact for owners' answers: a team, e-mail address or channel")
