// Numbers and times as people read them.

const missing = "–";

export function count(value: number | null | undefined): string {
	return value === null || value === undefined ? missing : value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

export function decimal(value: number | null | undefined, digits: number): string {
	return value === null || value === undefined ? missing : value.toFixed(digits);
}

/** A share of 1. 99.999 % is not 100 %, and 0.001 % is not nothing: what is not whole is not rounded to whole. */
export function percent(share: number | null | undefined): string {
	if (share === null || share === undefined) return missing;
	const value = share * 100;
	if (value === 0 || value === 100) return `${value} %`;
	if (value < 0.01) return "< 0.01 %";
	if (value > 99.99) return "> 99.99 %";
	return `${value.toFixed(value < 10 || value > 99 ? 2 : 1)} %`;
}

/** The same where it was chosen by a person: 0.5 %, 95 %. */
export function roundPercent(share: number): string {
	return `${+(share * 100).toFixed(2)} %`;
}

export function duration(ms: number | null | undefined): string {
	if (ms === null || ms === undefined) return missing;
	if (ms < 10) return `${ms.toFixed(ms < 1 && ms > 0 ? 2 : ms % 1 ? 1 : 0)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${ms % 1000 ? (ms / 1000).toFixed(ms < 10_000 ? 2 : 1) : ms / 1000} s`;
	return span(ms);
}

/** Longer times, to the minute, hour or day. */
export function span(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
	if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
	return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function ago(at: string, now: number): string {
	const passed = now - Date.parse(at);
	if (!Number.isFinite(passed)) return missing;
	if (passed < -1500) return `in ${span(-passed)}`;
	return passed < 1500 ? "just now" : `${span(passed)} ago`;
}

export function size(bytes: number): string {
	if (bytes < 1024) return `${bytes} B`;
	if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
	return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** "3 handoffs", "1 handoff". */
export function plural(n: number, one: string, many = `${one}s`): string {
	return `${count(n)} ${n === 1 ? one : many}`;
}

/** "half_open" as a person would say it. */
export function words(name: string): string {
	return name.replaceAll("_", " ");
}

/** The beginning of a long text, in whole characters. */
export function shorten(text: string, max: number): string {
	const characters = [...text.slice(0, max * 2)];
	return characters.length <= max && text.length <= max * 2 ? text : `${characters.slice(0, max - 1).join("")}…`;
}
