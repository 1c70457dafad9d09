/** Instructions for one client of the gateway. */
export interface Example {
  readonly name: string;
  readonly lang: string;
  readonly about: string;
  readonly code: string;
  /** Whether the client usually runs on another machine or in a container, so that it needs an API key. */
  readonly isRemote?: boolean;
}

/** The gateway that the examples refer to. */
export interface Target {
  /** URL that ends in /v1. */
  readonly base: string;
  readonly router: string;
  /** Placeholder for the API key. Undefined: the gateway needs none. */
  readonly key: string | undefined;
}

export function examplesFor({ base, router, key }: Target): readonly Example[] {
  const shown = key ?? "none-needed";
  return [
    {
      name: "curl",
      lang: "bash",
      about: "Requests an answer, and votes on it.",
      code: `curl ${base}/chat/completions \\
  -H 'content-type: application/json' \\${key === undefined ? "" : `\n  -H 'authorization: Bearer ${key}' \\`}
  -d '{"model": "${router}", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}'

# For a duel (two answers to choose from), add this to the request:
#   "joust": {"duel": true}

# Vote on a duel with "winner": 0, 1, "tie" or "both_bad"; on a single answer with "rating": -1 to 1
curl ${base}/feedback \\
  -H 'content-type: application/json' \\${key === undefined ? "" : `\n  -H 'authorization: Bearer ${key}' \\`}
  -d '{"id": "ID_OF_THE_ANSWER", "winner": 0}'`,
    },
    {
      name: "Python",
      lang: "python",
      about: "The official OpenAI client: pip install openai",
      code: `from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${shown}")
answer = client.chat.completions.create(
    model="${router}",
    messages=[{"role": "user", "content": "Why is the sky blue?"}],
    extra_body={"joust": {"cost_quality_tradeoff": 3}},
)
print(answer.model, answer.choices[0].message.content)

# Rate the answer from -1 (bad) to 1 (good)
client.post("/feedback", cast_to=object, body={"id": answer.id, "rating": 1})`,
    },
    {
      name: "TypeScript",
      lang: "typescript",
      about: "The official OpenAI client: npm install openai",
      code: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}", apiKey: "${shown}" });
const answer = await client.chat.completions.create({
  model: "${router}",
  messages: [{ role: "user", content: "Why is the sky blue?" }],
});
console.log(answer.model, answer.choices[0]?.message.content);

// Rate the answer from -1 (bad) to 1 (good)
await client.post("/feedback", { body: { id: answer.id, rating: 1 } });`,
    },
    {
      name: "Open WebUI",
      lang: "bash",
      isRemote: true,
      about:
        "Open Admin Settings, Connections, OpenAI API, and add the base URL and the key. Or set them when you start the container:",
      code: `docker run -p 3000:8080 \\
  -e OPENAI_API_BASE_URL=${inContainer(base)} \\
  -e OPENAI_API_KEY=YOUR_KEY \\
  --add-host host.docker.internal:host-gateway \\
  ghcr.io/open-webui/open-webui:main
# Then select the model "${router}"`,
    },
    {
      name: "LibreChat",
      lang: "yaml",
      isRemote: true,
      about:
        "Add this to librechat.yaml. With Docker on Linux, its service also needs extra_hosts: [host.docker.internal:host-gateway]. Without Docker, use the base URL above.",
      code: `version: 1.2.8
endpoints:
  custom:
    - name: Joust
      apiKey: YOUR_KEY
      baseURL: ${inContainer(base)}
      models:
        default: [${router}]
        fetch: true
      titleConvo: true
      titleModel: ${router}
      modelDisplayLabel: Joust`,
    },
    {
      name: "Cursor and others",
      lang: "",
      about:
        "Any client that lets you set the base URL for OpenAI works: Continue, Cline, aider, Zed. Cursor (Settings, Models, Override OpenAI Base URL) calls the gateway from its own servers, so it needs a public https URL and a key.",
      code: `Base URL   ${base}
API key    ${shown}
Model      ${router}`,
    },
  ];
}

/** Instructions that make the gateway reachable for clients on other machines. */
export const FOR_REMOTE_CLIENTS: Example = {
  name: "remote clients",
  lang: "bash",
  about:
    "This client usually runs in a container, which counts as another machine. Without keys the gateway only serves its own machine. So add a key first, and let the gateway listen on all addresses:",
  code: `npx joust keys add my-app   # prints YOUR_KEY; it is shown only once
# Add this to joust.yaml, then restart the gateway:
#   server: {host: 0.0.0.0}`,
};

/** The URL as seen from a container: there the host machine has another name. */
function inContainer(base: string): string {
  return base.replace(/\/\/(localhost|127\.0\.0\.1)/, "//host.docker.internal");
}
