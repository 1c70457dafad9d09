import type { ProviderTest } from "../../../src/client.ts";
import { duration } from "../text/format.ts";

const NAMES = { address: "Address", key: "Key", model: "Model" };

/** Result of the test of a provider, step by step. */
export function TestReport({ test }: { test: ProviderTest }) {
  return (
    <div role="status">
      <ul class="flex flex-col gap-1.5 text-sm" aria-label={`Test of ${test.provider}`}>
        {test.steps.map(({ what, model, ok, detail, ms }) => (
          <li key={`${what} ${model ?? ""}`} class="flex min-w-0 gap-2">
            <span class={`shrink-0 font-medium ${ok ? "text-good" : "text-bad"}`}>
              {ok ? "Works" : "Failed"}
            </span>
            <span class="min-w-0">
              {model === undefined ? NAMES[what] : <code class="break-all">{model}</code>}: {detail}
              {ok && ms !== undefined && ` after ${duration(ms)}`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
