import re
import shutil
from pathlib import Path

import pytest
from client_telemetry.campaign.plan import BadCampaign
from client_telemetry.campaign.plan_file import beside, named, read_campaigns
from client_telemetry.knowledge import target_profiles

GOOD = """
campaigns:
  - name: orders-4.0
    clusters: [orders-eu, orders-us]
    to: 4.0.1
    date: 2027-02-01
    contact: kafka@example.com
    deadlines:
      billing: 2027-01-15
    gate:
      fail_on: [breaks, degrades]
      least_coverage: 0.8
    statements:
      - kind: waive
        application: no
        by: ann@example.com
        on: 2026-12-01
        until: 2026-12-31
        text: is retired in January
      - {kind: acknowledge, owner: billing, by: bob, on: 2026-12-02}
"""


def test_a_campaign_is_read():
    [campaign] = read_campaigns(GOOD)
    assert campaign.clusters == ("orders-eu", "orders-us")
    assert campaign.gate.fail_on == ("breaks", "degrades")
    assert campaign.deadline("billing").isoformat() == "2027-01-15"
    assert campaign.deadline(None) == campaign.date
    assert campaign.statements[0].target.application == "no", "YAML would make it false"


MISTAKES = [
    ("empty", "", "line 1: the file is empty"),
    ("not YAML", "campaigns: [", "line 1: not valid YAML"),
    ("a tab", "campaigns:\n\t- name: a", "line 2: not valid YAML"),
    ("a list", "- name: a", "line 1: the file is not a mapping"),
    ("an unknown key", GOOD.replace("contact:", "contct:"), "line 7: campaign 1 has the unknown key 'contct'"),
    ("a key twice", GOOD.replace("    to:", "    date: 2027-01-01\n    to:"), "line 7: campaign 1 has 'date' twice"),
    ("no contact", GOOD.replace("    contact: kafka@example.com\n", ""), "campaign 'orders-4.0' has no 'contact'"),
    ("a line of releases", GOOD.replace("4.0.1", "4.0"), "line 5: campaign 'orders-4.0': to: 4.0 is not an exact release"),
    ("no date", GOOD.replace("2027-02-01", "1.2.2027"), "line 6: campaign 'orders-4.0': 'date' is not a date: '1.2.2027'"),
    ("no such date", GOOD.replace("2027-02-01", "2027-02-30"), "line 6: campaign 'orders-4.0': 'date' is not a date"),
    ("a late deadline", GOOD.replace("2027-01-15", "2027-03-15"), "line 9: deadlines of campaign 'orders-4.0': billing: 2027-03-15 is after the upgrade"),
    ("a share of percent", GOOD.replace("0.8", "80"), "line 12: gate of campaign 'orders-4.0': 'least_coverage' is '80'; write a number from 0 to 1"),
    ("a verdict that is none", GOOD.replace("degrades", "broken"), "line 11: gate of campaign 'orders-4.0': fail_on: 'broken' is not a verdict"),
    ("a gate that safe fails", GOOD.replace("degrades", "safe"), "line 11: gate of campaign 'orders-4.0': fail_on: 'safe' is not a verdict"),
    ("an unknown kind", GOOD.replace("kind: waive", "kind: ignore"), "line 14: statement of campaign 'orders-4.0': kind 'ignore' is not one of"),
    ("a waiver without end", GOOD.replace("        until: 2026-12-31\n", ""), "line 14: statement of campaign 'orders-4.0': no `until`"),
    ("a waiver without reason", GOOD.replace("        text: is retired in January\n", ""), "a waiver needs a reason"),
    ("a waiver that ends before it begins", GOOD.replace("2026-12-31", "2026-11-30"), "until 2026-11-30 is before it was made"),
    ("no target", GOOD.replace("        application: no\n", ""), "it has no target"),
    ("a rule acknowledged", GOOD.replace("owner: billing, by", "rule: x, by"), "a rule can be waived only"),
    ("names twice", GOOD + GOOD.partition("campaigns:\n")[2], "campaign 'orders-4.0' is in the file twice"),
    ("a list for a text", GOOD.replace("name: orders-4.0", "name: [a]"), "line 3: a text is expected here"),
    ("nested too deeply", "[" * 3000, "not valid YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_one_line_with_its_place(text, message):
    with pytest.raises(BadCampaign) as refused:
        read_campaigns(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_campaign_names_those_that_there_are():
    with pytest.raises(BadCampaign, match=r"there is no campaign 'x': the file has orders-4\.0"):
        named(read_campaigns(GOOD), "x")


PROBED = Path(__file__).parents[2] / "data/probe"


def test_a_target_is_a_file_of_the_probe_beside_the_campaigns_file_or_a_profile(tmp_path):
    (tmp_path / "targets").mkdir()
    shutil.copy(PROBED / "apache-4.0.1.json", tmp_path / "targets/next.json")
    text = GOOD.replace("to: 4.0.1", "to: targets/next.json")
    [campaign] = read_campaigns(text, beside(str(tmp_path / "campaigns.yaml")))
    assert re.fullmatch(r"measured-[0-9a-f]{8}", campaign.to_release)
    assert campaign.target == f"{campaign.to_release} (targets/next.json)"
    profile = target_profiles.known()[0].name
    [campaign] = read_campaigns(GOOD.replace("to: 4.0.1", f"to: {profile}"))
    assert (campaign.to, campaign.to_release.startswith("measured-")) == (profile, True)


@pytest.mark.parametrize("content", [None, "{}", "no JSON", "[]"])
def test_a_target_that_cannot_be_used_names_its_line(tmp_path, content):
    if content is not None:
        (tmp_path / "next.json").write_text(content)
    with pytest.raises(BadCampaign, match=r"^line 5: campaign 'orders-4\.0': to: .*next\.json.*") as raised:
        read_campaigns(GOOD.replace("to: 4.0.1", "to: next.json"), beside(str(tmp_path / "campaigns.yaml")))
    assert "\n" not in str(raised.value)
