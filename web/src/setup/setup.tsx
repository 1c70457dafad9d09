import { useState } from "preact/hooks";
import { session } from "../api/client.ts";
import type { AvailableModels } from "../api/models.ts";
import { Code } from "../markdown/markdown.tsx";
import { usePage } from "../page/page.ts";
import { Panel } from "../parts/panel.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { useValue } from "../state/observable.ts";
import { plural, prices } from "../text/format.ts";
import { type Example, examplesFor, FOR_REMOTE_CLIENTS } from "./examples.ts";

/** The page that shows what the gateway serves and how to use it from other programs. */
export function Setup() {
  const served = useValue(usePage().serving);
  const needsKey = useValue(session)?.required === true;
  const base = `${location.origin}/v1`;
  const router = served?.routers[0] ?? "auto";
  const examples = examplesFor({ base, router, key: needsKey ? "YOUR_KEY" : undefined });
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
          <Fact name="API key" value={needsKey ? "required" : "not required"} />
        </dl>
        <div>
          <Segmented
            label="Client"
            options={examples.map((one) => ({ value: one.name, text: one.name }))}
            value={example.name}
            onChange={setName}
          />
        </div>
        {example.isRemote && !needsKey && <Steps {...FOR_REMOTE_CLIENTS} />}
        <Steps {...example} />
        <p class="text-sm text-muted">
          All endpoints are described in{" "}
          <a href="/openapi.json" class="text-accent underline underline-offset-2">
            /openapi.json
          </a>
          .
        </p>
      </Panel>
      <Keys />
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
  const { isSandbox, routers } = serving;
  const models = serving.models.filter(({ disabled }) => !disabled);
  return (
    <Panel
      title={
        isSandbox
          ? "This is the sandbox"
          : `${plural(models.length, "model is", "models are")} served`
      }
      about={
        isSandbox
          ? `${plural(models.length, "simulated model")} with the quality and the prices of real ones. No real model is called and nothing is spent, but Joust learns from your votes in the same way. Prices: US dollars for input and output.`
          : `Routers: ${routers.join(", ")}. Prices: US dollars for input and output.`
      }
    >
      <ul class="grid gap-x-8 text-sm sm:grid-cols-2">
        {models.map(({ id, owned_by, price }) => (
          <li key={id} class="flex justify-between gap-4 border-b border-line py-1.5">
            <span class="truncate" title={id}>
              {id}
            </span>
            <span class="whitespace-nowrap text-muted tabular-nums">
              {price ? `${prices(price)} per million tokens` : owned_by}
            </span>
          </li>
        ))}
      </ul>
      {isSandbox && (
        <div class="flex flex-col gap-3 text-sm">
          <p>
            To use real models,{" "}
            <a href="#/admin" class="text-accent underline underline-offset-2">
              paste a provider key
            </a>
            , or start Joust with provider keys in the environment or with a file{" "}
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

function Keys() {
  return (
    <Panel
      title="API keys"
      about="Without keys the gateway only serves its own machine. As soon as one key exists, every request needs a key; the first one should be your own, with the scope admin."
    >
      <Code
        lang="bash"
        code={
          "npx joust keys add my-name --scopes admin,route,vote\nnpx joust keys add my-app --budget 50   # US dollars per month"
        }
      />
      <p class="text-sm">
        Or create one under{" "}
        <a href="#/admin/keys" class="text-accent underline underline-offset-2">
          Admin
        </a>
        .
      </p>
    </Panel>
  );
}
