"""What really happens on a release: client libraries from their registries, run in their roles against a broker of it.

The only room whose code executes packages of others. It is imported by the commands that are asked for exactly that, and by
nothing else.
"""
