import type { PolicyKind } from "../../../core/bandit/policy.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { calibrationOf } from "./calibration.ts";
import { openDraw, settingsOf, streamedTexts } from "./draw.ts";
import { measure } from "./measure.ts";
import type { RunSpec } from "./specs.ts";
import { vectorsOf } from "./vectors.ts";

export async function run(spec: RunSpec, kind: PolicyKind, context: Context): Promise<Result> {
  const { stream, voteScale, lambda, price, policy } = spec;
  const draw = await openDraw(spec.draw, context);
  const vector = await vectorsOf(spec.vectors, context);
  const { offline, online, random } = draw;
  const dataset = { ...online, calibration: calibrationOf(offline, spec.told, vector) };
  const settings = { ...settingsOf(stream, online, spec.draw.seed), voteScale, lambda };
  const streamed = new Set(streamedTexts(draw, stream));
  // Queries that are not streamed have no vectors.
  const none = new Float64Array(0);
  const embeddings = online.queries.map(({ text }) => (streamed.has(text) ? vector(text) : none));
  const { options } = policy;
  const measured = { dataset, embeddings, kind, options, settings, price };
  return { value: measure(measured, random, context) };
}
