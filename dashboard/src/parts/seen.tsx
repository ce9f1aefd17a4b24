// What agents wrote, with the characters in it that nobody sees marked by their codes. The text itself stays as it is: it can be copied.
import { useMemo } from "preact/hooks";
import { pieces } from "../hidden";

const NAMED = 3;

export function Seen({ text }: { text: string | null | undefined }) {
	const found = useMemo(() => pieces(text ?? ""), [text]);

	return (
		<>
			{found.map((piece, i) =>
				piece.codes ? (
					<span
						key={i}
						class="unseen"
						title="Nobody sees this, but a model may read it"
						data-codes={
							piece.codes.length > NAMED
								? `${piece.codes.slice(0, NAMED).join(" ")} and ${piece.codes.length - NAMED} more`
								: piece.codes.join(" ")
						}
					>
						{piece.text}
					</span>
				) : (
					piece.text
				),
			)}
		</>
	);
}
