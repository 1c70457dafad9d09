import { conforms } from "../policy.case.ts";
import { POLICIES } from "./index.ts";

/** Policies that do not learn, and why they need not. */
const DO_NOT_LEARN: Record<string, string> = {
  random: "it is random",
  "best-fixed": "one model cannot be best in three categories",
};

for (const kind of POLICIES) {
  const learns = DO_NOT_LEARN[kind.name];
  conforms(kind, learns ? { learns } : {});
}
