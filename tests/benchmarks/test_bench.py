import json
import time

from benchmarks import bench
from benchmarks.bench import Section
from benchmarks.measure import RUN_STAGE, cost_of, machine, take_turns


def test_work_costs_cpu_time_of_this_process_and_waiting_does_not():
    working = cost_of(lambda: sum(range(20_000_000)))
    waiting = cost_of(lambda: time.sleep(working.wall))
    # A Spark that other tests left in this process may work meanwhile.
    assert working.cpu - working.jvm > waiting.cpu - waiting.jvm


def test_cases_take_turns_after_a_warm_up(capsys):
    ran = []
    take_turns({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, rounds=2)
    assert ran == ["a", "b"] * 3
    assert "warm-up: a" in capsys.readouterr().out


def test_the_page_shows_the_latest_result_of_each_benchmark(tmp_path):
    def section(ratio):
        return [Section("Ratios", "Larger is better.", [{"case": "small", "ratio": ratio, "n": 1200}])]

    bench.keep(tmp_path / "2026-01-01.json", "decode", section(2.0))
    bench.keep(tmp_path / "2026-01-02.json", "decode", section(3.0))
    bench.keep(tmp_path / "2026-01-01.json", "sessions", section(None))
    text = bench.page(tmp_path)
    assert "| small | 3.00 | 1,200 |" in text and "2.00" not in text
    assert text.index("## decode") < text.index("## sessions")
    result = json.loads((tmp_path / "2026-01-02.json").read_text())
    assert result["decode"]["machine"] == machine()


def test_an_unknown_benchmark_is_named(capsys):
    assert bench.main(["nonsense"]) == 2
    assert "no benchmark nonsense" in capsys.readouterr().err


def test_the_question_is_asked_by_a_script_that_exists():
    assert RUN_STAGE.is_file()
