import { expect, it } from "vitest";
import type { Decision } from "../../store/decision.ts";
import { answered, routed } from "../../store/events.fixture.ts";
import type { Answered } from "../../store/events.ts";
import { Sessions } from "./sessions.ts";

const session = { router: "auto", owner: undefined, id: "s", isImplicit: false };
const first = answered(1, 0, { model: "ant" });
const second = answered(1, 1, { model: "bee" });

const single: Partial<Decision> = { pair: ["ant", "ant"] };
const duel: Partial<Decision> = { pair: ["ant", "bee"] };
const later: Partial<Decision> = { ...duel, reasons: { duel: "later" } };

it.each<[string, Partial<Decision>, Answered[], string | undefined]>([
  ["a single answer", single, [first], "ant"],
  ["a single answer that a judge compared with another one", single, [first, second], "ant"],
  ["a single answer that failed", single, [{ ...first, status: "failed" }], undefined],
  ["a duel", duel, [first, second], undefined],
  ["a duel with one answer that failed", duel, [{ ...first, status: "failed" }, second], "bee"],
  ["a duel whose second answer came later", later, [first, second], "ant"],
])(
  "a session that ended with %s has the right model after a restart",
  async (_, decision, answers, model) => {
    const record = { decision: routed(1, decision), answers, votes: [] };
    const sessions = new Sessions({ decisions: async () => [record] }, () => 0);
    expect(await sessions.modelOf(session, true)).toBe(model);
  },
);
