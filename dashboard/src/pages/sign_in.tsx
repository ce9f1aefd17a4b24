// The door: a key, please.
import type { TargetedSubmitEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, Problem } from "../api";
import { Failure, Title } from "../parts/basics";
import { Field } from "../parts/dialog";
import { signIn } from "../session";

export function SignIn() {
	const field = useRef<HTMLInputElement>(null);
	const [isBusy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();

	useEffect(() => field.current?.focus(), []);
	const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
		event.preventDefault();
		const input = field.current!;
		const key = input.value.trim();
		// It is not kept here either: whoever comes back to this page finds an empty field.
		input.value = "";
		if (isBusy || key === "") return;
		setBusy(true);
		setProblem(undefined);
		try {
			await signIn(key);
		} catch (error) {
			const found = asProblem(error);
			setProblem(
				found.status === 401 || found.status === 400 || found.status === 422
					? new Problem(found.status, "unauthorized", "the server does not know this key, or it has expired or was revoked")
					: found,
			);
			setBusy(false);
			input.focus();
		}
	};

	return (
		<div class="sign-in">
			<Title>Sign in</Title>
			<p>
				This server asks for a key. Whoever runs it makes one: <code>spine key create</code>
			</p>
			<form onSubmit={(event) => void submit(event)}>
				<Field label="Key" hint="Sent to this server once, and kept nowhere in the browser.">
					<input
						ref={field}
						type="password"
						required
						maxLength={128}
						autocomplete="off"
						autocapitalize="none"
						spellcheck={false}
						placeholder="spk_…"
					/>
				</Field>
				{problem && <Failure problem={problem} />}
				<div class="buttons">
					<button type="submit" class="primary" disabled={isBusy}>
						Sign in
					</button>
				</div>
			</form>
		</div>
	);
}
