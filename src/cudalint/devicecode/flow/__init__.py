"""What the variables of one function are made of, read from its text.

`text` gives a file's code without comments and literals; `bindings` the
variables in their scopes with every value they are given; `taint` follows
values from where they come from. Nothing here knows a rule.
"""
