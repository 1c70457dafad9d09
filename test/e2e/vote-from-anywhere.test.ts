import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder, ROOT } from "./joust.fixture.ts";
import { chat, startServer } from "./serve.fixture.ts";

const YAML = "sandbox: {speed: 1000}\nrouters: {auto: {duels: {mode: true, share: 1, spend: 1}}}\n";

interface Answer {
  readonly id: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly joust: {
    readonly duel?: unknown;
    readonly decision_id: string;
    readonly vote_token: string;
  };
}

it("a client gets one answer, fetches the second, and votes by its own id, also after a kill", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "joust.yaml"), YAML);
  const first = await startServer(["--data", folder], folder);
  const ask = async (post: typeof first.post, id: string) => {
    const response = await post("/v1/chat/completions", chat("Why is it so?", { joust: { id } }));
    return { status: response.status, answer: (await response.json()) as Answer };
  };
  const answers = [await ask(first.post, "m1"), await ask(first.post, "m2")];
  for (const { answer } of answers) {
    expect([answer.choices.length, answer.joust.duel]).toEqual([1, "later"]);
    const headers = { "x-joust-vote-token": answer.joust.vote_token };
    const response = await fetch(`${first.url}/v1/decisions/${answer.id}/second`, { headers });
    const second = (await response.json()) as Answer;
    expect(second.choices[0]!.message.content).not.toBe(answer.choices[0]!.message.content);
  }
  const vote = await first.post("/v1/feedback", { id: "m1", winner: 1 });
  expect(await vote.json()).toMatchObject({ status: "logged" });
  // The row of a decision is written after its answer. The process is killed when it exists.
  await fetch(`${first.url}/v1/decisions/m2`);
  first.process.kill("SIGKILL");
  await first.process.end;

  const again = await startServer(["--data", folder], folder);
  const { status } = await ask(again.post, "m2");
  expect(status).toBe(409);
  const gone = await fetch(`${again.url}/v1/decisions/m2/second`);
  expect(await gone.json()).toMatchObject({ error: { code: "second_not_here" } });
  const late = await again.post("/v1/feedback", { id: "m2", rating: 1 });
  expect(await late.json()).toMatchObject({
    id: answers[1]!.answer.joust.decision_id,
    status: "logged",
  });
  const other = await ask(again.post, "m3");
  expect(other.status).toBe(200);
  again.process.kill("SIGTERM");
  expect((await again.process.end).code).toBe(0);
});

const hasPython =
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;

describe.skipIf(!hasPython)("clients/python (needs python3 of version 3.9 or newer)", () => {
  it("passes its tests against a gateway", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "joust.yaml"), YAML);
    const { url, process: server } = await startServer(["--data", folder], folder);
    const tests = spawn("python3", ["-B", "-m", "unittest", "-v", "test_joust"], {
      cwd: join(ROOT, "clients/python"),
      env: { ...process.env, JOUST_URL: url, no_proxy: "127.0.0.1" },
    });
    let output = "";
    for (const stream of [tests.stdout, tests.stderr]) {
      stream.setEncoding("utf8").on("data", (piece: string) => {
        output += piece;
      });
    }
    const [code] = await once(tests, "close");
    expect([code, output]).toEqual([0, expect.stringMatching(/\nOK\n$/)]);
    server.kill("SIGTERM");
    await server.end;
  });
});
