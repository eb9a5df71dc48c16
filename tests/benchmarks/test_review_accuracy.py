"""Reviews of recorded upgrades against what the applications themselves logged."""

from benchmarks import review_accuracy


def test_a_rolling_upgrade_from_logs():
    found, compared = review_accuracy.roll()

    wrong = [each for each in compared if each.verdict == "wrong"]
    # Its last two scrapes of the roll failed, which its own average hides.
    assert [(each.application, each.phase) for each in wrong] == [("lag-monitor-old", "rolling")]
    invisible = {each.application for each in compared if each.verdict == "invisible"}
    assert invisible == {"hr-sync"}, "it never logged in"
    assert found.unexplained_logins[0].first < found.upgrade.began


def test_a_rolling_upgrade_from_a_registry_dump():
    found, compared = review_accuracy.fleet()

    assert [each for each in compared if each.verdict != "right"] == []
    waiting = {client.client_id for client in found.clients if client.comparison == "not_triggered"}
    assert waiting == {"fraud-scorer", "erp-report"}
    comparisons = [client.comparison for client in found.clients]
    # fraud-scorer-v2 and erp-report-v2 came on 4.0.0: what fails is what was predicted of fraud-scorer and erp-report.
    assert (comparisons.count("happened"), comparisons.count("unexpected")) == (15, 0)
