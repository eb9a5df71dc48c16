"""Planned upgrades: plan, states of applications until the day, pace and gate. Pure; docs/campaigns.md."""
