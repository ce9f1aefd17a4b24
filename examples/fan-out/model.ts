/**
 * The model, or what stands in for it here: a function from a prompt to a text.
 *
 * The example runs without a key and without a network, so this one answers from a table. Replace the body of `model`
 * by a call of yours; nothing else changes. With the usual SDKs it is:
 *
 *     // Anthropic: npm install @anthropic-ai/sdk, and ANTHROPIC_API_KEY in the environment
 *     const reply = await new Anthropic().messages.create(
 *         { model: "claude-sonnet-4-5", max_tokens: 2000, system: role, messages: [{ role: "user", content: prompt }] },
 *         { signal },
 *     );
 *     return reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
 *
 *     // OpenAI: npm install openai, and OPENAI_API_KEY in the environment
 *     const reply = await new OpenAI().responses.create({ model: "gpt-5", instructions: role, input: prompt }, { signal });
 *     return reply.output_text;
 */
const answers: { readonly [role: string]: string } = {
	"You review for security.": "The retry repeats the card number in the log: blank it.",
	"You review for speed.": "Three retries of 30 seconds hold a worker for 90: lower the timeout to 5.",
	"You review for style.": "Follows src/payments; one name to change: do_it is retry_charge.",
	"You write the report.": "Not yet: blank the card number in the log, lower the timeout to 5 seconds, rename do_it.",
};

/** What the model says. `role` is the system prompt, `prompt` the rest; the signal ends a call that nobody waits for. */
export async function model(role: string, prompt: string, signal: AbortSignal): Promise<string> {
	signal.throwIfAborted();
	const answer = answers[role];
	if (answer === undefined || prompt.trim() === "") throw new Error(`the model has nothing to say as ${role}`);
	return answer;
}
