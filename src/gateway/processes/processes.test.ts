import { duplexPair } from "node:stream";
import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { Calls } from "../../core/processes/calls.ts";
import { Link } from "../../core/processes/link.ts";
import type { Config } from "../config/config.ts";
import { configOf, newFolder } from "../gateway.fixture.ts";
import { LANES } from "../peers/linked-peers.ts";
import { newLogger } from "../telemetry/logger.ts";
import type { ServingSummary, StartMessage } from "./messages.ts";
import { Processes } from "./processes.ts";
import type { Spawned } from "./spawn.ts";

const SUMMARY: ServingSummary = { from: "sandbox", models: [], routers: ["auto"], isOpen: true };

interface FakeProcess {
  readonly started: StartMessage[];
  readonly configs: Config[];
  /** Ends the process, as a crash does. */
  crash(): void;
  /** Ends the process after its last message has arrived. */
  exit(): void;
}

/** Replaces processes by objects inside the test; `start` says how each one starts. */
function newFakes(start: (n: number) => ServingSummary | Promise<ServingSummary>) {
  const fakes: FakeProcess[] = [];
  let rejectReload: ((n: number) => boolean) | undefined;
  const spawn = (): Spawned => {
    const n = fakes.length;
    const [near, far] = duplexPair();
    const link = new Link(far);
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const fake: FakeProcess = {
      started: [],
      configs: [],
      crash: () => end("signal SIGKILL"),
      exit: () => {
        near.once("end", () => end("exit code 1"));
        far.end();
      },
    };
    const end = (reason: string) => {
      near.destroy();
      resolve(reason);
    };
    fakes.push(fake);
    const calls: Calls = new Calls({
      send: (message) => link.send(LANES.calls, message),
      handlers: {
        start: (message: StartMessage) => {
          fake.started.push(message);
          return start(n);
        },
        reload: (config: Config) => {
          if (rejectReload?.(n)) throw new InputError({ file: "joust.yaml" }, "is bad", "fix it");
          fake.configs.push(config);
        },
        leave: () => {},
        close: () => void setImmediate(() => end("exit code 0")),
        listening: () => {},
        full: () => {},
        gone: () => {},
        first: () => {},
      },
    });
    link.receive(LANES.calls, (message) => calls.receive(message));
    return { pid: n, link: new Link(near), ended, pass: (s) => s.destroy(), kill: fake.crash };
  };
  const rejectReloads = (which: (n: number) => boolean) => {
    rejectReload = which;
  };
  return { fakes, spawn, rejectReloads };
}

async function open(fakes: ReturnType<typeof newFakes>, count = 2) {
  const config = configOf("server: {port: 0}");
  const lines: string[] = [];
  const logger = newLogger("info", { write: (line) => void lines.push(line) });
  const data = newFolder();
  const { spawn } = fakes;
  const running = await Processes.open({ count, config, file: undefined, data, logger, spawn });
  onTestFinished(() => running.close());
  return { running, lines, config };
}

describe("the processes of a gateway", () => {
  it("start when the first one is ready, and one that ends is replaced", async () => {
    const all = newFakes(() => SUMMARY);
    const { running, lines } = await open(all, 3);
    expect(running.summary).toEqual(SUMMARY);
    await expect.poll(() => all.fakes.flatMap(({ started }) => started).length).toBe(3);
    const memberships = all.fakes.map(({ started }) => started[0]!.membership);
    expect(memberships.map(({ isFirst }) => isFirst)).toEqual([true, false, false]);
    expect(new Set(memberships.map(({ id }) => id)).size).toBe(3);
    all.fakes[1]!.crash();
    await expect.poll(() => all.fakes.length).toBe(4);
    expect(lines.join("")).toContain('"reason":"signal SIGKILL"');
  });

  it("report why the first one cannot start, and end", async () => {
    const all = newFakes(() => {
      throw new InputError({ file: "joust.yaml", field: "models" }, "is odd", "fix it");
    });
    // A process that cannot start reports it and ends by itself.
    const starting = open(all);
    await expect.poll(() => all.fakes[0]?.started.length).toBe(1);
    await immediate();
    all.fakes[0]!.exit();
    await expect(starting).rejects.toThrow(errorText(/is odd/));
  });

  it("are given up if they end again and again at their start", async () => {
    const all = newFakes((n) => {
      if (n === 0) return SUMMARY;
      setImmediate(() => all.fakes[n]!.crash());
      return new Promise(() => {});
    });
    const { running } = await open(all);
    await expect(running.failed).rejects.toThrow(
      errorText(/ended 5 times soon after their start.*hint:.*--processes 1/),
    );
  });

  it("serve a changed configuration, all or none; one that cannot is replaced", async () => {
    const all = newFakes(() => SUMMARY);
    const { running, config } = await open(all);
    await expect.poll(() => all.fakes.flatMap(({ started }) => started).length).toBe(2);
    const next = { ...config, server: { ...config.server, rate: 5 } };
    all.rejectReloads((n) => n === 0);
    await expect(running.reload(next)).rejects.toThrow(errorText(/is bad/));
    expect(all.fakes.flatMap(({ configs }) => configs)).toEqual([]);
    all.rejectReloads((n) => n === 1);
    await running.reload(next);
    await expect.poll(() => all.fakes[2]?.started[0]?.config.server.rate).toBe(5);
    expect(all.fakes[0]!.configs).toHaveLength(1);
  });

  it("keep the settings that require a restart, also in a process that starts after a reload", async () => {
    const all = newFakes(() => SUMMARY);
    const { running, config } = await open(all);
    await expect.poll(() => all.fakes.flatMap(({ started }) => started).length).toBe(2);
    const server = { ...config.server, host: "0.0.0.0", trusted_proxies: ["10.0.0.1"], rate: 5 };
    const store = { ...config.store, url: "postgres://db/joust", sample: 0.5 };
    await running.reload({ ...config, server, store });
    all.fakes[1]!.crash();
    await expect.poll(() => all.fakes[2]?.started.length).toBe(1);
    const started = all.fakes[2]!.started[0]!.config;
    expect(started.server).toEqual({ ...config.server, rate: 5 });
    expect(started.store).toEqual({ ...config.store, sample: 0.5 });
  });
});
