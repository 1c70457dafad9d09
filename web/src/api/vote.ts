import type { VoteRequest } from "../../../src/client.ts";
import { load, save } from "../state/storage.ts";
import { joust, sessionIsKnown } from "./client.ts";

/** Sends a vote until the gateway has accepted or refused it. `onWait` is called before each retry. */
export async function castVote(
  request: VoteRequest,
  onWait: (problem: string) => void,
): Promise<void> {
  await sessionIsKnown();
  const onRetry = ({ message }: Error) => onWait(message);
  await joust.castVote({ ...request, voter: voterId() }, { onRetry });
}

/** Sends a vote with a request that the browser completes after the page is closed. The vote token admits it. */
export function castVoteOnLeaving(request: VoteRequest): void {
  fetch("/v1/feedback", {
    method: "POST",
    body: JSON.stringify({ ...request, voter: voterId() }),
    headers: { "content-type": "application/json" },
    credentials: "omit",
    keepalive: true,
  }).catch(() => {}); // the vote is sent again if the page was only reloaded
}

/** Name of this browser as a voter. The learner weighs votes by the reliability of their voter. */
function voterId(): string {
  const known = load(localStorage, "voter");
  if (typeof known === "string" && /^web-[0-9a-z]+$/.test(known)) return known;
  const id = `web-${randomId()}`;
  save(localStorage, "voter", id);
  return id;
}

/** 16 hexadecimal digits. crypto.randomUUID does not exist on pages served by plain HTTP. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
