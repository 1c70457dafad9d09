import { VoteReceipt, VoteRequest } from "../../api/vote.ts";
import type { Access } from "../access/access.ts";
import { readVote } from "../feedback/vote-body.ts";
import { receiveVote, type VoteParts } from "../feedback/votes.ts";
import { ANONYMOUS } from "./admission.ts";
import { type App, contract } from "./app.ts";

export interface VoteRouteParts extends VoteParts {
  readonly access: Pick<Access, "admit">;
}

/** Adds the endpoint for votes under its own name and under TensorZero's. */
export function addVoteRoutes(app: App, parts: VoteRouteParts): void {
  for (const path of ["/v1/feedback", "/feedback"]) {
    app.post(
      path,
      contract({
        summary: "Votes on a duel, or rates one answer. Sending the same vote again is safe.",
        scope: "vote",
        byToken: true,
        body: VoteRequest,
        response: VoteReceipt,
        errors: [404, 409],
      }),
      async ({ caller, body, headers }) => {
        const token = body.vote_token ?? headers["x-joust-vote-token"]?.toString();
        // Throws: a request without a token needs a key.
        if (caller === ANONYMOUS && token === undefined) await parts.access.admit(headers, "vote");
        return receiveVote(parts, caller, readVote({ ...body, vote_token: token }));
      },
    );
  }
}
