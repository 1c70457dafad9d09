/** One thread of a sweep: takes a task at a time, answers with its run. Only sweep.ts starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { Random } from "../../core/random/random.ts";
import { contenderOf } from "../policies/policy-spec.ts";
import { createEnvironment } from "./environment.ts";
import { unpack } from "./matrix.ts";
import { runPolicy } from "./run.ts";
import type { Task, WorkerData } from "./sweep.ts";

const { dataset, matrix, policies, settings, rounds, slot } = workerData as WorkerData;
const embeddings = unpack(matrix, dataset.queries.length);
const contenders = Promise.all(policies.map(contenderOf));

parentPort!.on("message", async (task: Task | undefined) => {
  // From within: to terminate a thread cuts off what it has printed.
  if (!task) process.exit();
  const { policy, run } = task;
  const contender = (await contenders)[policy]!;
  // A world and voters for each run, whatever the policy; a fresh copy, so that none can touch another's.
  const random = Random.seeded(settings.seed).split(run);
  const environment = createEnvironment(dataset, embeddings, settings, random.split("environment"));
  const onRound = (t: number) => Atomics.store(rounds, slot, t);
  onRound(0);
  parentPort!.postMessage(
    runPolicy(environment, contender, settings, random.split("policy"), onRound),
  );
});
