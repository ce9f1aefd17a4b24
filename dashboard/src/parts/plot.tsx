// A plot of some figures over time, with lines where a threshold is. uPlot draws; the figures are also said in words, for those who do not see them.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../settings";
import { useStore } from "../store";

export interface Line {
	readonly label: string;
	readonly values: readonly (number | null)[];
	readonly tone: "accent" | "second" | "bad";
	readonly isFilled?: boolean;
}

export interface Threshold {
	readonly value: number;
	readonly label: string;
	readonly tone: "warn" | "bad";
}

interface Props {
	/** In words: what is to be seen. */
	readonly summary: string;
	readonly seconds: readonly number[];
	readonly lines: readonly Line[];
	readonly thresholds?: readonly Threshold[];
	readonly format: (value: number) => string;
	readonly isLogarithmic?: boolean;
	/** The least that the axis shows. */
	readonly low: number;
	readonly high: number;
	/** The most that the axis can ever show. */
	readonly limit?: number;
	/** From when to when, in seconds. */
	readonly from: number;
	readonly to: number;
}

const HEIGHT = 132;

/** A colour as the browser has worked it out: a canvas knows no variables. */
function colour(element: Element, name: string): string {
	const probe = document.createElement("span");

	probe.style.color = `var(--${name})`;
	element.append(probe);
	const value = getComputedStyle(probe).color;
	probe.remove();
	return value;
}

function faded(rgb: string, alpha: number): string {
	return rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
}

function drawThresholds(plot: uPlot, thresholds: readonly Threshold[], colours: Record<string, string>): void {
	const { ctx, bbox } = plot;

	ctx.save();
	ctx.lineWidth = devicePixelRatio;
	ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
	ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textAlign = "left";
	ctx.textBaseline = "bottom";
	const lines = thresholds
		.map((threshold) => ({ ...threshold, y: Math.round(plot.valToPos(threshold.value, "y", true)) }))
		.filter(({ y }) => y >= bbox.top - 1 && y <= bbox.top + bbox.height + 1)
		.sort((one, other) => one.y - other.y);
	lines.forEach(({ y, tone, label }, index) => {
		ctx.strokeStyle = ctx.fillStyle = colours[tone]!;
		ctx.beginPath();
		ctx.moveTo(bbox.left, y);
		ctx.lineTo(bbox.left + bbox.width, y);
		ctx.stroke();
		// Labels of lines that are close would be one blot: they stand together at the upper one.
		const isClose = (at: number) => at >= 0 && at + 1 < lines.length && lines[at + 1]!.y - lines[at]!.y < 14 * devicePixelRatio;
		if (isClose(index - 1)) return;
		let text = label;
		for (let at = index; isClose(at); at++) text = `${lines[at + 1]!.label}, ${text}`;
		// Above the line, or below it where there is no room.
		const isHigh = y - bbox.top < 14 * devicePixelRatio;
		ctx.textBaseline = isHigh ? "top" : "bottom";
		ctx.fillText(text, bbox.left + 4 * devicePixelRatio, y + (isHigh ? 2 : -1) * devicePixelRatio);
	});
	ctx.restore();
}

function data(props: Props): uPlot.AlignedData {
	return [[...props.seconds], ...props.lines.map((line) => [...line.values])] as uPlot.AlignedData;
}

function yRange(props: Props): uPlot.Range.MinMax {
	let low = props.low;
	let high = props.high;

	for (const line of props.lines)
		for (const value of line.values) {
			if (value === null) continue;
			if (value > high) high = value * (props.isLogarithmic ? 1.3 : 1.08);
			if (value < low) low = props.isLogarithmic ? Math.max(value, 0.1) : value;
		}
	return [low, props.limit === undefined ? high : Math.min(high, props.limit)];
}

function make(box: HTMLElement, latest: { current: Props }): uPlot {
	const colours = Object.fromEntries(
		["accent", "second", "warn", "bad", "muted", "grid"].map((name) => [name, colour(box, name)]),
	);
	const { lines, isLogarithmic } = latest.current;
	const axis = {
		stroke: colours["muted"],
		grid: { stroke: colours["grid"], width: 1 },
		ticks: { show: false },
		font: "10px system-ui, sans-serif",
	};
	const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
	const clockSeconds = new Intl.DateTimeFormat(undefined, {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
		hour12: false,
	});
	const say = (seconds: number, range: number) => (range <= 120 ? clockSeconds : clock).format(seconds * 1000);

	return new uPlot(
		{
			width: Math.max(120, box.clientWidth),
			height: HEIGHT,
			padding: [8, 4, 0, 0],
			legend: { show: false },
			cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
			scales: {
				x: { time: true, range: () => [latest.current.from, latest.current.to] },
				y: { distr: isLogarithmic ? 3 : 1, range: () => yRange(latest.current) },
			},
			axes: [
				{
					...axis,
					size: 22,
					space: 64,
					values: (_, splits) => splits.map((at) => say(at, latest.current.to - latest.current.from)),
				},
				{
					...axis,
					size: 52,
					space: 26,
					...(isLogarithmic
						? {
								splits: (_: uPlot, __: number, low: number, high: number) => powersOfTen(low, high),
								filter: (_: uPlot, all: number[]) => all,
							}
						: {}),
					values: (_, splits) => splits.map((value) => (value === null ? "" : latest.current.format(value))),
				},
			],
			series: [
				{},
				...lines.map((line): uPlot.Series => ({
					label: line.label,
					stroke: colours[line.tone]!,
					width: 1.5,
					fill: line.isFilled ? faded(colours[line.tone]!, 0.14) : undefined,
					spanGaps: false,
					points: { show: (plot, index) => isLonely(plot.data[index]!), size: 4, fill: colours[line.tone]! },
				})),
			],
			hooks: { draw: [(plot) => drawThresholds(plot, latest.current.thresholds ?? [], colours)] },
		},
		data(latest.current),
		box,
	);
}

/** One line for each power is enough. */
function powersOfTen(low: number, high: number): number[] {
	const powers: number[] = [];

	for (let power = 10 ** Math.ceil(Math.log10(low)); power <= high; power *= 10) powers.push(power);
	return powers;
}

/** Is there a value without a neighbour? No line is drawn to it, so it needs a point. */
function isLonely(values: ArrayLike<number | null | undefined>): boolean {
	for (let i = 0; i < values.length; i++)
		if (values[i] != null && values[i - 1] == null && values[i + 1] == null) return true;
	return false;
}

/** What is under the pointer, in words, beside the plot's title. */
function follow(plot: uPlot, output: HTMLElement, latest: { current: Props }): void {
	const { idx } = plot.cursor;
	const { lines, seconds, format } = latest.current;
	const at = idx == null ? undefined : seconds[idx];

	output.textContent =
		at === undefined
			? ""
			: [
					new Date(at * 1000).toLocaleTimeString(undefined, { hour12: false }),
					...lines.map((line) => {
						const value = line.values[idx!];
						return `${lines.length > 1 ? `${line.label} ` : ""}${value == null ? "–" : format(value)}`;
					}),
				].join("  ");
}

export function Plot(props: Props) {
	const box = useRef<HTMLDivElement>(null);
	const output = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot>(undefined);
	const latest = useRef(props);
	const chosen = useStore(theme);

	latest.current = props;
	useEffect(() => {
		const element = box.current!;
		let mine: uPlot;
		const remake = () => {
			mine?.destroy();
			mine = plot.current = make(element, latest);
			mine.over.addEventListener("mousemove", () => follow(mine, output.current!, latest));
			mine.over.addEventListener("mouseleave", () => (output.current!.textContent = ""));
		};
		const sizes = new ResizeObserver(() => {
			const width = element.clientWidth;
			if (width > 0 && Math.abs(width - mine.width) > 1) mine.setSize({ width, height: HEIGHT });
		});
		const dark = matchMedia("(prefers-color-scheme: dark)");

		remake();
		sizes.observe(element);
		dark.addEventListener("change", remake);
		return () => {
			sizes.disconnect();
			dark.removeEventListener("change", remake);
			mine.destroy();
		};
	}, [chosen]);
	useEffect(() => plot.current?.setData(data(props)), [props.seconds, props.lines]);

	return (
		<div class="plot">
			<div class="plot-value" ref={output} aria-hidden="true" />
			<div ref={box} role="img" aria-label={props.summary} />
		</div>
	);
}
