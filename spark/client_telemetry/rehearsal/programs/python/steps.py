"""What the Python programs share: their settings come in the environment, each step goes out as a line of JSON."""

import json
import os
from collections.abc import Callable


def env(name: str) -> str:
    return os.environ.get(name, "")


def settings_of(*names: str) -> dict[str, object]:
    """CONFIGURATION as keyword arguments: `api_version=0.11` becomes (0, 11)."""
    given = dict(each.split("=", 1) for each in env("CONFIGURATION").split())
    assert set(given) <= set(names), f"unknown settings in {given}"
    return {name: tuple(map(int, value.split("."))) for name, value in given.items()}


def uses_tls() -> bool:
    return env("PROTOCOL").endswith("SSL")


def login_of_kafka_python(token_provider: object) -> dict[str, object]:
    """The settings with which kafka-python and aiokafka log in, without those of TLS. `token_provider`: of the TOKEN, as the
    library wants it."""
    found: dict[str, object] = {"security_protocol": env("PROTOCOL")} if env("PROTOCOL") else {}
    if not env("MECHANISM"):
        return found
    found["sasl_mechanism"] = env("MECHANISM")
    if env("MECHANISM") == "OAUTHBEARER":
        return found | {"sasl_oauth_token_provider": token_provider}
    if env("MECHANISM") == "GSSAPI":
        return found | {"sasl_kerberos_service_name": "kafka"}
    return found | {"sasl_plain_username": env("USERNAME"), "sasl_plain_password": env("PASSWORD")}


def run(connect: Callable[[], None], **steps: Callable[[], None] | None) -> None:
    """The steps in order, those after it is connected, and the end of the program, whatever threads a client has left. None: the library
    cannot do it.
    """
    if report("connect", connect):
        for step, work in steps.items():
            report(step, work, outcome="ok" if work else "n/a")
    os._exit(0)


def report(step: str, work: Callable[[], None] | None = None, outcome: str = "ok") -> bool:
    """Does a step and prints how it went; True where it went well."""
    if work is not None:
        try:
            work()
        except BaseException as error:  # whatever a library raises is the outcome
            outcome = f"{type(error).__name__}: {error}"
    print(json.dumps({"step": step, "outcome": outcome}), flush=True)
    return outcome == "ok"
