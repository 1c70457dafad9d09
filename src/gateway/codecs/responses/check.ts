import type { Json } from "../../wire/json.ts";
import { Untranslatable } from "../items/unsupported.ts";

/** Members that only an upstream of the Responses API can serve, because they refer to data that it stores. */
const KEPT_BY_HOST = ["background", "conversation", "previous_response_id", "prompt"] as const;

/** Throws Untranslatable if the request needs an upstream that speaks Responses itself. */
export function checkResponses(body: Json): void {
  for (const name of KEPT_BY_HOST) {
    const value = body[name];
    if (value !== undefined && value !== null && value !== false) {
      throw new Untranslatable(`${name} needs a provider that speaks the Responses API`, name);
    }
  }
}
