import type { LearningCurve, Stats, Tradeoff } from "../../../src/client.ts";
import { Hint } from "../parts/hint.tsx";
import {
  type Assessment,
  HINTS,
  learningAssessment,
  savingAssessment,
  trustAssessment,
} from "./assessment.ts";

/** Short answers to the three most important questions about the router. */
export function AssessmentCards({
  stats,
  learning,
  tradeoff,
}: {
  stats: Stats;
  learning: LearningCurve | undefined;
  tradeoff: Tradeoff | undefined;
}) {
  const cards = [
    {
      question: "Is it learning?",
      assessment: learningAssessment(stats, learning),
      hint: HINTS.learning,
    },
    { question: "Is it saving?", assessment: savingAssessment(stats), hint: HINTS.saving },
    {
      question: "Can I trust it?",
      assessment: trustAssessment(stats, tradeoff),
      hint: HINTS.trust,
    },
  ];
  return (
    <div class="grid gap-4 md:grid-cols-3">
      {cards.map((card) => (
        <Card key={card.question} {...card} />
      ))}
    </div>
  );
}

const TONES = { good: "bg-good", bad: "bg-bad", open: "bg-strong" } as const;
const TONE_WORDS = { good: "yes", bad: "no", open: "not clear yet" } as const;

function Card({
  question,
  assessment,
  hint,
}: {
  question: string;
  assessment: Assessment;
  hint: string;
}) {
  const { figure, tone, caption, sentence } = assessment;
  return (
    <section class="flex flex-col gap-2 rounded-2xl border border-line bg-surface p-4 sm:p-5">
      <h2 class="flex items-center gap-2 text-sm text-muted">
        <span class={`size-2 rounded-full ${TONES[tone]}`} aria-hidden="true" />
        {question}
        <span class="sr-only">{TONE_WORDS[tone]}</span>
        <Hint about={question} text={hint} />
      </h2>
      <p class="flex flex-wrap items-baseline gap-x-2.5">
        <span class="text-3xl font-semibold tracking-tight tabular-nums" title={hint}>
          {figure}
        </span>
        <span class="text-sm text-muted">{caption}</span>
      </p>
      <p class="text-sm">{sentence}</p>
    </section>
  );
}
