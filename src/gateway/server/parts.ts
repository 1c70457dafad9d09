import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "pino";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Access, Caller } from "../access/access.ts";
import type { VoteTokens } from "../access/vote-token.ts";
import type { Clock } from "../clock/clock.ts";
import type { PastTallies } from "../insight/past-tallies.ts";
import type { Feed } from "../log/feed.ts";
import type { Recorder } from "../log/recorder.ts";
import type { Serving } from "../routing/serving.ts";
import type { Sessions } from "../routing/sessions.ts";
import type { SandboxVoters } from "../sandbox/voters.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Client } from "../wire/client.ts";

/** A request after the check of host, origin, key, scope and rate, with its body. */
interface Admitted {
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Parts of the gateway that the endpoints use. */
export interface ServerParts {
  readonly serving: () => Serving;
  readonly store: Store;
  /** The one way of requests into the store's log. */
  readonly log: GroupCommit;
  readonly access: Access;
  readonly voteTokens: VoteTokens;
  readonly recorder: Recorder;
  readonly sessions: Sessions;
  readonly voters: SandboxVoters;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly tallies: PastTallies;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Seed of one decision. */
  readonly newSeed: () => number;
  /** Answers POST /v1/chat/completions. */
  readonly answerChat: (request: Admitted, client: Client) => Promise<void>;
  /** Answers POST /v1/completions and /v1/embeddings. */
  readonly answerUnrouted: (
    endpoint: "completions" | "embeddings",
    request: Admitted,
    client: Client,
  ) => Promise<void>;
  /** Fires when the gateway stops taking requests. */
  readonly closing: AbortSignal;
}
