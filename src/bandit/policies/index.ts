/** Every policy that can be named on the command line, simplest first. */
import type { PolicyKind } from "../policy.ts";
import { bestFixed, oracle } from "./hindsight.ts";
import { random } from "./random.ts";
import { zeroFeedback } from "./zero-feedback.ts";

export const POLICIES: readonly PolicyKind[] = [random, bestFixed, oracle, zeroFeedback];
