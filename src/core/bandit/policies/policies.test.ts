import { conforms } from "../policy.case.ts";
import { POLICIES } from "./index.ts";

/** Policies that do not learn, with the reason. */
const DO_NOT_LEARN: Record<string, string> = {
  random: "it is random",
  "best-fixed": "one model cannot be best in three categories",
  "zero-feedback": "it knows what it is told and nothing else",
};

/** Policies that learn from votes but do not explore enough to get them. */
const DO_NOT_EXPLORE: Record<string, string> = {
  eagle: "the N nearest votes are all there are until N have come, and it settles before",
  "knn-bradley-terry":
    "the k nearest votes are all there are until k have come, and it settles before",
  "matrix-factorization": "on 2 of 20 seeds it settles before every category has its votes",
  mixllm: "on 1 of 20 seeds it settles before every category has its votes",
};

for (const kind of POLICIES) {
  conforms(kind, { learns: DO_NOT_LEARN[kind.name], explores: DO_NOT_EXPLORE[kind.name] });
}
