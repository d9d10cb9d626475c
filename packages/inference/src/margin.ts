// How near a draw came to a token that somebody says was drawn: what tells rounding, which moves a logit a little, from a token
// that the model would not have given. After Token-DiFR (arxiv.org/abs/2511.20621): with the seed known, the tokens are the proof.
import { type Candidate, cut, draw, gumbel, hasCut, rank, type Sampling, type Step } from './sampling.ts';

/** What no rounding can bring about is told as this: a token that the grammar forbids, one that is no candidate. */
export const MAX_MARGIN_NATS = 100;

/**
 * The margin of a token, in nats of logits: by so much the differences between the model's logits would have to be others for it
 * to be the one drawn. 0 for the token that `chooseToken` gives; where every logit is wrong by at most ε, the token that was
 * drawn truly has a margin of at most 2ε, whatever the temperature, also where the error moved it, or the one drawn in its
 * stead, across the edge of a cut.
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
  /** Those that are drawn before it, by how much; in nats of logits, where noise counts for more the warmer it is. */
  const ahead = (pool: readonly Candidate[]) => {
    const drawn = draw(pool, { temperature, seed, position });
    const place = drawn.findIndex((each) => each.token === token);
    return (place < 0 ? drawn : drawn.slice(0, place)).map((rival) => ({
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
  const places = new Map(allowed.map((each, place) => [each.token, place]));
  let margin = pool.includes(wanted) ? 0 : edge.outside(places.get(token) as number);
  let likeliest = Number.NEGATIVE_INFINITY;
  for (const rival of ahead(pool)) {
    if (rival.lead <= margin) break;
    // One that is less likely than another with a larger lead is cut away before that one.
    if (rival.logit <= likeliest) continue;
    likeliest = rival.logit;
    margin = Math.max(margin, Math.min(rival.lead, edge.inside(places.get(rival.token) as number)));
  }
  return Math.min(margin, MAX_MARGIN_NATS);
}

/** The margin of an end: of the nearest of the tokens that end an answer, and 0 where nothing more is allowed. */
export function endMarginOf(
  ends: readonly number[],
  candidates: readonly Candidate[],
  asked: { readonly sampling: Sampling; readonly step: Step },
): number {
  const { isAllowed = () => true } = asked.step;
  if (!candidates.some(({ token }) => isAllowed(token))) return 0;
  return Math.min(MAX_MARGIN_NATS, ...ends.map((token) => marginOf(token, candidates, asked)));
}

/** Where top k, top p and min p cut a ranked list: how far, in nats of logits, each place is from the other side. */
class Edge {
  readonly #ranked: readonly Candidate[];
  readonly #sampling: Sampling;
  /** Of those that top k leaves: their shares, and the sums of all before and of all from each place on, one beyond the last. */
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

  /** How far a place that was cut away is from being in. */
  outside(place: number): number {
    const { topK, topP, minP, temperature } = this.#sampling;
    const gap = (other: number) => this.#logit(other) - this.#logit(place);
    const byCount = topK > 0 && place >= topK ? gap(topK - 1) : 0;
    const byLeast = minP > 0 ? gap(0) + temperature * Math.log(minP) : 0;
    if (topP >= 1) return Math.max(byCount, byLeast, 0);
    // It rises past some, or those that stay before it lose weight, whichever asks for less.
    let byShare = gap(0);
    for (let first = Math.min(place, this.#weights.length); first > 0; first -= 1) {
      const excess = this.#excess(this.#before[first] as number, this.#after[first] as number);
      byShare = Math.min(byShare, Math.max(first < place ? gap(first) : 0, excess));
    }
    return Math.max(byCount, byLeast, byShare, 0);
  }

  /** How far a place that was left is from being cut away. */
  inside(place: number): number {
    const { topK, topP, minP, temperature } = this.#sampling;
    const lead = (other: number) => this.#logit(place) - this.#logit(other);
    const byCount = topK > 0 ? lead(topK) : Number.POSITIVE_INFINITY;
    const byLeast = minP > 0 ? lead(place === 0 ? 1 : 0) - temperature * Math.log(minP) : Number.POSITIVE_INFINITY;
    if (topP >= 1) return Math.max(0, Math.min(byCount, byLeast));
    let byShare = Number.POSITIVE_INFINITY;
    let others = this.#before[place] as number;
    for (let last = place; last < this.#weights.length; last += 1) {
      if (last > place) others += this.#weights[last] as number;
      // The likeliest is never cut away.
      if (last === 0) continue;
      const rest = (this.#weights[place] as number) + (this.#after[last + 1] as number);
      byShare = Math.min(byShare, Math.max(lead(last), -this.#excess(others, rest)));
    }
    return Math.max(0, Math.min(byCount, byLeast, byShare));
  }

  /** By how much the odds of a weight are above those of top p, in logits: a change of these by δ makes odds others by δ / temperature. */
  #excess(weight: number, rest: number): number {
    const { topP, temperature } = this.#sampling;
    if (topP <= 0) return Number.POSITIVE_INFINITY;
    return temperature * (Math.log(weight / rest) - Math.log(topP / (1 - topP)));
  }

  #logit(place: number): number {
    return this.#ranked[place]?.logit ?? Number.NEGATIVE_INFINITY;
  }
}

/** Of all before each place, and of all. */
function sums(weights: readonly number[]): number[] {
  const found = [0];
  for (const [i, weight] of weights.entries()) found.push((found[i] as number) + weight);
  return found;
}
