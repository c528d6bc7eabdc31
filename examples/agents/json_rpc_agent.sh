#!/bin/sh
# An agent in POSIX shell: it leaves every region as it is. One JSON object a line comes in, one goes out.
#     kc compile model.mlir -o model.kca --agent 'stablehlo=exec:sh examples/agents/json_rpc_agent.sh'
while IFS= read -r line; do
    head=$(printf '%.60s' "$line")
    id=$(expr "$head" : '.*"id": \([0-9]*\)')
    case $head in
        *'"initialize"'*) result='{"name": "keeper", "version": "1", "levels": ["stablehlo"]}' ;;
        *'"propose"'*) result='{"kind": "keep", "rationale": "all is well"}' ;;
        *) result=null ;;
    esac
    printf '{"jsonrpc": "2.0", "id": %s, "result": %s}\n' "$id" "$result"
    case $head in *'"shutdown"'*) exit 0 ;; esac
done
