import { formatErrorLine } from "../../core/errors/joust-error.ts";
import type { Clock } from "../clock/clock.ts";
import type { Deployment } from "./deployment.ts";
import type { ServedModel } from "./served-model.ts";
import { UpstreamError } from "./upstream/error.ts";
import { readAll } from "./upstream/upstream.ts";

/** Result of a short request to a deployment. */
export interface ProbeResult {
  readonly model: string;
  readonly deployment: string;
  /** Milliseconds until the answer was complete. */
  readonly ms: number;
  /** Undefined if the deployment answered. */
  readonly error?: string;
  /** Kind of the failure, and the status of the provider's response. */
  readonly code?: string;
  readonly status?: number;
}

/** Sends a short request to each deployment of each enabled model at the same time, without retries. */
export function probeAll(
  models: ReadonlyMap<string, ServedModel>,
  clock: Clock,
): Promise<readonly ProbeResult[]> {
  const enabled = [...models.values()].filter(({ spec }) => !spec.isDisabled);
  const all = enabled.flatMap(({ name, deployments }) =>
    deployments.map((deployment) => probe(name, deployment, clock)),
  );
  return Promise.all(all);
}

async function probe(model: string, deployment: Deployment, clock: Clock): Promise<ProbeResult> {
  const startedAt = clock.now();
  const { name, upstreamName } = deployment.spec;
  const messages = [{ role: "user", content: "Answer with the word OK." }];
  const body = Buffer.from(JSON.stringify({ model: upstreamName, messages, max_tokens: 16 }));
  const request = {
    endpoint: "chat/completions",
    body,
    model: upstreamName,
    stream: false,
  } as const;
  const result = () => ({ model, deployment: name, ms: Math.round(clock.now() - startedAt) });
  try {
    const answer = await deployment.call(request, AbortSignal.timeout(PROBE_MS));
    await readAll(answer);
    return result();
  } catch (error) {
    const { code, status } = error instanceof UpstreamError ? error : {};
    return {
      ...result(),
      error: formatErrorLine(error),
      ...(code && { code }),
      ...(status && { status }),
    };
  }
}

const PROBE_MS = 60_000;
