/* spine top: how delivery goes, live. One screen, drawn anew each second from /v1/stats and /v1/alerts with plain
 * escape sequences. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/shared_options.h"
#include "cli/show/show_stats.h"
#include "cli/stop.h"

#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { SCREEN_MAX_BYTES = 1 << 20, REFRESH_MS = 1000, ROWS_DEFAULT = 24 };

static const char *const window_choices[] = {"1m", "5m", "1h", "24h", NULL};

static const struct option top_options[] = {
	{.name = "window", .letter = 'w', .arg = "WINDOW", .type = OPTION_CHOICE, .choices = window_choices,
	 .fallback = "5m", .help = "how far back the figures go"},
	{.name = "all", .letter = 'a', .type = OPTION_FLAG, .help = "all spaces together"},
	{.name = "once", .letter = '1', .type = OPTION_FLAG,
	 .help = "print it once and end; so it does where the output is not a terminal"},
};

static const struct option_table top_table = {"What", top_options, OPTION_COUNT(top_options)};

/* The answers of one refresh. */
struct look {
	struct arena arena;
	struct ask stats;
	struct ask alerts;
};

static void look_release(struct look *l)
{
	ask_release(&l->stats);
	ask_release(&l->alerts);
	arena_release(&l->arena);
}

/* Returns the exit code of what went wrong, which is in l->stats or l->alerts. */
static int look_make(struct cli *cli, struct look *l)
{
	const char *window = options_text(&cli->options, "window");
	struct client_request request = {.method = "GET"};
	struct client_request alerts = {.method = "GET", .path = "/v1/alerts"};

	*l = (struct look){0};
	arena_init(&l->arena);
	request.path = arena_printf(&l->arena, "/v1/stats?window=%s%s", window,
				    options_flag(&cli->options, "all") ? "&space=all" : "")
			       .p;
	ask_make(cli, &request, &l->arena, &l->stats);
	if (l->stats.exit == CLI_OK)
		ask_make(cli, &alerts, &l->arena, &l->alerts);
	return l->stats.exit != CLI_OK ? l->stats.exit : l->alerts.exit;
}

static void draw_warnings(struct cli *cli, struct look *l, struct buf *out)
{
	const struct json *warnings = ask_array(&l->stats.json, "warnings");

	for (uint32_t i = 0; i < warnings->count; i++) {
		term_put_line(out, ask_str(&warnings->items[i], "detail"), cli->out.width);
		buf_puts(out, "\n");
	}
}

static void draw(struct cli *cli, struct look *l, struct buf *out)
{
	struct str now = ask_str(&l->stats.json, "now");

	buf_printf(out, "%sMemory Spine%s  %s  space ", term_on(&cli->out, TERM_BOLD), term_off(&cli->out, TERM_BOLD),
		   client_url(cli->client));
	term_put_line(out, ask_str(&l->stats.json, "space"), 64);
	buf_puts(out, "  last ");
	term_put_line(out, ask_str(&l->stats.json, "window"), 8);
	buf_puts(out, "  ");
	term_put_line(out, now.n > 19 ? str_sub(now, 11, 19) : now, 32);
	buf_puts(out, " UTC\n");
	draw_warnings(cli, l, out);
	buf_puts(out, "\n");
	show_stats_overall(cli, &l->stats.json, out);
	show_stats_bars(cli, &l->stats.json, out);
	buf_puts(out, "\n");
	show_stats_alerts(cli, &l->arena, &l->alerts.json, out);
	buf_puts(out, "\n");
	show_stats_targets(cli, &l->arena, &l->stats.json, out);
}

static int run_once(struct cli *cli)
{
	struct look l;
	struct buf out;
	int code = look_make(cli, &l);

	if (code != CLI_OK) {
		ask_report(cli, l.stats.exit != CLI_OK ? &l.stats : &l.alerts);
	} else if (cli_is_json(cli)) {
		cli_write_json(cli, buf_str(&l.stats.reply.body));
	} else {
		buf_init(&out, SCREEN_MAX_BYTES);
		draw(cli, &l, &out);
		cli_write_buf(&out);
	}
	look_release(&l);
	return code;
}

/* --- Live --- */

static size_t screen_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : ROWS_DEFAULT;
}

/* Every line over what stood there, and nothing below. What does not fit is left out. */
static void put_screen(const struct buf *text)
{
	struct str rest = buf_str(text);
	size_t rows = screen_rows();
	struct buf out;

	buf_init(&out, 2 * SCREEN_MAX_BYTES);
	buf_puts(&out, "\033[H");
	for (size_t i = 0; i + 1 < rows && rest.p && rest.n; i++) {
		buf_put(&out, str_cut(&rest, '\n'));
		buf_puts(&out, "\033[K\r\n");
	}
	buf_puts(&out, "\033[J\033[2mq quits\033[0m");
	cli_write_buf(&out);
}

static void refresh(struct cli *cli)
{
	struct look l;
	struct buf out;

	buf_init(&out, SCREEN_MAX_BYTES);
	term_init(&cli->out, STDOUT_FILENO);	/* the window may have another size now */
	/* A server that is being restarted comes back: what went wrong is shown, and it is asked again. */
	if (look_make(cli, &l) == CLI_OK) {
		draw(cli, &l, &out);
	} else {
		struct str why = ask_sentence(cli, l.stats.exit != CLI_OK ? &l.stats : &l.alerts);

		term_put_text(&out, why);
		buf_puts(&out, "\n");
	}
	put_screen(&out);
	buf_release(&out);
	look_release(&l);
}

/* Until it is time to look again. False where the person wants to quit. */
static bool wait_for_key(struct stop *stop)
{
	struct pollfd fds[2] = {{.fd = stop->fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	int64_t until_ms = clock_mono_ns() / 1000000 + REFRESH_MS;
	int64_t left_ms;

	while ((left_ms = until_ms - clock_mono_ns() / 1000000) > 0) {
		char key;

		if (poll(fds, 2, (int)left_ms) <= 0)
			continue;
		if (fds[0].revents)
			return false;
		if (fds[1].revents) {
			ssize_t n = read(STDIN_FILENO, &key, 1);

			if (n == 1 && (key == 'q' || key == 'Q' || key == 3))
				return false;
			if (n <= 0)
				fds[1].fd = -1;
		}
	}
	return true;
}

static int run_live(struct cli *cli)
{
	struct termios before, raw;
	struct stop stop;
	bool has_keys = tcgetattr(STDIN_FILENO, &before) == 0;

	if (!stop_init(&stop, cli))
		return CLI_FAILED;
	if (has_keys) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	/* The other screen, without a cursor; what was there comes back afterwards. */
	cli_write(STR("\033[?1049h\033[?25l\033[2J"));
	do
		refresh(cli);
	while (wait_for_key(&stop));
	cli_write(STR("\033[?25h\033[?1049l"));
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	stop_release(&stop);
	return CLI_OK;
}

static int exec_top(struct cli *cli)
{
	bool is_live = cli->out.is_terminal && !options_flag(&cli->options, "once") && !cli_is_json(cli);

	cli->is_told_at_once = is_live;
	if (cli_client(cli) == NULL)
		return CLI_USAGE;
	return is_live ? run_live(cli) : run_once(cli);
}

const struct command cmd_top = {
	.name = "top",
	.summary = "Shows how delivery goes, live: figures, alerts, and a line for each agent",
	.usage = "",
	.about = "Drawn anew each second; q quits. From initiating a handoff to its ack is what latency means here. "
		 "An agent's "
		 "failed handoffs are those that used up their attempts with it.",
	.examples = {"spine top", "spine top --window 1h --all", "spine top --once",
		     "spine top --json | jq .overall.latency_ms"},
	.tables = {&top_table, &client_table},
	.exec = exec_top,
};
