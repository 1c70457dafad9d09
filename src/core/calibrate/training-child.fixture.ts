/**
 * A training that tests kill: `node training-child.fixture.ts FOLDER`. It prints each
 * step and finally a hash of losses and weights.
 */
import { createHash } from "node:crypto";
import { fineTuneTransformer } from "./fine-tune-transformer.ts";
import { TINY_TRAINING } from "./tiny-training.fixture.ts";

const { weights, losses } = await fineTuneTransformer({
  ...TINY_TRAINING,
  checkpoints: process.argv[2],
  checkpointEvery: 0,
  onStep: ({ step }) => console.log(`step ${step}`),
});
const hash = createHash("sha256").update(JSON.stringify(losses));
for (const { data } of weights.values()) hash.update(data);
console.log(hash.digest("hex"));
