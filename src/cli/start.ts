import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { JOUST } from "./invocation.ts";
import { runSimulate } from "./simulate.ts";

const DATA = fileURLToPath(new URL("../../data/", import.meta.url));
const OUT = join("out", "first-run");

/** Enough to see the curves part, and done in seconds: 400 rounds of FGTS.CDB take about two. */
const ROUNDS = 400;

const WELCOME = `Welcome to Joust, a router for LLMs that learns from duels.

There is no gateway to start yet, so here is a first simulation: 140 questions of seven kinds are
routed among ten models. Each policy is told the paper's table of their quality (without gpt-4), which
is here only roughly true, as such tables are. Each round two models answer, a simulated voter says
which answer is better, and five policies learn from that in their own ways, or not at all.
It takes some ten seconds.

`;

const NEXT = `
Open ${join(OUT, "report.html")} in a browser: it shows the curves and says how to read them.
Then try your own data:  ${JOUST} simulate --help
`;

export function startCommand(): Command {
  return new Command("start")
    .summary("a first look: a short simulation on the project's own questions")
    .description(`A short simulation on the project's own questions; its report is in ${OUT}.`)
    .helpOption("-h, --help", "this text")
    .addHelpText("after", "\nExample:\n  npm start\n")
    .action(async () => {
      process.stdout.write(WELCOME);
      const code = await runSimulate(join(DATA, "queries.jsonl"), {
        scores: join(DATA, "scores", "routerbench.csv"),
        exclude: ["gpt-4"],
        rounds: ROUNDS,
        truth: 0.1,
        voteScale: 10,
        out: OUT,
        overwrite: true,
      });
      if (code === 0) process.stdout.write(NEXT);
      process.exitCode = code;
    });
}
