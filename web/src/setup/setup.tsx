import { useState } from "preact/hooks";
import { apiKey, keyProblem, setApiKey } from "../api/client.ts";
import type { Serving } from "../api/models.ts";
import { dollars } from "../format.ts";
import { Code } from "../markdown/markdown.tsx";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/panel.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { usePage } from "../shell/page.ts";
import { useValue } from "../state/observable.ts";
import { type Example, examplesFor, FOR_OTHERS } from "./examples.ts";

/** What is on, and how to use it from elsewhere. */
export function Setup() {
  const served = useValue(usePage().serving);
  const key = useValue(apiKey);
  const base = `${location.origin}/v1`;
  const router = served?.routers[0] ?? "auto";
  const examples = examplesFor({ base, router, key: key === undefined ? undefined : "YOUR_KEY" });
  const [name, setName] = useState(examples[0]!.name);
  const example = examples.find((one) => one.name === name) ?? examples[0]!;
  return (
    <div class="mx-auto flex w-full max-w-5xl flex-col gap-4 px-3 py-6 sm:px-6">
      <h1 class="text-2xl font-semibold tracking-tight">Set-up</h1>
      {served && <Pool serving={served} />}
      <Panel
        title="Use it from anywhere"
        about="It speaks OpenAI's interface: change the base address, and name the router as the model."
      >
        <dl class="grid gap-4 text-sm sm:grid-cols-3">
          <Fact name="Base address" value={base} />
          <Fact name="Model" value={router} />
          <Fact name="API key" value={key === undefined ? "none needed" : "needed"} />
        </dl>
        <div class="-mx-1 overflow-x-auto p-1">
          <div class="w-max">
            <Segmented
              label="Client"
              options={examples.map((one) => ({ value: one.name, text: one.name }))}
              value={example.name}
              onChange={setName}
            />
          </div>
        </div>
        {example.isElsewhere && key === undefined && <Steps {...FOR_OTHERS} />}
        <Steps {...example} />
        <p class="text-sm text-muted">
          Everything else is in{" "}
          <a href="/openapi.json" class="text-accent underline underline-offset-2">
            the description of the interface
          </a>
          .
        </p>
      </Panel>
      <Keys hasKey={key !== undefined} />
    </div>
  );
}

function Steps({ about, code, lang }: Example) {
  return (
    <>
      <p class="text-sm">{about}</p>
      <Code code={code} lang={lang} />
    </>
  );
}

function Pool({ serving }: { serving: Serving }) {
  const { isSandbox, models, routers } = serving;
  return (
    <Panel
      title={isSandbox ? "The sandbox is on" : `${models.length} models are on`}
      about={
        isSandbox
          ? `${models.length} simulated models with the qualities and prices of real ones. No model is asked and nothing is spent; votes are learnt as they would be.`
          : `Routers: ${routers.join(", ")}.`
      }
    >
      <ul class="grid gap-x-8 text-sm sm:grid-cols-2">
        {models.map(({ id, owned_by, price }) => (
          <li key={id} class="flex justify-between gap-4 border-b border-line py-1.5">
            <span class="truncate" title={id}>
              {id}
            </span>
            <span class="whitespace-nowrap text-muted tabular-nums">
              {price ? `${dollars((price.input + price.output) / 2)} a million tokens` : owned_by}
            </span>
          </li>
        ))}
      </ul>
      {isSandbox && (
        <div class="flex flex-col gap-3 text-sm">
          <p>
            For real models, start it with keys in the environment, or with a{" "}
            <code>joust.yaml</code> beside it:
          </p>
          <Code lang="bash" code={START} />
          <Code lang="yaml" code={YAML} />
          <p class="text-muted">
            Or stay here and let simulated people vote: the switch is on the{" "}
            <a href="#/dashboard" class="text-accent underline underline-offset-2">
              dashboard
            </a>
            .
          </p>
        </div>
      )}
    </Panel>
  );
}

const START = `OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-... npm start`;

const YAML = `providers:
  local: {url: "http://localhost:11434/v1"}   # Ollama, vLLM, anything that speaks OpenAI's interface
models:
  gpt-5-mini: {provider: openai}
  claude-haiku-4-5: {provider: anthropic}
  llama3.3: {provider: local}
routers:
  auto: {cost_quality_tradeoff: 3}`;

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt class="text-muted">{name}</dt>
      <dd class="font-mono break-all">{value}</dd>
    </div>
  );
}

function Keys({ hasKey }: { hasKey: boolean }) {
  return (
    <Panel
      title="Keys"
      about="Without keys the gateway serves this machine alone. With the first key every request needs one."
    >
      <Code lang="bash" code="npx joust keys add my-app" />
      <div class="flex flex-wrap gap-2">
        <Button onClick={() => keyProblem.set("Another key for this browser.")}>
          {hasKey ? "Use another key here" : "Use a key here"}
        </Button>
        {hasKey && <Button onClick={() => setApiKey(undefined)}>Forget the key</Button>}
      </div>
    </Panel>
  );
}
