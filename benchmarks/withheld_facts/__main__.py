"""`python -m benchmarks.withheld_facts [--cases N] [--seed N] [--write FILE]`: see measure."""

import sys

from benchmarks.withheld_facts.measure import main

sys.exit(main())
