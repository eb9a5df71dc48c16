"""How a stage runs: write, audit, publish; the quality gate. What a stage computes is elsewhere."""
