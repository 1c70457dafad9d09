import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { joust, newFolder, ROOT } from "./joust.fixture.ts";
import { chat, served, startServer } from "./serve.fixture.ts";

/** Size limit of files in blocks of 512 bytes. To a database it looks like a full disk. */
const BLOCKS = 3000;
const FAST = "sandbox: {speed: 1000}\n";

it.skipIf(process.platform === "win32")(
  "on a full disk, requests are answered, votes get a 503, and acknowledged votes are kept",
  async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "joust.yaml"), FAST);
    const main = join(ROOT, "bin/joust.js");
    const serve = `"${process.execPath}" "${main}" serve --port 0 --data .`;
    // With SIGXFSZ ignored, a write beyond the limit fails with EFBIG.
    const limited = spawn("sh", ["-c", `trap '' XFSZ; ulimit -f ${BLOCKS}; exec ${serve}`], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { post } = await served(limited);
    const acknowledged: string[] = [];
    let refused: Response | undefined;
    for (let i = 0; !refused && i < 5000; i++) {
      const duel = await post(
        "/v1/chat/completions",
        chat(`Question ${i}`, { joust: { duel: true } }),
      );
      expect(duel.status).toBe(200);
      const { id } = (await duel.json()) as { id: string };
      const vote = await post("/v1/feedback", { id, winner: i % 2 });
      if (vote.status === 200) acknowledged.push(id);
      else refused = vote;
    }
    expect(refused?.status).toBe(503);
    expect(Number(refused!.headers.get("retry-after"))).toBeGreaterThan(0);
    const { error } = (await refused!.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("store_unavailable");
    expect(acknowledged.length).toBeGreaterThan(20);
    // Clients that do not vote notice nothing.
    expect((await post("/v1/chat/completions", chat("Still there?"))).status).toBe(200);
    const ended = once(limited, "exit");
    limited.kill("SIGKILL");
    await ended;
    expect(statSync(join(folder, "joust.db")).size).toBeGreaterThan(0);

    // Without the limit all acknowledged votes are there, and the log can be replayed.
    const again = await startServer(["--data", "."], folder);
    for (const id of acknowledged) {
      const decision = await fetch(`${again.url}/v1/decisions/${id}`);
      expect(((await decision.json()) as { votes: unknown[] }).votes).toHaveLength(1);
    }
    again.process.kill("SIGTERM");
    await again.process.end;
    const replayed = await joust("replay", "--data", folder, "--json");
    const { snapshot, votes } = JSON.parse(replayed.stdout);
    expect(snapshot?.matches ?? true).toBe(true);
    expect(votes.votes).toBe(acknowledged.length);
  },
);
