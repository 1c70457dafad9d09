import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder } from "../gateway.fixture.ts";
import { openCalls, simulatedModel } from "./models.fixture.ts";
import { scoreAnswers } from "./score-answers.ts";

it("runs a test command again on answers of an earlier run, because the program may have changed", async () => {
  const folder = newFolder();
  const program = join(folder, "check.cjs");
  let requests = 0;
  const model = simulatedModel("m", () => ({ text: `answer ${++requests}`, cost: 0 }));
  const scores = async (code: number) => {
    writeFileSync(program, `process.exit(${code})`);
    const parts = await openCalls(join(folder, "journal.jsonl"), 1);
    const words = [process.execPath, program] as const;
    const test = { words, timeoutMs: 60_000 };
    const [scored] = await scoreAnswers(
      [{ id: "p", text: "?" }],
      [model],
      { match: "contains", test },
      parts,
      { concurrency: 1, signal: new AbortController().signal },
    );
    parts.journal.close();
    return scored!.answers.get("m")!.score;
  };
  expect(await scores(1)).toBe(0);
  expect(await scores(0)).toBe(1);
  expect(requests).toBe(1);
});
