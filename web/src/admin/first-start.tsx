import { useEffect, useRef, useState } from "preact/hooks";
import type { ProviderTest } from "../../../src/client.ts";
import { joust, sentenceOf } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Form, useAction } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { plural } from "../text/format.ts";
import { useManaged } from "./managed.ts";
import { TestReport } from "./test-report.tsx";

/** Turns the key of a provider into a router whose models answer. Shown while the sandbox is served. */
export function FirstStart() {
  const { configuration, isEditable, adopt } = useManaged();
  const [key, setKey] = useState("");
  const [provider, setProvider] = useState("");
  const known = useRead(() => joust.providers()).data?.data ?? [];
  const { run, isBusy, problem, result } = useAction<{
    readonly test: ProviderTest;
    readonly models: readonly string[];
  }>(sentenceOf);
  const { test, models = [] } = result ?? {};
  const field = useRef<HTMLDivElement>(null);
  // On a touch screen the focus would open the keyboard over the page.
  useEffect(() => {
    if (!matchMedia("(pointer: coarse)").matches) field.current?.querySelector("input")?.focus();
  }, []);
  if (test?.ok) return <Done models={models} test={test} />;
  if (configuration.from !== "sandbox" || !isEditable) return null;
  const start = async () => {
    const found = await joust.setup({
      based_on: configuration.revision,
      key,
      ...(provider !== "" && { provider }),
    });
    if (found.test.ok) {
      setKey("");
      adopt(found.configuration);
    }
    return found;
  };
  return (
    <div class="grid items-start gap-4 md:grid-cols-[3fr_2fr]">
      <Panel
        title="Use real models"
        about="Paste the key of a provider. Joust recognises the provider, tests the key and serves its usual models."
      >
        <Form
          class="flex flex-col gap-3"
          onSubmit={() => !isBusy && key.trim() !== "" && run(start)}
        >
          <div ref={field}>
            <TextField
              label="Provider key"
              type="password"
              value={key}
              onChange={setKey}
              placeholder="sk-..."
              about="The key is stored encrypted and sent only to the provider."
            />
          </div>
          <SelectField
            label="Provider"
            value={provider}
            onChange={setProvider}
            options={[
              { value: "", text: "Recognise by the key" },
              ...known
                .filter((one) => !one.is_local)
                .map(({ name }) => ({ value: name, text: name })),
            ]}
          />
          <Problem text={problem} />
          <Button
            variant="primary"
            type="submit"
            class="self-start"
            disabled={isBusy || key.trim() === ""}
          >
            {isBusy ? "Testing the key\u2026" : "Test and use this key"}
          </Button>
        </Form>
        {test && <TestReport test={test} />}
        {!configuration.can_store_secrets && <NoStoreKey />}
      </Panel>
      <Panel
        title="Or stay in the sandbox"
        about="Simulated models with the prices of real ones. No real model is called, and nothing is spent."
      >
        <a href="#/" class="text-sm text-accent underline underline-offset-2">
          Ask a question in the arena
        </a>
      </Panel>
    </div>
  );
}

function Done({ models, test }: { models: readonly string[]; test: ProviderTest }) {
  const next = useRef<HTMLAnchorElement>(null);
  useEffect(() => next.current?.focus(), []);
  return (
    <Panel
      title={`${plural(models.length, "model is", "models are")} served`}
      about={`The router auto chooses among ${models.join(", ")}.`}
    >
      <a
        ref={next}
        href="#/"
        class="inline-flex min-h-10 items-center self-start rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent"
      >
        Ask a question
      </a>
      <TestReport test={test} />
    </Panel>
  );
}

/** Says that no key can be stored, and what to do. */
export function NoStoreKey() {
  return (
    <p class="text-sm text-warn">
      Several nodes share this database, and no key to encrypt secrets is set. Set{" "}
      <code>JOUST_STORE_KEY</code> on each node (<code>openssl rand -hex 32</code>) and start them
      again.
    </p>
  );
}
