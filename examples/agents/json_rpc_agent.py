"""An agent in a process of its own: JSON-RPC on stdin and stdout, one object a line. It needs nothing of kc.

    kc compile model.mlir -o model.kca --agent 'stablehlo=exec:python examples/agents/json_rpc_agent.py'

It takes away negations of negations, one a turn, and says on stderr what became of them.
"""
import json
import re
import sys

NEGATE = re.compile(r"(%\S+) = stablehlo\.negate (%\S+) : .*\n")


def propose(observation):
    """A region without one of its double negations; None when there is none."""
    text = observation["ir"]
    negated = {match[1]: match[2] for match in NEGATE.finditer(text)}
    for match in NEGATE.finditer(text):
        if match[2] in negated:
            original = negated[match[2]]
            rest = text.replace(match[0], "")
            return {"kind": "replace_ir", "ir": re.sub(re.escape(match[1]) + r"\b", original, rest),
                    "rationale": "-(-x) is x, of NaN and zero too"}
    return None


def answer(method, params):
    """The result of one call."""
    if method == "initialize":
        return {"name": "double-negation", "version": "1", "levels": ["stablehlo"]}
    if method == "propose":
        return propose(params["observation"])
    if method == "learn":
        print(params["observation"]["name"], params["verdict"]["reason"], file=sys.stderr)
    return None


for line in sys.stdin:
    request = json.loads(line)
    result = answer(request["method"], request["params"])
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    if request["method"] == "shutdown":
        break
