// Margin of a claimed token: how far the draw was from choosing it. Separates rounding errors, which move a logit a
// little, from tokens that the model would not generate. After Token-DiFR (arxiv.org/abs/2511.20621): because the seed
// is known, the tokens are the proof.
import { type Candidate, cut, draw, gumbel, hasCut, rank, type Sampling, type Step } from './sampling.ts';

/** The margin of tokens that rounding cannot explain: forbidden by the grammar, or not a candidate. */
export const MAX_MARGIN_NATS = 100;

/**
 * The margin of a token, in nats of logits: the change of the differences between logits that would make it the drawn
 * token. It is 0 for the token that `chooseToken` returns. If every logit has an error of at most ε, the token that was
 * really drawn has a margin of at most 2ε, at any temperature, even if the error moved that token or its rival across
 * the edge of a cut.
 */
export function marginOf(
  token: number,
  candidates: readonly Candidate[],
  { sampling, step }: { readonly sampling: Sampling; readonly step: Step },
): number {
  const { position, given, isAllowed = () => true } = step;
  const ranked = rank(candidates, sampling, given);
  const wanted = ranked.find((each) => each.token === token);
  if (!wanted || !isAllowed(token)) return MAX_MARGIN_NATS;
  const { temperature, seed } = sampling;
  if (temperature === 0) {
    const first = ranked.find((each) => isAllowed(each.token)) as Candidate;
    return Math.min(first.logit - wanted.logit, MAX_MARGIN_NATS);
  }
  const wantedNoise = gumbel(seed, position, token);
  /** The tokens drawn before it, and their lead in nats of logits; noise weighs more at higher temperatures. */
  const ahead = (pool: readonly Candidate[]) => {
    const drawn = draw(pool, { temperature, seed, position });
    const rank = drawn.findIndex((each) => each.token === token);
    return (rank < 0 ? drawn : drawn.slice(0, rank)).map((rival) => ({
      ...rival,
      lead: Math.max(0, rival.logit - wanted.logit + temperature * (rival.noise - wantedNoise)),
    }));
  };
  if (!hasCut(sampling)) {
    const first = ahead(ranked).find((rival) => isAllowed(rival.token));
    return Math.min(first?.lead ?? 0, MAX_MARGIN_NATS);
  }
  const allowed = ranked.filter((each) => isAllowed(each.token));
  const pool = cut(allowed, sampling);
  const edge = new Edge(allowed, sampling);
  const ranks = new Map(allowed.map((each, rank) => [each.token, rank]));
  let margin = pool.includes(wanted) ? 0 : edge.outside(ranks.get(token) as number);
  let likeliest = Number.NEGATIVE_INFINITY;
  for (const rival of ahead(pool)) {
    if (rival.lead <= margin) break;
    // A rival that is less likely than another one with a larger lead is cut before that one.
    if (rival.logit <= likeliest) continue;
    likeliest = rival.logit;
    margin = Math.max(margin, Math.min(rival.lead, edge.inside(ranks.get(rival.token) as number)));
  }
  return Math.min(margin, MAX_MARGIN_NATS);
}

/** The margin of an end: the smallest margin of all end-of-answer tokens; 0 if no further token is allowed. */
export function endMarginOf(
  ends: readonly number[],
  candidates: readonly Candidate[],
  asked: { readonly sampling: Sampling; readonly step: Step },
): number {
  const { isAllowed = () => true } = asked.step;
  if (!candidates.some(({ token }) => isAllowed(token))) return 0;
  return Math.min(MAX_MARGIN_NATS, ...ends.map((token) => marginOf(token, candidates, asked)));
}

/**
 * The edges of top k, top p and min p in a ranked list: the distance of each rank from the other side, in nats of
 * logits.
 */
class Edge {
  readonly #ranked: readonly Candidate[];
  readonly #sampling: Sampling;
  /**
   * For the tokens within top k: their weights, and the sums of all weights before and from each rank, including one
   * past the last.
   */
  readonly #weights: readonly number[];
  readonly #before: readonly number[];
  readonly #after: readonly number[];

  constructor(ranked: readonly Candidate[], sampling: Sampling) {
    this.#ranked = ranked;
    this.#sampling = sampling;
    const few = sampling.topK > 0 ? ranked.slice(0, sampling.topK) : ranked;
    this.#weights = few.map(({ logit }) => Math.exp((logit - this.#logit(0)) / sampling.temperature));
    this.#before = sums(this.#weights);
    this.#after = sums(this.#weights.toReversed()).toReversed();
  }

  /** The distance of a rank that was cut from being kept. */
  outside(rank: number): number {
    const { topK, topP, minP, temperature } = this.#sampling;
    const gap = (other: number) => this.#logit(other) - this.#logit(rank);
    const byTopK = topK > 0 && rank >= topK ? gap(topK - 1) : 0;
    const byMinP = minP > 0 ? gap(0) + temperature * Math.log(minP) : 0;
    if (topP >= 1) return Math.max(byTopK, byMinP, 0);
    // The rank rises above some tokens, or the tokens before it lose weight, whichever needs the smaller change.
    let byTopP = gap(0);
    for (let first = Math.min(rank, this.#weights.length); first > 0; first -= 1) {
      const excess = this.#excess(this.#before[first] as number, this.#after[first] as number);
      byTopP = Math.min(byTopP, Math.max(first < rank ? gap(first) : 0, excess));
    }
    return Math.max(byTopK, byMinP, byTopP, 0);
  }

  /** The distance of a rank that was kept from being cut. */
  inside(rank: number): number {
    const { topK, topP, minP, temperature } = this.#sampling;
    const lead = (other: number) => this.#logit(rank) - this.#logit(other);
    const byTopK = topK > 0 ? lead(topK) : Number.POSITIVE_INFINITY;
    const byMinP = minP > 0 ? lead(rank === 0 ? 1 : 0) - temperature * Math.log(minP) : Number.POSITIVE_INFINITY;
    if (topP >= 1) return Math.max(0, Math.min(byTopK, byMinP));
    let byTopP = Number.POSITIVE_INFINITY;
    let before = this.#before[rank] as number;
    for (let last = rank; last < this.#weights.length; last += 1) {
      if (last > rank) before += this.#weights[last] as number;
      // The most likely token is never cut away.
      if (last === 0) continue;
      const rest = (this.#weights[rank] as number) + (this.#after[last + 1] as number);
      byTopP = Math.min(byTopP, Math.max(lead(last), -this.#excess(before, rest)));
    }
    return Math.max(0, Math.min(byTopK, byMinP, byTopP));
  }

  /**
   * The distance of a weight's odds from the odds of top p, in logits: a change of the logits by δ changes the odds by
   * δ / temperature.
   */
  #excess(weight: number, rest: number): number {
    const { topP, temperature } = this.#sampling;
    if (topP <= 0) return Number.POSITIVE_INFINITY;
    return temperature * (Math.log(weight / rest) - Math.log(topP / (1 - topP)));
  }

  #logit(rank: number): number {
    return this.#ranked[rank]?.logit ?? Number.NEGATIVE_INFINITY;
  }
}

/** Prefix sums: the sum of all weights before each rank, and of all weights. */
function sums(weights: readonly number[]): number[] {
  const found = [0];
  for (const [i, weight] of weights.entries()) found.push((found[i] as number) + weight);
  return found;
}
