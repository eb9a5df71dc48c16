"""Measuring brokers: which requests they answer, what they advertise, and the file that keeps the answers.

Nothing here changes anything at a broker: every request that can be sent is a row of request_bodies.csv whose API
request_permissions.csv permits (docs/decisions/0060-the-probe-sends-rows-of-a-file.md).
"""
