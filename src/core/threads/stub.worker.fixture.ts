/** A worker for the tests of Thread and Pool. */
import { workerData } from "node:worker_threads";
import { InputError } from "../input/input-error.ts";
import { emit, Moved, serve } from "./serve.ts";

export interface StubOptions {
  readonly oneAtATime?: boolean;
  readonly failOpening?: boolean;
  readonly failClosing?: boolean;
  readonly timer?: boolean;
  readonly printAtEnd?: boolean;
}

export class StubError extends Error {
  override readonly name = "StubError";
  readonly reason = "stub";
  readonly notCloneable = () => {};
}

const options = (workerData ?? {}) as StubOptions;
const memory = new Float32Array([1, 2, 3]);
const gates = new Map<string, PromiseWithResolvers<void>>();
const log: string[] = [];

const methods = {
  add: (a: number, b: number) => a + b,
  log: () => log,
  /** Returns only after `release` of the same name. */
  async hold(name: string): Promise<string> {
    log.push(`start ${name}`);
    await gate(name).promise;
    log.push(`end ${name}`);
    return name;
  },
  async release(name: string): Promise<void> {
    gate(name).resolve();
  },
  async pause(name: string): Promise<void> {
    log.push(`start ${name}`);
    await new Promise((resume) => setImmediate(resume));
    log.push(`end ${name}`);
  },
  move: () => new Moved(memory, [memory.buffer]),
  movedLength: () => memory.length,
  emit: (event: unknown) => emit(event),
  returnFunction: () => () => {},
  print(text: string): void {
    process.stdout.write(text);
  },
  fail(kind: "input" | "stub" | "range"): void {
    const cause = new RangeError("the cause");
    if (kind === "input") throw new InputError({ file: "f", line: 2 }, "is gone", "look for it");
    if (kind === "stub") throw new StubError("failed", { cause });
    throw cause;
  },
  crash(): void {
    queueMicrotask(() => {
      throw new StubError("thrown");
    });
  },
  exit: (code: number) => process.exit(code),
};
export type StubMethods = typeof methods;

serve(
  async () => {
    if (options.failOpening) throw new StubError("cannot open");
    if (options.timer) setInterval(() => {}, 1e6);
    return methods;
  },
  {
    oneAtATime: options.oneAtATime,
    onClose() {
      if (options.failClosing) throw new StubError("cannot close");
      if (options.timer) process.exit();
      if (options.printAtEnd) process.stdout.write("closed\n");
    },
  },
);

function gate(name: string): PromiseWithResolvers<void> {
  const known = gates.get(name) ?? Promise.withResolvers<void>();
  gates.set(name, known);
  return known;
}
