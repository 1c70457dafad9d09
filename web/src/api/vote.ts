import { load, save } from "../state/storage.ts";
import { ApiError, postJson, Unreachable } from "./client.ts";

export interface VoteBody {
  readonly id: string;
  readonly winner?: 0 | 1 | "tie" | "both_bad";
  readonly rating?: number;
  readonly vote_token?: string | undefined;
}

/**
 * Casts a vote. It is the same vote however often it is sent, so it is sent
 * until the gateway has acknowledged or refused it.
 */
export async function castVote(body: VoteBody, waiting: (problem: string) => void): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await postJson("/v1/feedback", { ...body, voter: voterId() });
      return;
    } catch (error) {
      const mayPass = error instanceof Unreachable || (error instanceof ApiError && error.passes);
      if (!mayPass) throw error;
      waiting(error.message);
      const pause = error instanceof ApiError ? error.retryAfter : undefined;
      await new Promise((done) => setTimeout(done, pause ?? Math.min(5000, 300 * 2 ** attempt)));
    }
  }
}

/** Who votes from this browser: how much a vote counts depends on a voter's record. */
function voterId(): string {
  const known = load(localStorage, "voter");
  if (typeof known === "string" && /^web-[0-9a-z]+$/.test(known)) return known;
  const id = `web-${randomId()}`;
  save(localStorage, "voter", id);
  return id;
}

/** 16 hexadecimal digits. crypto.randomUUID is not there on pages from other machines over plain HTTP. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
