/** Fine-tunes a transformer with CCFT in its own process; prints seconds, CPU seconds, losses and peak memory. */
import { readFileSync } from "node:fs";
import { fineTuneTransformer } from "../src/core/calibrate/fine-tune-transformer.ts";
import { readModelFolder } from "../src/core/encoder/transformer/model/model-folder.ts";

interface Golden {
  readonly settings: { readonly lr: number };
  readonly batches: [a: number, b: number, label: 0 | 1][][];
}

const [folder, offline, trajectory] = process.argv.slice(2);
const model = await readModelFolder(folder!);
const queries = readFileSync(offline!, "utf8").trim().split("\n");
const { settings, batches } = JSON.parse(readFileSync(trajectory!, "utf8")) as Golden;
const begin = performance.now();
const before = process.cpuUsage();
const { losses } = await fineTuneTransformer({
  model,
  texts: queries.map((line) => model.tokenizer.encode(JSON.parse(line).query, model.maxLength)),
  batches: batches.map((batch) => batch.map(([a, b, label]) => ({ a, b, label }))),
  learningRate: settings.lr,
});
const seconds = (performance.now() - begin) / 1000;
const { user, system } = process.cpuUsage(before);
const peak = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ seconds, cpu: (user + system) / 1e6, losses, peak }));
