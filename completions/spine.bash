# bash completion for spine. Made by: spine completion bash
_spine()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands='serve demo status top alerts tail audit spaces space store search list get update versions revert pin unpin forget handoff recall envelope resolve receipts verify tasks task fidelity diff blame agents agent send receive ack progress need complete nack reject handoffs trace parked park channels routes export import backup restore check tokens completion help version '
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
		return
	fi
	case ${COMP_WORDS[1]} in
	serve)
		case "$prev" in
		--listen|-l) return ;;
		--threads) return ;;
		--log-level) COMPREPLY=($(compgen -W 'debug info warn error' -- "$cur")); return ;;
		--log-format) COMPREPLY=($(compgen -W 'auto text json' -- "$cur")); return ;;
		--webhook-hosts) return ;;
		--ca-file) return ;;
		--otlp-endpoint) return ;;
		--otlp-interval) return ;;
		--otlp-behind) return ;;
		--data) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--max-connections) return ;;
		--max-header) return ;;
		--max-uri) return ;;
		--max-body) return ;;
		--max-body-total) return ;;
		--cache) return ;;
		--max-json-depth) return ;;
		--max-batch) return ;;
		--max-queue) return ;;
		--header-timeout) return ;;
		--body-timeout) return ;;
		--idle-timeout) return ;;
		--write-timeout) return ;;
		--heartbeat) return ;;
		--drain-timeout) return ;;
		--webhook-timeout) return ;;
		--idempotency-ttl) return ;;
		--alert-webhook) return ;;
		--alert-window) COMPREPLY=($(compgen -W '1m 5m 1h' -- "$cur")); return ;;
		--alert-min-samples) return ;;
		--alert-completeness) return ;;
		--alert-completeness-critical) return ;;
		--alert-failure-rate) return ;;
		--alert-failure-rate-critical) return ;;
		--alert-latency) return ;;
		--alert-pinned) return ;;
		--alert-low) return ;;
		--alert-hops) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--listen --threads --log-level --log-format --webhook-hosts --ca-file --otlp-endpoint --otlp-interval --otlp-behind --quiet --data --max-connections --max-header --max-uri --max-body --max-body-total --cache --max-json-depth --max-batch --max-queue --header-timeout --body-timeout --idle-timeout --write-timeout --heartbeat --drain-timeout --webhook-timeout --idempotency-ttl --alert-webhook --alert-window --alert-min-samples --alert-completeness --alert-completeness-critical --alert-failure-rate --alert-failure-rate-critical --alert-latency --alert-pinned --alert-low --alert-hops --help --config ' -- "$cur"))
			return
		fi
		;;
	demo)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--fast --private --keep --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	status)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	top)
		case "$prev" in
		--window|-w) COMPREPLY=($(compgen -W '1m 5m 1h 24h' -- "$cur")); return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--window --all --once --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	alerts)
		case "$prev" in
		--state) COMPREPLY=($(compgen -W 'firing resolved all' -- "$cur")); return ;;
		--for) return ;;
		--reason) return ;;
		--why) return ;;
		--by) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--state --for --reason --why --by --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W 'list ack silence' -- "$cur"))
		;;
	tail)
		case "$prev" in
		--type) return ;;
		--after) return ;;
		--count|-n) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--type --after --count --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	audit)
		case "$prev" in
		--actor|-a) return ;;
		--object|-o) return ;;
		--action) return ;;
		--since) return ;;
		--until) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--actor --object --action --since --until --oldest --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	spaces)
		case "$prev" in
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	space)
		case "$prev" in
		--guard|-g) COMPREPLY=($(compgen -W 'off redact refuse' -- "$cur")); return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--guard --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	store)
		case "$prev" in
		--kind|-k) COMPREPLY=($(compgen -W 'note fact decision observation output' -- "$cur")); return ;;
		--tag|-t) return ;;
		--importance|-i) COMPREPLY=($(compgen -W 'low medium high critical' -- "$cur")); return ;;
		--task) return ;;
		--summary) return ;;
		--trust) COMPREPLY=($(compgen -W 'system user agent external' -- "$cur")); return ;;
		--ttl) return ;;
		--metadata) return ;;
		--supersedes) return ;;
		--id) return ;;
		--idempotency-key) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--kind --tag --importance --task --summary --trust --ttl --metadata --pin --shared --supersedes --id --idempotency-key --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	search)
		case "$prev" in
		--tag|-t) return ;;
		--kind|-k) COMPREPLY=($(compgen -W 'note fact decision observation output' -- "$cur")); return ;;
		--author) return ;;
		--task) return ;;
		--importance|-i) COMPREPLY=($(compgen -W 'low medium high critical' -- "$cur")); return ;;
		--trust) COMPREPLY=($(compgen -W 'system user agent external' -- "$cur")); return ;;
		--state) COMPREPLY=($(compgen -W 'active superseded expired any' -- "$cur")); return ;;
		--after) return ;;
		--before) return ;;
		--metadata) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--explain --tag --kind --author --task --importance --trust --pinned --state --after --before --metadata --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	list)
		case "$prev" in
		--order) COMPREPLY=($(compgen -W 'newest oldest' -- "$cur")); return ;;
		--tag|-t) return ;;
		--kind|-k) COMPREPLY=($(compgen -W 'note fact decision observation output' -- "$cur")); return ;;
		--author) return ;;
		--task) return ;;
		--importance|-i) COMPREPLY=($(compgen -W 'low medium high critical' -- "$cur")); return ;;
		--trust) COMPREPLY=($(compgen -W 'system user agent external' -- "$cur")); return ;;
		--state) COMPREPLY=($(compgen -W 'active superseded expired any' -- "$cur")); return ;;
		--after) return ;;
		--before) return ;;
		--metadata) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--order --tag --kind --author --task --importance --trust --pinned --state --after --before --metadata --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	get)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--raw --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	update)
		case "$prev" in
		--kind|-k) COMPREPLY=($(compgen -W 'note fact decision observation output' -- "$cur")); return ;;
		--tag|-t) return ;;
		--importance|-i) COMPREPLY=($(compgen -W 'low medium high critical' -- "$cur")); return ;;
		--task) return ;;
		--summary) return ;;
		--trust) COMPREPLY=($(compgen -W 'system user agent external' -- "$cur")); return ;;
		--ttl) return ;;
		--metadata) return ;;
		--clear) COMPREPLY=($(compgen -W 'summary task tags metadata expires_at agent' -- "$cur")); return ;;
		--if-version) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--kind --tag --importance --task --summary --trust --ttl --metadata --clear --if-version --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	versions)
		case "$prev" in
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	revert)
		case "$prev" in
		--if-version) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--if-version --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	pin)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	unpin)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	forget)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--yes --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	handoff)
		case "$prev" in
		--from) return ;;
		--parent|-p) return ;;
		--task) return ;;
		--intent) return ;;
		--state) return ;;
		--constraint|-c) return ;;
		--waive) return ;;
		--decision) return ;;
		--resolve-decision) return ;;
		--history) return ;;
		--expect|-e) return ;;
		--max-hops) return ;;
		--ref|-r) return ;;
		--recent) return ;;
		--scope) COMPREPLY=($(compgen -W 'task space' -- "$cur")); return ;;
		--max-tokens|-m) return ;;
		--strategy) COMPREPLY=($(compgen -W 'priority full summary lazy' -- "$cur")); return ;;
		--tokenizer) COMPREPLY=($(compgen -W 'o200k_base cl100k_base estimate' -- "$cur")); return ;;
		--idempotency-key) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--from --parent --task --intent --state --constraint --waive --decision --resolve-decision --history --expect --max-hops --ref --recent --scope --no-pins --max-tokens --strategy --tokenizer --prompt --dry-run --idempotency-key --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	recall)
		case "$prev" in
		--to) return ;;
		--parent|-p) return ;;
		--task) return ;;
		--intent) return ;;
		--ref|-r) return ;;
		--recent) return ;;
		--scope) COMPREPLY=($(compgen -W 'task space' -- "$cur")); return ;;
		--max-tokens|-m) return ;;
		--strategy) COMPREPLY=($(compgen -W 'priority full summary lazy' -- "$cur")); return ;;
		--tokenizer) COMPREPLY=($(compgen -W 'o200k_base cl100k_base estimate' -- "$cur")); return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--why --to --parent --task --intent --ref --recent --scope --no-pins --max-tokens --strategy --tokenizer --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	envelope)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--prompt --v1 --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	resolve)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	receipts)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	verify)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	tasks)
		case "$prev" in
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	task)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	fidelity)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--compare --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	diff)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	blame)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	agents)
		case "$prev" in
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	agent)
		case "$prev" in
		--accepts) return ;;
		--tokenizer) COMPREPLY=($(compgen -W 'o200k_base cl100k_base estimate' -- "$cur")); return ;;
		--max-tokens|-m) return ;;
		--description|-d) return ;;
		--fetch-hint) COMPREPLY=($(compgen -W 'mcp command http' -- "$cur")); return ;;
		--fallback) return ;;
		--ack-timeout) return ;;
		--attempts) return ;;
		--webhook) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--accepts --tokenizer --max-tokens --description --fetch-hint --fallback --ack-timeout --attempts --webhook --replace --reset-breaker --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	send)
		case "$prev" in
		--to) return ;;
		--wait|-w) return ;;
		--fallback) return ;;
		--priority) return ;;
		--attempts) return ;;
		--ack-timeout) return ;;
		--idempotency-key) return ;;
		--from) return ;;
		--parent|-p) return ;;
		--task) return ;;
		--intent) return ;;
		--state) return ;;
		--constraint|-c) return ;;
		--waive) return ;;
		--decision) return ;;
		--resolve-decision) return ;;
		--history) return ;;
		--expect|-e) return ;;
		--max-hops) return ;;
		--ref|-r) return ;;
		--recent) return ;;
		--scope) COMPREPLY=($(compgen -W 'task space' -- "$cur")); return ;;
		--max-tokens|-m) return ;;
		--strategy) COMPREPLY=($(compgen -W 'priority full summary lazy' -- "$cur")); return ;;
		--tokenizer) COMPREPLY=($(compgen -W 'o200k_base cl100k_base estimate' -- "$cur")); return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--to --wait --fallback --priority --attempts --ack-timeout --idempotency-key --from --parent --task --intent --state --constraint --waive --decision --resolve-decision --history --expect --max-hops --ref --recent --scope --no-pins --max-tokens --strategy --tokenizer --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	receive)
		case "$prev" in
		--wait|-w) return ;;
		--max|-n) return ;;
		--lease) return ;;
		--instance) return ;;
		--format|-f) COMPREPLY=($(compgen -W 'prompt json' -- "$cur")); return ;;
		--exec|-x) return ;;
		--work-lease) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--wait --max --lease --instance --format --ack --no-ack --exec --loop --work-lease --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	ack)
		case "$prev" in
		--work-lease|-w) return ;;
		--gap) return ;;
		--input-tokens) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--work-lease --gap --input-tokens --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	progress)
		case "$prev" in
		--work-lease|-w) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--work-lease --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	need)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	complete)
		case "$prev" in
		--result) return ;;
		--gap) return ;;
		--input-tokens) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--result --no-remember --gap --input-tokens --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	nack)
		case "$prev" in
		--delay|-d) return ;;
		--reason) return ;;
		--why) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--delay --reason --why --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	reject)
		case "$prev" in
		--reason) return ;;
		--why) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--reason --why --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	handoffs)
		case "$prev" in
		--state|-s) COMPREPLY=($(compgen -W 'queued leased acked completed parked expired discarded' -- "$cur")); return ;;
		--to) return ;;
		--from) return ;;
		--envelope|-e) return ;;
		--order) COMPREPLY=($(compgen -W 'newest oldest' -- "$cur")); return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--state --to --from --envelope --order --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	trace)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	parked)
		case "$prev" in
		--to) return ;;
		--max-tokens|-m) return ;;
		--reason) return ;;
		--why) return ;;
		--by) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--to --max-tokens --reason --why --by --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W 'list show redrive reroute shrink discard' -- "$cur"))
		;;
	park)
		case "$prev" in
		--reason) return ;;
		--why) return ;;
		--by) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--reason --why --by --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		;;
	channels)
		case "$prev" in
		--to) return ;;
		--priority) return ;;
		--attempts) return ;;
		--ack-timeout) return ;;
		--need) return ;;
		--wait|-w) return ;;
		--description|-d) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--to --priority --attempts --ack-timeout --need --wait --description --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W 'list show put subscribe unsubscribe publish join' -- "$cur"))
		;;
	routes)
		case "$prev" in
		--from) return ;;
		--to) return ;;
		--when-constraint) return ;;
		--when-tag) return ;;
		--when-state) return ;;
		--when-hop) return ;;
		--order) return ;;
		--description|-d) return ;;
		--limit|-n) return ;;
		--page-token) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--from --to --when-constraint --when-tag --when-state --when-hop --order --description --limit --page-token --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W 'list show put delete' -- "$cur"))
		;;
	export)
		case "$prev" in
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	import)
		case "$prev" in
		--batch) return ;;
		--url) return ;;
		--space) return ;;
		--agent) return ;;
		--timeout) return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--new-ids --batch --url --space --agent --timeout --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	backup)
		case "$prev" in
		--data) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--data --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	restore)
		case "$prev" in
		--data) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--replace --data --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	check)
		case "$prev" in
		--data) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--data --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	tokens)
		case "$prev" in
		--tokenizer) COMPREPLY=($(compgen -W 'o200k_base cl100k_base estimate' -- "$cur")); return ;;
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--tokenizer --json --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -f -- "$cur"))
		;;
	completion)
		case "$prev" in
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W 'bash zsh fish' -- "$cur"))
		;;
	help)
		case "$prev" in
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--man --markdown --help --config ' -- "$cur"))
			return
		fi
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		;;
	version)
		case "$prev" in
		--config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
		esac
		if [[ $cur == -* ]]; then
			COMPREPLY=($(compgen -W '--json --help --config ' -- "$cur"))
			return
		fi
		;;
	esac
}
complete -o filenames -F _spine spine
