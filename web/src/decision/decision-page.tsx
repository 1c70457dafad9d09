import type { Decision } from "../../../src/client.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Loading } from "../parts/loading.tsx";
import { Panel } from "../parts/panel.tsx";
import { WinBar } from "../parts/win-bar.tsx";
import { capital, clockTime, percent } from "../text/format.ts";
import { topicOf } from "../text/topics.ts";
import { AnswersTable } from "./answers-table.tsx";
import { Candidates } from "./candidates.tsx";
import { inWords, votesInWords } from "./in-words.ts";
import { useDecision } from "./use-decision.ts";

/** The page of one decision. */
export function DecisionPage({ id }: { id: string }) {
  const { decision, problem } = useDecision(id, "read", () => true);
  return (
    <div class="mx-auto flex w-full max-w-5xl flex-col gap-4 px-3 py-6 sm:px-6">
      <p class="text-sm">
        <a href="#/requests" class="text-muted underline underline-offset-2 hover:text-ink">
          {"\u2190"} Requests
        </a>
      </p>
      <h1 class="text-2xl font-semibold tracking-tight">Decision</h1>
      {problem !== undefined && !decision && <p class="text-bad">{problem}</p>}
      {!decision && problem === undefined && <Loading />}
      {decision && <Details decision={decision} />}
    </div>
  );
}

function Details({ decision }: { decision: Decision }) {
  const { models, win_probability: win, now, runner_up: runnerUp, duel } = decision;
  const opponent = duel ? models?.[1] : runnerUp;
  return (
    <>
      <Panel title={inWords(decision)} about={origin(decision)}>
        {decision.prompt !== undefined && (
          <blockquote class="max-h-60 overflow-auto rounded-xl bg-sunken px-4 py-3 whitespace-pre-wrap">
            {decision.prompt}
          </blockquote>
        )}
        {win !== undefined && models && opponent !== undefined && (
          <WinBar
            a={models[0]!}
            b={opponent}
            before={win}
            after={now?.win_probability}
            since="Since then"
          />
        )}
        {decision.reasons && (
          <ul class="flex list-disc flex-col gap-1 pl-5 text-sm">
            {decision.reasons.map((reason) => (
              <li key={reason}>{reasonInWords(reason, decision)}</li>
            ))}
          </ul>
        )}
      </Panel>
      {decision.scores && <Candidates decision={decision} />}
      <div class="grid gap-4 md:grid-cols-2">
        {decision.categories && <Categories categories={decision.categories} />}
        <Votes decision={decision} />
      </div>
      <AnswersTable decision={decision} />
      <Reproduction decision={decision} />
    </>
  );
}

/** A reason as the gateway states it, with the display names of categories. */
function reasonInWords(reason: string, { categories = {} }: Decision): string {
  const named = Object.keys(categories).reduce(
    (text, name) => text.replace(` ${name} `, ` ${topicOf(name)} `),
    reason,
  );
  // The name of a model at the beginning stays as it is.
  return `${/^(a|the|no|chosen) /.test(named) ? capital(named) : named}.`;
}

function origin({ at, router, mode, session_id: session, key }: Decision): string {
  const parts = [clockTime(Date.parse(at)), `router ${router}`];
  if (mode !== "apply") parts.push(mode);
  if (key !== undefined) parts.push(`API key ${key}`);
  if (session !== undefined) parts.push(`session ${session}`);
  return parts.join(" · ");
}

function Categories({ categories }: { categories: Readonly<Record<string, number>> }) {
  const sorted = Object.entries(categories).toSorted(([, a], [, b]) => b - a);
  return (
    <Panel title="Categories of the prompt" about="How much the prompt resembles each category.">
      <ul class="flex flex-col gap-2.5 text-sm">
        {sorted.map(([name, share]) => (
          <li key={name} class="flex items-center gap-3">
            <span class="w-32 truncate" title={name}>
              {topicOf(name)}
            </span>
            <span class="h-2 flex-1 rounded-full bg-sunken" aria-hidden="true">
              <span
                class="block h-full rounded-full bg-accent"
                style={{ width: `${100 * share}%` }}
              />
            </span>
            <span class="w-10 text-right tabular-nums">{percent(share)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Votes({ decision }: { decision: Decision }) {
  const { votes } = decision;
  return (
    <Panel title="Votes">
      {votes.length === 0 ? (
        <p class="text-sm text-muted">There are no votes yet.</p>
      ) : (
        <ul class="flex flex-col gap-2 text-sm">
          {votes.map((vote) => (
            <li key={vote.position} class="flex flex-wrap justify-between gap-x-4">
              {vote.comment === undefined ? (
                <span>{votesInWords({ ...decision, votes: [vote] })}</span>
              ) : (
                <q class="whitespace-pre-wrap">{vote.comment}</q>
              )}
              <span class="text-muted">
                {vote.source === "user" ? "" : `${vote.source}, `}
                {clockTime(Date.parse(vote.at))}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Taught decision={decision} />
    </Panel>
  );
}

/** The change of the estimate since the decision, by the newest posterior. */
function Taught({ decision }: { decision: Decision }) {
  const { votes, now, win_probability: before, models, duel, runner_up: runnerUp } = decision;
  const last = Math.max(0, ...votes.filter((vote) => !vote.comment).map((vote) => vote.position));
  const rival = duel ? models?.[1] : runnerUp;
  if (last === 0 || !now || !models || before === undefined || rival === undefined) return null;
  if (now.posterior_version < last) {
    return <p class="text-sm text-muted">The router has not learned from the last vote yet.</p>;
  }
  return (
    <p class="text-sm">
      These votes and all others since the decision moved the probability that {models[0]} is
      preferred to {rival} on such a prompt from {percent(before)} to {percent(now.win_probability)}
      .
    </p>
  );
}

/** The numbers with which the decision can be reproduced. */
function Reproduction({ decision }: { decision: Decision }) {
  const { propensity, seed, lambda, tradeoff, posterior_version: version } = decision;
  const numbers = [
    ["Propensity", propensity !== undefined && percent(propensity), "probability of this choice"],
    ["Trade-off", tradeoff, "0 (best quality) to 10 (lowest cost)"],
    [
      "Weight of the price",
      lambda !== undefined && `${Number((50 * lambda).toPrecision(3))} wins per dollar`,
      "wins of 100 that one dollar per request is worth (50 lambda)",
    ],
    ["Seed", seed, "of the random numbers"],
    ["Posterior version", version, "position of the last vote that was learned"],
  ].filter(([, value]) => value !== undefined && value !== false);
  const json = JSON.stringify(decision, null, 2);
  return (
    <Panel
      title="Reproduce this decision"
      about="With these numbers and the posterior of that time, the policy makes the same choice again."
    >
      <dl class="grid grid-cols-2 gap-x-6 gap-y-3 text-sm sm:grid-cols-3">
        {numbers.map(([name, value, meaning]) => (
          <div key={name}>
            <dt class="text-muted">{name}</dt>
            <dd class="tabular-nums">{value}</dd>
            <dd class="text-xs text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
      <details class="text-sm">
        <summary class="text-muted hover:text-ink">
          Response of <code>GET /v1/decisions/{decision.id}</code>
        </summary>
        <div class="relative mt-2">
          <div class="absolute top-1 right-1">
            <CopyButton text={json} what="JSON" />
          </div>
          <pre
            tabIndex={0}
            class="max-h-96 overflow-auto rounded-xl bg-sunken p-3 text-xs leading-relaxed"
          >
            {json}
          </pre>
        </div>
      </details>
    </Panel>
  );
}
