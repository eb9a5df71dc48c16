"""The stage that answers what a change of subscriptions would do, with evidence from the lake. subscriptions/ computes
the answer, reports/subscription/ presents it.
"""
