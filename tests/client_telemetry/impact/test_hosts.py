import argparse
import re
from types import SimpleNamespace

import pytest
from client_telemetry.jobs.impact import impact
from client_telemetry.pipeline.stage import BadArguments


def test_a_mistake_in_the_hosts_file_ends_a_question_before_its_work(tmp_path):
    """It is what publish takes; a lake is not there to be read."""
    hosts = tmp_path / "hosts"
    hosts.write_text("10.1.2.3 erp-app-1\n10.1.2 erp-app-2\n")
    arguments = argparse.Namespace(knowledge=None, hosts=str(hosts))
    stage = SimpleNamespace(arguments=arguments, lake=None, cluster="c")
    words = f"{hosts}: line 2: '10.1.2' is neither an address nor a network"
    with pytest.raises(BadArguments, match=re.escape(words)):
        impact(stage)
