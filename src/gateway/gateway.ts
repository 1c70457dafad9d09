import type { Logger } from "pino";
import type { GroupCommit } from "../store/group-commit.ts";
import type { Store } from "../store/store.ts";
import type { Access } from "./access/access.ts";
import type { VoteTokens } from "./access/vote-token.ts";
import type { Clock } from "./clock/clock.ts";
import type { Judge } from "./feedback/judge.ts";
import type { PastTallies } from "./insight/past-tallies.ts";
import type { Feed } from "./log/feed.ts";
import type { Recorder } from "./log/recorder.ts";
import type { AdmittedRequest } from "./request.ts";
import type { Serving } from "./routing/serving.ts";
import type { Sessions } from "./routing/sessions.ts";
import type { SandboxVoters } from "./sandbox/voters.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Client } from "./wire/client.ts";

/** What handlers work with. `serving` is another one after the configuration has changed. */
export interface Gateway {
  readonly serving: () => Serving;
  readonly store: Store;
  /** The one way of requests into the store's log. */
  readonly log: GroupCommit;
  readonly access: Access;
  readonly voteTokens: VoteTokens;
  readonly recorder: Recorder;
  readonly sessions: Sessions;
  readonly judge: Judge;
  /** Of the sandbox. */
  readonly voters: SandboxVoters;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly tallies: PastTallies;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Seed of one decision. */
  readonly newSeed: () => number;
  /** Answers POST /v1/chat/completions. */
  readonly answerChat: (request: AdmittedRequest, client: Client) => Promise<void>;
  /** Answers POST /v1/completions and /v1/embeddings. */
  readonly answerUnrouted: (
    endpoint: "completions" | "embeddings",
    request: AdmittedRequest,
    client: Client,
  ) => Promise<void>;
  /** Fires when the gateway stops taking requests. */
  readonly closing: AbortSignal;
}
