"""The models of a run joined: names, includes, macros, constants, calls.

Nothing here judges; the rules do.
"""
