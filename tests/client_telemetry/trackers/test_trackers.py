"""Every tracker by HTTP: created once, updated where the work changed, closed by evidence, and clear words for every refusal."""

from dataclasses import replace

import pytest
from client_telemetry.cli.tickets import KINDS
from client_telemetry.trackers.http import LONGEST_WAIT_S, Api, TrackerError
from client_telemetry.trackers.jira import Jira, authorization
from client_telemetry.trackers.sync import carry_out, plan
from client_telemetry.trackers.ticket import Ticket, key_line

from tests.client_telemetry.trackers.tracker_server import TOKEN, running

TRACKERS = ["github", "gitea", "gitlab", "jira", "jira_data_center"]
PLACES = {"github": "team/upgrades", "gitea": "team/upgrades", "gitlab": "team/sub/upgrades"}


def ticket(
    number: int, text: str = "upgrade brod", *, is_fixed: bool = False, has_work: bool = True
) -> Ticket:
    key = f"ct-{number:016x}"
    body = f"{text}\n\n{key_line(key, is_fixed=is_fixed)}\n"
    return Ticket(key, f"ticket {number}", body, body, "2026-12-05", is_fixed, has_work and not is_fixed)


def tracker_of(server, token: str = TOKEN, waits: list | None = None):
    name = server.kind.partition("_")[0]
    kind = KINDS[name]
    base = f"{server.base}/api/v1" if name == "gitea" else server.base
    api = Api(
        name, base, kind.headers(token), kind.variable, wait=(waits if waits is not None else []).append
    )
    return Jira(api, "UP") if name == "jira" else kind.tracker(api, PLACES[name])


def synchronize(server, *tickets: Ticket, **options) -> list[str]:
    tracker = tracker_of(server, **options)
    return [step.action for step, _ in carry_out(plan(tickets, tracker.issues(), tracker), tracker)]


@pytest.fixture(params=TRACKERS)
def server(request):
    with running(request.param) as started:
        yield started


@pytest.fixture
def github():
    with running("github") as started:
        yield started


def test_the_life_of_tickets(server):
    for number in range(3):
        server.add(f"of others {number}", "no key")
    first = [ticket(n) for n in range(5)]
    assert synchronize(server, *first) == ["create"] * 5
    made = list(server.issues.values())[3:]
    assert [each["title"] for each in made] == [f"ticket {n}" for n in range(5)]
    before = len(server.written())
    assert synchronize(server, *first) == ["as it should be"] * 5 and len(server.written()) == before
    changed = replace(first[0], title="another title")
    fixed = ticket(1, "all done", is_fixed=True)
    assert synchronize(server, changed, fixed, *first[2:]) == [
        "update",
        "update",
        "close",
        *["as it should be"] * 3,
    ]
    assert made[0]["title"] == "another title"
    assert "all done" in made[1]["body"] and not made[1]["is_open"] and made[2]["is_open"]
    assert synchronize(server, changed, fixed, *first[2:]) == ["as it should be"] * 5
    assert synchronize(server, changed, ticket(1), *first[2:]) == [
        "as it should be",
        "update",
        "reopen",
        *["as it should be"] * 3,
    ]
    assert made[1]["is_open"], "it has regressed"


def test_notes_below_the_key_stay_and_a_hand_that_closed_it_is_respected(server):
    synchronize(server, ticket(1), ticket(2))
    first, second = server.issues.values()
    first["body"] += "\r\n\r\nOur note: done in sprint 7\r\n"
    second["is_open"] = False
    assert synchronize(server, ticket(1), ticket(2)) == ["as it should be", "closed by hand"]
    assert synchronize(server, ticket(1, "upgrade it more"), ticket(2)) == ["update", "closed by hand"]
    assert "upgrade it more" in first["body"] and first["body"].count("Our note: done in sprint 7") == 1
    assert synchronize(server, ticket(1, "upgrade it more"), ticket(2, is_fixed=True))[0] == "as it should be"


def test_what_the_evidence_does_not_name_any_more_is_left_alone(server):
    synchronize(server, ticket(1), ticket(2))
    written = len(server.written())
    assert synchronize(server, ticket(1)) == ["as it should be", "not in the evidence"]
    assert len(server.written()) == written and all(each["is_open"] for each in server.issues.values())


def test_nothing_is_made_for_what_was_fixed_before_it_had_a_ticket(server):
    assert synchronize(server, ticket(1, is_fixed=True), ticket(2, has_work=False)) == []
    assert not server.issues


def test_a_pull_request_with_the_key_is_none(github):
    github.add("a pull request", ticket(1).markdown, is_pull=True)
    assert synchronize(github, ticket(1)) == ["create"]


def test_a_token_that_is_not_accepted(server):
    with pytest.raises(TrackerError, match=r"^\w+: the token in \w+_TOKEN is not accepted: ") as raised:
        synchronize(server, ticket(1), token="wrong")
    assert "wrong" not in str(raised.value)


def test_a_project_that_is_not_there(github):
    tracker = tracker_of(github)
    with pytest.raises(
        TrackerError, match="not found, or hidden from the token in GITHUB_TOKEN: /repos/team/none/issues"
    ):
        list(replace(tracker, repository="team/none").issues())


@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_waited_for(github, status):
    waits = []
    github.failures = [
        (status, {"Retry-After": "7"}, {"message": "You have exceeded a secondary rate limit"})
    ]
    assert synchronize(github, ticket(1), waits=waits) == ["create"]
    assert waits[0] == 7


def test_a_rate_limit_without_a_time_is_waited_for_a_minute(github):
    waits = []
    github.failures = [(403, {}, {"message": "You have exceeded a secondary rate limit."})]
    synchronize(github, ticket(1), waits=waits)
    assert waits[0] == 60


def test_a_long_rate_limit_ends_the_command_and_the_next_run_goes_on(github):
    tracker = tracker_of(github)
    steps = carry_out(plan([ticket(1), ticket(2)], tracker.issues(), tracker), tracker)
    next(steps)
    github.failures = [(429, {"Retry-After": str(LONGEST_WAIT_S + 1)}, {"message": "slow down"})]
    with pytest.raises(
        TrackerError, match="run the command again then; what has been written is not written twice"
    ):
        next(steps)
    assert synchronize(github, ticket(1), ticket(2)) == ["as it should be", "create"]
    assert len(github.issues) == 2


def test_a_permission_that_lacks_is_no_rate_limit(github):
    github.failures = [(403, {}, {"message": "Resource not accessible by personal access token"})]
    with pytest.raises(TrackerError, match=r"may not do this .* Resource not accessible"):
        synchronize(github, ticket(1))


def test_what_is_refused_as_invalid_says_why(server):
    tracker = tracker_of(server)
    tracker = replace(tracker, issue_type="Bug") if server.kind.startswith("jira") else tracker
    bad = replace(ticket(1), title="" if not server.kind.startswith("jira") else "x")
    if server.kind == "gitlab":
        server.failures = [(200, {}, []), (400, {}, {"message": {"title": ["can't be blank"]}})]
    with pytest.raises(TrackerError, match=r"refused as invalid: .*(missing_field|blank|issuetype)"):
        list(carry_out(plan([bad], tracker.issues(), tracker), tracker))


def test_a_failing_server_is_read_again_but_not_written_to_again(github):
    waits = []
    github.failures = [(502, {}, "<html>")]
    assert synchronize(github, ticket(1), waits=waits) == ["create"] and waits[0] == 1
    tracker = tracker_of(github)
    steps = carry_out(plan([ticket(1), ticket(2)], tracker.issues(), tracker), tracker)
    next(steps)
    github.failures = [(502, {}, "<html>")]
    with pytest.raises(TrackerError, match="answered 502"):
        next(steps)
    assert len(github.issues) == 1


def test_the_token_goes_to_no_other_server(github):
    with running("github") as other:
        github.failures = [(302, {"Location": f"{other.base}/repos/team/upgrades/issues"}, None)]
        with pytest.raises(TrackerError, match="which is not followed"):
            synchronize(github, ticket(1))
        assert not other.requests


def test_a_page_that_is_named_by_another_address_of_the_server_is_read_where_it_was_asked(github):
    """Behind a proxy, or within a cluster, --url is not the address that the server was configured with."""
    synchronize(github, ticket(1), ticket(2), ticket(3))
    with running("github") as other:
        other_link = f'<{other.base}/repos/team/upgrades/issues?state=all&page=2>; rel="next"'
        github.failures = [(200, {"Link": other_link}, [])]
        found = [issue.title for issue in tracker_of(github).issues()]
        assert found == [ticket(3).title] and not other.requests


def test_a_title_that_the_tracker_shortened_is_not_written_again(github):
    long = replace(ticket(1), title="Kafka 4.0.0 (orders): Upgrade brod (" + "注文" * 60 + ")")
    assert synchronize(github, long) == ["create"]
    github.issues[1]["title"] = github.issues[1]["title"][:126] + "…"
    assert synchronize(github, long) == ["as it should be"]


def test_a_day_that_changed_is_changed_in_gitlab():
    with running("gitlab") as gitlab:
        synchronize(gitlab, replace(ticket(1), due="2027-02-01"))
        later = replace(ticket(1), title="another day", due="2027-03-01")
        assert synchronize(gitlab, later) == ["update"]
        assert gitlab.issues[1]["due"] == "2027-03-01"


def test_a_repository_that_was_renamed_is_followed_on_its_server(github):
    github.failures = [(301, {"Location": f"{github.base}/repos/team/upgrades/issues?state=all"}, None)]
    assert synchronize(github, ticket(1)) == ["create"]


@pytest.mark.parametrize("answer", ["<html>login</html>", {"message": "hello"}, [{"number": "x"}], [7], None])
def test_an_address_that_is_no_tracker(github, answer):
    github.failures = [(200, {}, answer)]
    with pytest.raises(TrackerError, match="--url"):
        synchronize(github, ticket(1))


def test_a_path_that_no_tracker_has(github):
    """As a web server answers that is no tracker, or a tracker where its API is not."""
    github.failures = [(404, {}, "<html>404</html>")]
    with pytest.raises(TrackerError, match=r"has no /repos/.*: is it the address of the API\? \(--url\)"):
        synchronize(github, ticket(1))


def test_what_gitlab_calls_an_error_is_told():
    with running("gitlab") as gitlab:
        gitlab.failures = [(403, {}, {"error": "insufficient_scope", "error_description": "needs: api"})]
        with pytest.raises(TrackerError, match=r"may not do this .*: needs: api$"):
            synchronize(gitlab, ticket(1))


def test_a_server_that_is_not_there():
    api = Api("gitea", "http://127.0.0.1:9", {}, "GITEA_TOKEN")
    with pytest.raises(TrackerError, match=r"gitea: no answer from 127\.0\.0\.1:9: "):
        api.get("/repos")


def test_a_workflow_without_a_way_to_done():
    with running("jira") as server:
        synchronize(server, ticket(1))
        server.failures = []
        tracker = tracker_of(server)
        steps = carry_out(plan([ticket(1, "x", is_fixed=True)], tracker.issues(), tracker), tracker)
        next(steps)
        server.failures = [
            (200, {}, {"transitions": [{"id": "1", "to": {"statusCategory": {"key": "new"}}}]})
        ]
        with pytest.raises(TrackerError, match="UP-1 has no transition to Done"):
            next(steps)


def test_authorization_of_jira():
    assert authorization("ann:s3cret") == "Basic YW5uOnMzY3JldA=="
    assert authorization("pat") == "Bearer pat"
