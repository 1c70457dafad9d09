export type { Decision, DecisionAnswer, Score } from "../../../src/client.ts";
