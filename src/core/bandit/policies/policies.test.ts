import { conforms } from "../policy.case.ts";
import { POLICIES } from "./index.ts";

const NO_VOTES = "it is trained on evaluated queries only";

/** Policies that do not learn, with the reason. */
const DO_NOT_LEARN: Record<string, string> = {
  random: "it chooses at random",
  "best-fixed": "one model cannot be best in three categories",
  "zero-feedback": "it uses only the told scores",
  "static-knn": NO_VOTES,
  "static-ridge": NO_VOTES,
  "static-mlp": NO_VOTES,
  "static-matrix-factorization": NO_VOTES,
  "static-bradley-terry": NO_VOTES,
};

/** Policies that learn from votes but do not explore enough to get them. */
const DO_NOT_EXPLORE: Record<string, string> = {
  eagle: "it settles before there are N votes, and until then the N nearest votes are all votes",
  "knn-bradley-terry":
    "it settles before there are k votes, and until then the k nearest votes are all votes",
  "matrix-factorization": "on 2 of 20 seeds it settles before every category has votes",
  mixllm: "on 1 of 20 seeds it settles before every category has votes",
};

for (const kind of POLICIES) {
  conforms(kind, { learns: DO_NOT_LEARN[kind.name], explores: DO_NOT_EXPLORE[kind.name] });
}
