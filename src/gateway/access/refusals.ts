/** Errors of requests whose key or session does not admit them. */
import type { Scope } from "../../api/scopes.ts";
import { HttpError } from "../wire/http-error.ts";

const KEY_HINT = "send `Authorization: Bearer KEY`; `joust keys add NAME` creates a key";
const VOTE_HINT =
  "route,vote` and use it for the request too, because a key votes on its own decisions; or send the vote token of the answer without a key";
export const SIGN_IN_HINT = "sign in with a valid key; `joust keys add NAME` creates one";

export function unauthorized(
  problem: string,
  hint = KEY_HINT,
  code = "invalid_api_key",
): HttpError {
  return new HttpError(401, problem, { hint, code });
}

export function insufficientScope(scope: Scope): HttpError {
  return new HttpError(403, `this API key lacks the scope ${scope}`, {
    hint: `create a key with \`joust keys add NAME --scopes ${scope === "vote" ? VOTE_HINT : `${scope}\``}`,
    code: "insufficient_scope",
  });
}
