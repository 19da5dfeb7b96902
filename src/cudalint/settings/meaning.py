"""What each key of the settings means, in a line, for `cudalint config` and the schema."""

from __future__ import annotations

MEANING = {
    "select": "the rules that run: codes, prefixes (CU3), names or ALL",
    "extend-select": "rules that run as well",
    "ignore": "rules that do not run",
    "preview": "run the rules that are in preview too",
    "per-file-ignores": "gitignore pattern to rules that are not reported in the files it matches",
    "exclude": "gitignore patterns of files and folders to leave out; replaces the default",
    "extend-exclude": "adds to exclude",
    "respect-gitignore": "leave out what .gitignore files and .git/info/exclude say",
    "license": "the SPDX expression of the licence line (CU101)",
    "license-match": "exact, or equivalent: operands may stand in another order",
    "targets": "archs to judge and compile for (sm_121); beats the tree's manifests",
    "launcher-globs": "host launchers among the sources, which may include what kernels may not "
    "(CU103)",
    "launch-functions": "more functions whose call is a launch",
    "launches": "pattern of kernel names to how such kernels are launched, where sources do not "
    "say: threads of a block, dynamic-shared bytes. For occupancy (CU504, CU505)",
    "cold-paths": "gitignore patterns of files that are never on a launch path; replaces the "
    "default",
    "cold-functions": "first or last words of functions that are never on a launch path; replaces "
    "the default",
    "compile": "run nvcc for the CU5 rules: auto if it is there, always, never",
    "compile-commands": "the compilation database: auto looks for it, never, or a file or folder "
    "below the root",
    "compiler-launcher": "a program that nvcc is run through: ccache, sccache, distcc",
    "compile-timeout": "the most seconds of one compile",
    "resource-baseline": "the file with the recorded resources of the kernels (CU506)",
    "max-file-size": "the most bytes of a file; a larger one is CU004",
    "plugins": "names of installed entry points of the group cudalint.rules; none is loaded "
    "unless it is named",
    "rules": "by code or name: level (error, warning, note), and the rule's own options beside it",
}
"""By key as it stands in the file, in the order in which they are shown."""
