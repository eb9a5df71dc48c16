"""Who a client is taken for that sends what a version of a library would send, to brokers that keep names and to older ones, as
tests/data/compatibility/identification.txt keeps it."""

from client_telemetry.compatibility import ApiUse, fingerprints, identification
from client_telemetry.compatibility.fingerprints import Profile
from client_telemetry.knowledge import apis, client_versions, served

PRODUCING, CONSUMING = (0, 3, 10, 18, 22), (1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18)
FEW = (3, 18)
CLIENT_IDS = (
    None, "", "sarama", "rdkafka", "kafka-python-1.4.7", "kafka-python", "aiokafka-0.8.1", "kgo", "consumer-1", "producer-7",
    "consumer-group-1", "connect-1", "x" * 257, "telegraf", "orders",
)  # fmt: skip


def sent(profile: Profile, release: str, keys: tuple[int, ...], lower: int = 0) -> dict[int, list[ApiUse]]:
    """The highest version that both have; `lower` by so many where it is not the lowest one."""
    found = {}
    for key in keys:
        if (own := profile.ranges.get(key)) and key in served.by(release):
            version = min(own.max, served.by(release)[key].advertised.max)
            found[key] = [ApiUse(key, max(own.min, version - lower))]
    return found


def words(
    client_id: str | None, uses: dict[int, list[ApiUse]], release: str, product: str | None = None
) -> str:
    found, print_ = (
        identification.of(client_id, uses, release, product),
        fingerprints.of(client_id, uses, release),
    )
    libraries = ", ".join(sorted(fingerprints.libraries_that_explain(uses, release)))
    return (
        f"{found and found.text}; {found and found.looks_like}; "
        f"{'; '.join(f'{each.text} {each.exact}' for each in found.candidates[:3]) if found else ''} | "
        f"{print_ and print_.text}; {print_ and '; '.join(print_.reasons)}; {print_ and print_.is_one_exact_guess} | {libraries}"
    )


def test_who_sends_what(same_as_kept):
    lines = []
    for number, profile in enumerate(fingerprints.every_profile()):
        lines.append(
            f"# {profile.library} {client_versions.text(profile.since)} {profile.configuration}".rstrip()
        )
        release = ("3.9.1", "3.9.1", "4.0.0", "2.4.1")[number % 4]
        for what, keys, lower in (
            ("producing", PRODUCING, 0),
            ("consuming", CONSUMING, 0),
            ("less", CONSUMING, number % 3),
        ):
            if number % 3 == 0 or what == "consuming":
                lines.append(
                    f"{what} on {release}: {words(None, sent(profile, release, keys, lower), release)}"
                )
    same_as_kept("compatibility", {"identification.txt": "\n".join(lines) + "\n"})


def test_who_is_behind_a_client_id(same_as_kept):
    lines = []
    profiles = [
        each
        for each in fingerprints.every_profile()
        if each.library in ("sarama", "kafka-python", "librdkafka")
    ]
    for client_id in CLIENT_IDS:
        lines.append(f"# {client_id and client_id[:20]}: {fingerprints.by_client_id(client_id)}")
        lines.append(f"nothing: {words(client_id, {}, '3.9.1')}")
        for profile in profiles[:: len(profiles) // 3]:
            for keys in (CONSUMING, FEW):
                name = f"{profile.library} {client_versions.text(profile.since)}, {len(keys)} APIs"
                lines.append(f"{name}: {words(client_id, sent(profile, '3.9.1', keys), '3.9.1')}")
    for product in ("Dapr", "Telegraf", "nobody"):
        lines.append(f"{product}: {words(None, sent(profiles[0], '3.9.1', CONSUMING), '3.9.1', product)}")
    of_brokers = {key: [ApiUse(key, 0)] for key, api in apis.by_key().items() if api.used_by != "data"}
    lines.append(f"no data: {words(None, of_brokers, '3.9.1')}")
    same_as_kept("compatibility", {"client_ids.txt": "\n".join(lines) + "\n"})
