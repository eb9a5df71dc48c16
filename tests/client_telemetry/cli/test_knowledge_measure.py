"""Measuring versions of libraries; what runs them is in tests/end_to_end."""

from client_telemetry.cli import knowledge_measure


def test_a_binding_of_which_no_librdkafka_is_known_is_not_compared_as_if_its_version_were_that(
    tmp_path, capsys
):
    """node-rdkafka 3.6.1 has librdkafka 2.12.0: the numbers of a binding are its own."""
    written = tmp_path / "client_messages.csv"
    arguments = ["node-rdkafka==3.999.0", "--cache", str(tmp_path), "--messages", str(written)]
    assert knowledge_measure.measure(arguments) == 1
    expected = "node-rdkafka 3.999.0: not measured: which librdkafka it has is not known (knowledge build --library asks it)"
    assert capsys.readouterr().out.splitlines() == [expected]
    assert "3.999.0" not in written.read_text(encoding="utf-8")
