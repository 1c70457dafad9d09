import { join, resolve } from "node:path";
import { Profile } from "./profile.ts";

/** The true qualities of the sandbox's models. */
const DATA = resolve(import.meta.dirname, "../../../data");
export const profile = await Profile.read(join(DATA, "scores", "routerbench.csv"));
