"""Parts of a SARIF log: places, fingerprints, rules, results, and writing it down.

`cudalint.reporters.sarif` puts them together. The object model is sarif-om's.
"""
