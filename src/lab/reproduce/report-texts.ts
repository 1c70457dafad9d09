/** The fixed paragraphs of the report, as HTML. */

/** Explanations that apply to all curves. The lists of curve-methods.ts describe the differences between curves. */
export const EXPLANATIONS = [
  `<b>Names.</b> MiniLM_E4_Excel_perf_cost_exp is the encoder MiniLM, fine-tuned for 4 epochs on
the offline queries, model embeddings by the weighting Excel_perf_cost, and the group: exp is
fine-tuned, ctrl is the original encoder, ideal is told of the benchmark that is unseen to
the others. E0 is the original encoder. MiniLM_5 has model embeddings from a prompt with five example queries. The policy of
all these curves is FGTS.CDB. static is this program's own table of word vectors, which the paper does
not have. An <i>original</i> encoder is one that is not fine-tuned. The setting of a curve is the
form of its queries and what else was changed.`,
  `<b>Figures.</b> One line per curve, the mean over runs, with its name and its regret at the end.
The paper's name of a curve appears when you point at it. Bands are 95% intervals of the mean by
Student's t, for joust and for fine-tuned curves without a variant, since more bands would hide
each other; the tables have every interval. A band that is wider than the panel is cut off. Circles at the right edge are policies whose regret
grows evenly: random, the best fixed model, and the best theta of the curves' features: the one that full
information gives, by the likelihood of all votes or, <i>by regret</i>, by minimizing the regret itself. An arrow marks a value above the axis.`,
  `<b>Regret</b> is the utility of the best model for each query minus that of the chosen models (in
a duel the mean of the two), summed over rounds. A round is a query. The vote scale s decides how
noisy votes are: P(a beats b) = sigmoid(s (utility of a - utility of b)). s = 1 is what the paper
writes; it is nearly a coin flip, since utilities lie between 0 and 1. If both answers come from
the same model, there is no vote. Run i of every curve has the same offline queries, the same stream and the same voters, so curves are compared by the paired
difference, run by run.`,
  `<b>Baselines</b>, in every figure. random: two models at random. best-fixed: the one model with
the least regret over the whole run, known in hindsight. zero-feedback: the model with the best
told score in the nearest category; it never uses a vote, so the distance of a learner from this line
is what votes are worth. joust: this project's own policy with its defaults (below). <i>FGTS.CDB on
categories</i>, among the prompts, is the paper's policy with features that only tell which category a query is near.`,
  `<b>Model embeddings.</b> xi_m is the mean vector of category m's offline queries. Perf (eq. 3):
a_k is the mean of the xi_m weighted by the softmax of Perf_k over categories; Perf_cost: by
that of Perf - lambda Cost. Excel_perf_cost (eq. 4): the same scores, but 0 inside the softmax
if k is not among the best tau = 3 models of the category. Excel_mask (eq. 5): the sum of
xi_m over those categories, divided by tau. Labels (eq. 6): the mean vector of the offline
queries that k is best on, a joint best counting in part. Prompts: the encoder's vector of
listing 3 with the name of the model, the benchmark that it is best at, its Perf and 1 / Cost
there, and that benchmark's first offline queries; of listing 2 on MMLU; on MixInstruct without
Perf and Cost, with queries that the model is best on. lambda is 0.05 if not stated.`,
  `<b>FGTS.CDB</b> (Algorithm 1): phi(x, a) = x o a, scaled to length 1 (<i>added</i>: x + a). Two
Langevin chains, each of which plays its own best model, ties at random. The policy
<code>fgts-cdb</code> has these defaults: prior N(0,
5<sup>2</sup>) on every coefficient, eta = 1, five steps per round from where the last round
ended, each on 128 past votes, of length 0.2 / (1/5<sup>2</sup> + t mean|v|<sup>2</sup> / 4)
after t votes. mu = 1 / (10 e sqrt(T)) with T = 720 (in the linear worlds their own T), and the feel-good
term of a round is at most 1. The paper gives neither eta, the prior, the number of Langevin steps nor T on RouterBench, and not
how 14 appended numbers enter the product with x; here x gets 14 ones. The curves use eta = 10 and the prior N(0, 1), the combination
that comes closest to the best one of each problem on other seeds (see Open settings of FGTS.CDB). The lists of curves name all options that differ from the
defaults.`,
  `<b>joust</b> describes a query by w = softmax(cos(x, xi_m) / 0.1) over categories, and models the
utility of k as a multiple of its told score there plus w . theta_k. The posterior is Gaussian and
is updated once per vote. Joust knows neither the vote scale nor the value of the told scores: it
keeps one posterior for each of the scales 1, 3, 10 with told scores that are right, roughly right
or worthless, weighted by how well it predicted the votes. (The scales of these simulations are among them.) It plays the pair with the largest
f_i + f_j + 1.5 W_ij, W_ij being the part of the sd of the difference that future votes can
resolve. Told scores are the table's Perf; on MMLU the experts' utilities, on MixInstruct
means over the offline queries.`,
  `<b>Fine-tuning</b> (CCFT): every pair of offline queries of one category is a like pair, as many
pairs across categories unlike ones; squared error between the cosine and the label (1 or 0),
AdamW, learning rate 2e-5 (static: 3e-3), batches of 16 pairs, a tenth of the steps to warm up,
then linear decay to 0 at the last step. E2 is therefore a separate training and no checkpoint of
E4.`,
  `<b>Claims</b> were written down with their criteria before the run. Some criteria were changed in
a later review; docs/decisions/0006-criteria-of-claims.md of the repository says which and why. A
cell is one comparison: an encoder, a weighting, a form of the queries, a vote scale, a length. It
decides if the 95% interval of the paired difference excludes 0. A claim <i>holds</i> if at least
two thirds of its cells are for it, is <i>refuted</i> if as many are against it, and is otherwise
<i>open</i>. It is <i>not testable here</i> if it is about something that is not available here; the
verdict on the stand-in is then given too. Claims about RouterBench are judged although the texts of four of its seven benchmarks
differ, because scores and costs are RouterBench's own table. The paper has vote scale 1 only and always appends the metadata; the
cells of a claim also have the scales 3 and 10 and curves without metadata, and the counts by scale and by metadata show what each alone would say. The difference is the curve that the claim
says is better minus the other, so a number below 0 supports the claim. The <i>pooled</i> difference
is the mean over all cells with its 95% interval over runs, which the cells share
(docs/decisions/0014-verdicts.md). It does not decide. If the paper's encoders are available, they
decide and static does not. In the pictures each line is the interval of a cell: blue for the
claim, orange against it, grey undecided; the diamond is the pooled difference.`,
];

/** Instructions for running the experiments again. */
export const INSTRUCTIONS = [
  `The command below gives the same numbers, bit for bit, with the same data and code. Results are
cached, so the second time takes seconds. Type <code>npx joust</code> for
<code>joust</code>. A single experiment can be named in place of all, and
<code>--curve NAME</code> runs one curve with everything that it needs, in all its settings, and
prints its numbers. A list at the end of each experiment says for every curve which queries,
vectors, model embeddings and policy it has.`,
  `<code>--data DIR</code> is a folder with <code>mmlu/</code> (the test and dev csv of the five
topics), <code>routerbench-queries/</code> (<code>queries_routerbench.jsonl</code>, which
<code>joust data get routerbench</code> makes, or the stand-in
<code>queries_rbprompt.jsonl.gz</code> and <code>queries.jsonl.gz</code>, whose MMLU, GSM8K,
HellaSwag and MBPP texts differ from RouterBench's), and <code>mixinstruct/</code> (its jsonl with
<code>cmp_results</code>) or the stand-in's <code>qlora-gpt4-pairwise/</code>. Without it the
project's own questions stand in for all. <code>--models DIR</code> has the encoders' folders;
<code>joust models get MiniLM</code> downloads one. Checksums of both are below.`,
  `The seed gives run i a generator of its own for the offline queries, the stream, the votes, the
fine-tuning and the policy: run 1 is the same whether one run is requested or twenty.`,
  `Every figure is in figures/ as SVG and every table in tables/ as CSV and LaTeX. reproduce.json has
each curve with its runs, each claim with its cells, and all settings. The <i>code of</i> a kind of
job is a hash of the code that decides its results: equal hashes mean equal results.`,
];
