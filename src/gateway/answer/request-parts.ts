import type { Access, Caller } from "../access/access.ts";
import type { RequestHeaders } from "../dialects/dialect.ts";
import type { BodyReader } from "../dialects/reader/reader.ts";
import type { Judge } from "../feedback/judge.ts";
import type { Signals } from "../feedback/signals.ts";
import type { VoteTokens } from "../feedback/vote-token.ts";
import type { ClientIds } from "../log/client-ids.ts";
import type { Recorder } from "../log/recorder.ts";
import type { SecondAnswers } from "../log/second-answers.ts";
import type { DecideParts } from "../routing/decide.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Parts of the gateway that a request passes through. */
export interface RequestParts extends DecideParts {
  readonly access: Pick<Access, "reserve">;
  readonly recorder: Recorder;
  readonly judge: Judge;
  readonly signals: Signals;
  readonly voteTokens: VoteTokens;
  readonly metrics: Metrics;
  readonly reader: BodyReader;
  readonly clientIds: ClientIds;
  readonly seconds: SecondAnswers;
}

/** A request that the server has admitted: host, origin, key, scope and rate are checked. */
export interface AdmittedRequest {
  readonly caller: Caller;
  readonly headers: RequestHeaders;
  readonly body: Uint8Array;
}
