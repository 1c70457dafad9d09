import { join, resolve } from "node:path";
import { readScores } from "../../core/input/scores.ts";
import { Profile } from "./profile.ts";

const SCORES = resolve(import.meta.dirname, "../../../data/scores");

/** The true qualities of the sandbox's models. */
export const profile = await Profile.read(join(SCORES, "sandbox.csv"));

/** The paper's candidates: all models of its table except gpt-4. */
const { models } = await readScores(join(SCORES, "routerbench.csv"));
export const paperProfile = new Profile(
  new Map([...models].filter(([model]) => model !== "gpt-4")),
);
