#!/bin/sh
# An agent that is a shell script. It gets the prompt on its standard input; what it prints becomes the result; its exit
# code settles the work: 0 completes it, 65 rejects it for good, anything else gives it back for another attempt, with the
# last line of standard error as the reason.
#
#     spine receive summariser --loop -- examples/shell-agent/summarise.sh
#
# Replace the line with `sed` by your model's command, such as: claude -p, llm, ollama run qwen3
set -eu

prompt=$(cat)
[ -n "$prompt" ] || { echo 'the prompt is empty' >&2; exit 65; }
summary=$(printf '%s\n' "$prompt" | sed -n 's/^## Task.*/It has a task./p' | head -n 1)
[ -n "$summary" ] || { echo 'the prompt has no task' >&2; exit 1; }

# What it stores belongs to the task of the handoff: SPINE_URL, SPINE_AGENT and SPINE_TASK are set.
spine store "$summary" --kind note >/dev/null
printf '%s\n' "$summary"
