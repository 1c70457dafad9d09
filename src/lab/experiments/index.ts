/** The paper's experiments, in its order, and its claims. */
import type { Suite } from "../reproduce/experiment.ts";
import { claims } from "./claims/claims.ts";
import { convergence } from "./convergence.ts";
import { mixinstruct } from "./mixinstruct.ts";
import { mmlu } from "./mmlu.ts";
import { routerbench } from "./routerbench.ts";
import { settings } from "./settings.ts";
import { unseen } from "./unseen.ts";

const suite: Suite = {
  experiments: [mmlu, routerbench, convergence, unseen, mixinstruct, settings],
  claims,
};

export default suite;
