"""Writes the options of the installed vLLM's server, one a line, for launch/vllm.

    VENV/bin/python -P scripts/interop/vllm_options.py > launch/vllm/options_VERSION.txt

Columns, tab-separated: the spellings, how many values the option takes (0: none,
1, ?: none or one, +: one or more), and what values it takes, where it says so.
Order is that of the parser's own help.
"""

import argparse

from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser


def main():
    parser = make_arg_parser(FlexibleArgumentParser())
    lines = []
    for a in parser._actions:
        if not a.option_strings:
            continue
        n = {0: "0", None: "1"}.get(a.nargs, a.nargs)
        if isinstance(a, argparse.BooleanOptionalAction):
            n = "0"
        choices = "" if n == "0" or a.choices is None else ",".join(str(c) for c in a.choices)
        lines.append("\t".join([",".join(a.option_strings), str(n), choices]).rstrip())
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
