import json
import subprocess
import sys
import time

import pytest
from client_telemetry.jobs import main_of

from benchmarks import bench
from benchmarks.bench import Section
from benchmarks.command_cost import cost_of_command
from benchmarks.measure import RUN_STAGE, cost_of, machine, take_turns
from benchmarks.submitted_day import commands_of_starts


def test_work_costs_cpu_time_of_this_process_and_waiting_does_not():
    working = cost_of(lambda: sum(range(20_000_000)))
    waiting = cost_of(lambda: time.sleep(working.wall))
    # A Spark that other tests left in this process may work meanwhile.
    assert working.cpu - working.jvm > waiting.cpu - waiting.jvm


def test_a_worker_that_ends_while_it_has_nothing_to_do_takes_no_cpu_time_away():
    """As Spark's Python workers, which end after an idle minute, and whose time their parent does not get."""
    program = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "worker = os.fork()\n"
        "if not worker:\n"
        "    sum(range(30_000_000)); print(flush=True); time.sleep(60)\n"
        "sys.stdin.readline(); os.kill(worker, signal.SIGKILL); print(flush=True); sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        parent.stdout.readline()

        def end_worker() -> None:
            parent.stdin.write("\n")
            parent.stdin.flush()
            parent.stdout.readline()
            time.sleep(0.2)

        cost = cost_of(end_worker)
        parent.stdin.close()
    assert cost.cpu >= 0


def test_a_command_costs_what_all_its_processes_cost_also_those_that_it_leaves_behind():
    orphan = "import os, time\nif not os.fork():\n    os.setsid(); sum(range(30_000_000))\n"
    parent = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'sum(range(30_000_000))'])\n"
    alone = cost_of_command([sys.executable, "-c", "sum(range(30_000_000))"])
    for program in (orphan, parent):
        cost = cost_of_command([sys.executable, "-c", program])
        assert cost.cpu > 0.5 * alone.cpu
        assert cost.jvm == 0


def test_a_command_that_fails_is_an_error_with_what_it_printed():
    with pytest.raises(subprocess.CalledProcessError) as failed:
        cost_of_command([sys.executable, "-c", "import sys; sys.exit('no such cluster')"])
    assert "no such cluster" in failed.value.output


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


def test_a_run_that_was_interrupted_replaces_the_sections_that_it_finished(tmp_path):
    def sections(**ratios):
        return [Section(title, "", [{"ratio": ratio}]) for title, ratio in ratios.items()]

    bench.keep(tmp_path / "2026-01-01.json", "decode", sections(small=2.0, big=4.0, gone=6.0))
    bench.keep(tmp_path / "2026-01-02.json", "decode", sections(small=3.0, big=5.0))
    bench.keep(tmp_path / "2026-01-03.json", "decode", sections(small=7.0), is_complete=False)
    text = bench.page(tmp_path)
    assert (
        text.index("Measured 2026-01-03")
        < text.index("7.00")
        < text.index("Measured 2026-01-02")
        < text.index("5.00")
    )
    assert not any(old in text for old in ("2.00", "3.00", "4.00", "6.00", "2026-01-01"))


def test_a_stage_that_has_nothing_to_do_is_told_so(tmp_path):
    for name, command in commands_of_starts(tmp_path).items():
        if name.endswith("nothing to do"):
            stage, *arguments = command[command.index(str(RUN_STAGE)) + 1 :]
            assert main_of(stage)(arguments) == 0, name


def test_an_unknown_benchmark_is_named(capsys):
    assert bench.main(["nonsense"]) == 2
    assert "no benchmark nonsense" in capsys.readouterr().err


def test_the_question_is_asked_by_a_script_that_exists():
    assert RUN_STAGE.is_file()
