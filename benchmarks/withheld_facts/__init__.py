"""Clients made from protocol facts, judged with some of the facts withheld: is any that breaks called safe?

`protocol` says what a client and a broker do, from public facts and from runs with real brokers, without any code of
client_telemetry; `clients` draws clients and what a log or a person would say of them; `measure` compares the verdicts.
"""
