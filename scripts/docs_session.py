"""A Python that runs the examples of a page one after another, as a notebook would.

Reads one JSON string of code a line, and answers with one JSON object: what was shown, and whether
it ended well. The value of a last expression is shown.
"""

import ast
import contextlib
import io
import json
import sys
import traceback


def run(code: str, names: dict) -> bool:
    """Run code among names, and print the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    try:
        exec(compile(tree, "<page>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
            if value is not None:
                print(value)
    except Exception:
        traceback.print_exc()
        return False
    return True


def main() -> None:
    names = {"__name__": "__main__"}
    answers = sys.stdout
    for line in sys.stdin:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            well = run(json.loads(line), names)
        print(json.dumps({"output": shown.getvalue(), "well": well}), file=answers, flush=True)


if __name__ == "__main__":
    main()
