import { HttpError } from "../../wire/http-error.ts";
import type { Members } from "../../wire/json.ts";

/**
 * Refuses the member `thread`, which asks Anthropic to keep the conversation. The gateway keeps none, and
 * another upstream has no threads. Anthropic's tool runners then send the whole conversation instead.
 */
export function refuseThread(members: Members): void {
  if ((members.value("thread") ?? undefined) === undefined) return;
  throw new HttpError(400, "thread: conversations are not kept here", {
    hint: "send the whole conversation without `thread`, or name a model of Anthropic itself",
    code: "thread_unsupported_request",
    param: "thread",
  });
}
