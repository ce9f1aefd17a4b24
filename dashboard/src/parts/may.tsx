// What the key of who is signed in does not allow is not offered.
import type { ComponentChildren } from "preact";
import { may, type Scope, session } from "../identity";
import { useStore } from "../store";

export function May({ scope, children }: { scope: Scope; children: ComponentChildren }) {
	return may(useStore(session), scope) ? <>{children}</> : null;
}
