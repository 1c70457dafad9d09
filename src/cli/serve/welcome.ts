import type { ServingSummary } from "../../gateway/processes/messages.ts";

/** The text that `joust serve` prints at its start: what is served, and how to try it. */
export function welcome(
  url: string,
  serving: ServingSummary,
  file: string | undefined,
  data: string,
): string {
  const { routers } = serving;
  const key = serving.isOpen ? "" : " -H 'authorization: Bearer YOUR_KEY'";
  const headers = `-H 'content-type: application/json'${key}`;
  const messages = '"messages": [{"role": "user", "content": "Why is the sky blue?"}]';
  if (serving.invalid) return invalidText(url, serving.invalid);
  return `Joust serves ${url}
  models   ${modelsLine(serving, file, url)}
  routers  ${routers.join(", ")} (send one as "model"; votes are stored in ${data})

Send a request:
  curl ${url}/v1/chat/completions ${headers} \\
    -d '{"model": "${routers[0]}", ${messages}}'
Ask for a duel, then vote for its first answer:
  curl ${url}/v1/chat/completions ${headers} \\
    -d '{"model": "${routers[0]}", "joust": {"duel": true}, ${messages}}'
  curl ${url}/v1/feedback ${headers} -d '{"id": "ID OF THE RESPONSE", "winner": 0}'
`;
}

/** The text of a gateway that cannot serve the newest configuration in the store. */
function invalidText(url: string, invalid: NonNullable<ServingSummary["invalid"]>): string {
  const { revision, served, problem, hint } = invalid;
  const instead =
    served === 0
      ? "no earlier revision can be served either; without keys in the environment, requests get an error"
      : `revision ${served} is served instead`;
  return `Joust listens on ${url}, but revision ${revision} of the configuration in the store cannot be served:
  ${problem}
  hint: ${hint}
  ${instead}

Correct the configuration at ${url}/#/admin, or remove the cause and start again.
`;
}

function modelsLine(
  { from, models: names }: ServingSummary,
  file: string | undefined,
  url: string,
): string {
  const list = `${names.slice(0, 10).join(", ")}${names.length > 10 ? ", ..." : ""}`;
  switch (from) {
    case "file":
      return `${names.length} from ${file ?? "the configuration in the store"}: ${list}`;
    case "environment":
      return `${names.length} from API keys in the environment: ${list}`;
    case "sandbox":
      return `a sandbox of ${names.length} simulated models: ${list}\n           (to serve real models, enter a provider key at ${url}/#/admin, or set OPENAI_API_KEY or another key)`;
  }
}
