"""KIP-714 subscriptions as a broker sees them: what is accepted, whom it matches, what each client instance is asked
for, and what a change costs. Pure: neither Spark nor Airflow. docs/subscriptions.md describes it.
"""
