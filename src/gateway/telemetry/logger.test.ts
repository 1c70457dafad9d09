import { describe, expect, it, onTestFinished, vi } from "vitest";
import { rememberSecrets } from "../wire/secrets.ts";
import { logRequest, newLogger } from "./logger.ts";

describe("the line of a request", () => {
  const request = { method: "POST", path: "/v1/votes", status: 200, ms: 0.25 };

  it("is the one that the logger would write", () => {
    const lines: string[] = [];
    const logger = newLogger("info", { write: (line) => void lines.push(line) });
    for (const decision of [undefined, "0199a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"]) {
      logRequest(logger, { ...request, decision });
      logger.info({ ...request, decision }, "request");
    }
    const [a, b, c, d] = lines.map((line) => line.replace(/"time":"[^"]*Z"/, '"time"'));
    expect([a, c]).toEqual([b, d]);
    expect(c).toContain('"decision":"0199a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"');
  });

  it("has the time of its millisecond", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const midnight = Date.UTC(2027, 0, 1);
    const times = [-1, 0, 7, 42, 999, 1000, 1005, -1, 61_100].map((ms) => midnight + ms);
    const lines: string[] = [];
    const logger = newLogger("info", { write: (line) => void lines.push(line) });
    for (const time of times) {
      vi.setSystemTime(time);
      logRequest(logger, { ...request, decision: undefined });
    }
    const logged = lines.map((line) => (JSON.parse(line) as { time: string }).time);
    expect(logged).toEqual(times.map((time) => new Date(time).toISOString()));
  });

  it("is left out below the level of the logger, and shows no secret", () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    logRequest(newLogger("warn", stream), { ...request, decision: undefined });
    expect(lines).toEqual([]);
    rememberSecrets(["a-secret-decision"]);
    logRequest(newLogger("debug", stream), { ...request, decision: "a-secret-decision" });
    expect(lines[0]).toContain('"decision":"[redacted]"');
  });
});

it("loggers of several gateways in one process share their connection to stderr", () => {
  newLogger("silent");
  const listeners = process.listenerCount("exit");
  newLogger("silent");
  expect(process.listenerCount("exit")).toBe(listeners);
});
