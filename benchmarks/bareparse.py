"""The bare tree-sitter parse of every CUDA and C++ file below a folder, and nothing else.

python benchmarks/bareparse.py FOLDER
"""

import sys
from pathlib import Path

import tree_sitter_cuda
from tree_sitter import Language, Parser

from generator import sources

if __name__ == "__main__":
    parser = Parser(Language(tree_sitter_cuda.language()))
    for file in sources(Path(sys.argv[1])):
        parser.parse(file.read_bytes())
