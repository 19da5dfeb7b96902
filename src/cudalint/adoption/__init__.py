"""Taking up cudalint on a tree that has findings already: what is old, and what is new.

Baselines (`baseline`, `standing`), changes since a commit (`gitbase`, `hunks`,
`news`), and comments that silence what there is (`suppressing`).
"""
