// A question that must be answered before anything else: the browser's own dialog, which keeps the focus inside and closes with Escape.
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asProblem, type Problem } from "../api";
import { Failure } from "./basics";

/** Open as long as it is drawn, from the moment it is drawn: an Escape that came between the two would be lost. Focus goes back to where it was; where that is gone, to the title of the page, and not to nowhere. */
function useModal() {
	const dialog = useRef<HTMLDialogElement>(null);

	useLayoutEffect(() => {
		const element = dialog.current;
		const before = document.activeElement;
		element?.showModal();
		return () => {
			element?.close();
			setTimeout(() => {
				if (document.activeElement !== document.body) return;
				if (before instanceof HTMLElement) before.focus();
				if (document.activeElement === document.body)
					document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
			});
		};
	}, []);
	return dialog;
}

export function Dialog({
	title,
	action,
	isDangerous = false,
	isReady = true,
	close,
	submit,
	children,
}: {
	title: string;
	action: string;
	isDangerous?: boolean;
	/** Whether it can be done yet. */
	isReady?: boolean;
	close: () => void;
	/** Closes the dialog unless it throws: then the dialog says why. */
	submit: () => Promise<void> | void;
	children: ComponentChildren;
}) {
	const dialog = useModal();
	const heading = useId();
	const [isBusy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();

	const onSubmit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
		event.preventDefault();
		if (isBusy || !isReady) return;
		setBusy(true);
		setProblem(undefined);
		try {
			await submit();
			close();
		} catch (error) {
			setProblem(asProblem(error));
			setBusy(false);
		}
	};

	return (
		<dialog
			ref={dialog}
			aria-labelledby={heading}
			onCancel={(event) => {
				event.preventDefault();
				close();
			}}
		>
			<form onSubmit={(event) => void onSubmit(event)}>
				<h2 id={heading}>{title}</h2>
				{children}
				{problem && <Failure problem={problem} />}
				<div class="buttons">
					<button type="button" onClick={close}>
						Cancel
					</button>
					<button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy || !isReady}>
						{action}
					</button>
				</div>
			</form>
		</dialog>
	);
}

/** Something to look at or to choose from, over the page; closes with Escape, and with a click beside it. */
export function Sheet({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
	const dialog = useModal();
	const heading = useId();

	return (
		<dialog
			ref={dialog}
			aria-labelledby={heading}
			onClick={(event) => event.target === dialog.current && close()}
			onCancel={(event) => {
				event.preventDefault();
				close();
			}}
		>
			<div class="sheet">
				<h2 id={heading}>{title}</h2>
				{children}
				<div class="buttons">
					<button type="button" onClick={close}>
						Close
					</button>
				</div>
			</div>
		</dialog>
	);
}

export function Field({ label, hint, children }: { label: string; hint?: string; children: ComponentChildren }) {
	return (
		<label class="field">
			<span class="field-label">{label}</span>
			{children}
			{hint && <span class="hint">{hint}</span>}
		</label>
	);
}
