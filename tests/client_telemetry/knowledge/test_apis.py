import pytest
from client_telemetry.knowledge import apis


@pytest.mark.parametrize("text", ["JoinGroup", "JOIN_GROUP", "joingroup", " join_group ", "11"])
def test_find(text):
    assert apis.find(text).name == "JoinGroup"


def test_former_names():
    assert apis.find("GroupCoordinator").name == "FindCoordinator"
    assert apis.find("ListClientMetricsResources").key == 74


@pytest.mark.parametrize("text", ["Fech", "", "999", "-1", "²"])
def test_unknown(text):
    with pytest.raises(apis.UnknownApi):
        apis.find(text)


def test_the_nearest_name_is_reported():
    with pytest.raises(apis.UnknownApi, match="did you mean Fetch"):
        apis.find("Fech")


def test_names_of_keys():
    assert apis.name(0) == "Produce"
    assert apis.name(999) == "api key 999"
    assert apis.purpose(8) == "commits offsets"
    assert apis.purpose(999) == "uses api key 999"
