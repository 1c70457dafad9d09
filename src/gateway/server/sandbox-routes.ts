import { Truth, Voters, VotersSettings } from "../../api/sandbox.ts";
import type { Caller } from "../access/access.ts";
import type { Serving } from "../routing/serving.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type SandboxVoters, SLIP } from "../sandbox/voters.ts";
import { HttpError } from "../wire/http-error.ts";
import { type App, contract } from "./app.ts";

export interface SandboxParts {
  readonly serving: () => Serving;
  readonly voters: SandboxVoters;
}

export function addSandboxRoutes(app: App, { serving, voters }: SandboxParts): void {
  app.get(
    "/v1/sandbox/truth",
    contract({
      summary: "Shows the true quality and cost of the sandbox's models.",
      scope: "route",
      response: Truth,
      errors: [404],
    }),
    ({ caller }) => truthOf(sandboxOf(serving()), caller),
  );
  app.get(
    "/v1/sandbox/voters",
    contract({
      summary: "Shows the simulated voters.",
      scope: "route",
      response: Voters,
      errors: [404],
    }),
    async ({ caller }) => {
      sandboxOf(serving());
      const { best_model, ...state } = await voters.state();
      const isNamed = best_model !== null && mayUse(caller, best_model);
      return { ...state, best_model: isNamed ? best_model : null };
    },
  );
  app.post(
    "/v1/sandbox/voters",
    contract({
      summary: "Starts or stops the simulated voters.",
      scope: "admin",
      body: VotersSettings,
      response: Voters,
      errors: [404],
    }),
    async ({ body }) => {
      sandboxOf(serving());
      await voters.set(body);
      return voters.state();
    },
  );
}

function sandboxOf({ sandbox }: Serving): Sandbox {
  if (sandbox) return sandbox;
  throw new HttpError(404, "this gateway serves no model of the sandbox", {
    hint: "start joust without API keys of providers and without models in joust.yaml",
    code: "no_sandbox",
  });
}

/** Whether a key with a list of models may know of this one. */
function mayUse({ models }: Pick<Caller, "models">, model: string): boolean {
  return models?.includes(model) ?? true;
}

function truthOf({ profile }: Sandbox, caller: Pick<Caller, "models">): Truth {
  const { models, categories } = profile;
  return {
    object: "truth",
    categories,
    // An error turns a vote for the better answer into one for the other.
    visible: 1 - 2 * SLIP,
    models: models
      .filter((model) => mayUse(caller, model))
      .map((model) => ({
        model,
        quality: categories.map((category) => profile.quality(model, category)),
        cost: categories.map((category) => profile.cost(model, category)),
      })),
  };
}
