"""The stage that answers what a change of subscriptions would do: evidence from the lake. The answer itself is in
subscriptions/, how it looks in reports/subscription/."""
