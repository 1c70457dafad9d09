import { useState } from "preact/hooks";
import { apiKey, keyProblem, setApiKey } from "../api/client.ts";
import type { AvailableModels } from "../api/models.ts";
import { Code } from "../markdown/markdown.tsx";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/panel.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { useValue } from "../state/observable.ts";
import { dollars } from "../text/format.ts";
import { type Example, examplesFor, FOR_REMOTE_CLIENTS } from "./examples.ts";

/** The page that shows what the gateway serves and how to use it from other programs. */
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
      <h1 class="text-2xl font-semibold tracking-tight">Setup</h1>
      {served && <Pool serving={served} />}
      <Panel
        title="Use Joust from your programs"
        about="Joust has the same API as OpenAI. Set the base URL, and use the name of the router as the model."
      >
        <dl class="grid gap-4 text-sm sm:grid-cols-3">
          <Fact name="Base URL" value={base} />
          <Fact name="Model" value={router} />
          <Fact name="API key" value={key === undefined ? "not required" : "required"} />
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
        {example.isRemote && key === undefined && <Steps {...FOR_REMOTE_CLIENTS} />}
        <Steps {...example} />
        <p class="text-sm text-muted">
          All endpoints are described in{" "}
          <a href="/openapi.json" class="text-accent underline underline-offset-2">
            /openapi.json
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

function Pool({ serving }: { serving: AvailableModels }) {
  const { isSandbox, models, routers } = serving;
  return (
    <Panel
      title={isSandbox ? "This is the sandbox" : `${models.length} models are served`}
      about={
        isSandbox
          ? `${models.length} simulated models with the quality and the prices of real ones. No real model is called and nothing is spent, but Joust learns from your votes in the same way.`
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
              {price ? `${dollars((price.input + price.output) / 2)} per million tokens` : owned_by}
            </span>
          </li>
        ))}
      </ul>
      {isSandbox && (
        <div class="flex flex-col gap-3 text-sm">
          <p>
            To use real models, start Joust with provider keys in the environment, or with a file{" "}
            <code>joust.yaml</code> in its folder:
          </p>
          <Code lang="bash" code={START} />
          <Code lang="yaml" code={YAML} />
          <p class="text-muted">
            Or stay in the sandbox and let simulated voters vote. Switch them on in the{" "}
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

const START = `OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-... npx joust serve`;

const YAML = `providers:
  local: {url: "http://localhost:11434/v1"}   # Ollama, vLLM or any other server with OpenAI's API
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
      title="API keys"
      about="Without keys the gateway only serves its own machine. As soon as one key exists, every request needs a key."
    >
      <Code lang="bash" code="npx joust keys add my-app" />
      <div class="flex flex-wrap gap-2">
        <Button
          onClick={() => keyProblem.set("This browser will use the key for all its requests.")}
        >
          {hasKey ? "Use another key" : "Use a key in this browser"}
        </Button>
        {hasKey && <Button onClick={() => setApiKey(undefined)}>Remove the key</Button>}
      </div>
    </Panel>
  );
}
