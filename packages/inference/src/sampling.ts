// Chooses the next token. The draw depends only on the seed, the position and the token, so that another worker
// continues an answer identically, and anyone can verify it.

export interface Candidate {
  readonly token: number;
  /** The logit of the model, before penalties and bias. */
  readonly logit: number;
}

export interface Sampling {
  /** 0: greedy, always the most likely token. */
  readonly temperature: number;
  /** Nucleus sampling: keep the most likely tokens up to this total probability; 1 disables the cut. */
  readonly topP: number;
  /** Keep this many of the most likely tokens; 0 disables the cut. */
  readonly topK: number;
  /** Keep tokens whose probability is at least this share of the highest probability; 0 disables the cut. */
  readonly minP: number;
  /** Subtracted from the logit of a token that is already in the answer: once, and for each occurrence. */
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  /** Added to the logits, by token. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** An unsigned 32-bit integer. */
  readonly seed: number;
}

export const GREEDY: Sampling = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: new Map(),
  seed: 0,
};

export interface Step {
  /** The number of answer tokens before this one. */
  readonly position: number;
  /** How often each token occurs in the answer so far. */
  readonly given: ReadonlyMap<number, number>;
  /** Whether the grammar allows a token. Expensive, so it is called for as few tokens as possible. */
  readonly isAllowed?: (token: number) => boolean;
}

/**
 * The next token, or undefined if no candidate is allowed. Sampling uses the Gumbel-max trick: the token with the
 * largest sum of scaled logit and noise, where the noise depends on seed, position and token. Other candidates do not
 * affect a token's noise, and small errors of the logits rarely change the result.
 */
export function chooseToken(
  candidates: readonly Candidate[],
  sampling: Sampling,
  { position, given, isAllowed }: Step,
): number | undefined {
  const ranked = rank(candidates, sampling, given);
  const { temperature, seed } = sampling;
  const drawnOf = (pool: readonly Candidate[]) => draw(pool, { temperature, seed, position });
  if (temperature === 0) return ranked.find(({ token }) => isAllowed?.(token) ?? true)?.token;
  if (!isAllowed) return drawnOf(hasCut(sampling) ? cut(ranked, sampling) : ranked)[0]?.token;
  if (hasCut(sampling)) return drawnOfCut(ranked, sampling, { position, isAllowed: once(isAllowed) });
  // Without a cut, only the tokens before the chosen one are checked.
  return drawnOf(ranked).find(({ token }) => isAllowed(token))?.token;
}

function once(isAllowed: (token: number) => boolean): (token: number) => boolean {
  const known = new Map<number, boolean>();
  return (token) => {
    const found = known.get(token) ?? isAllowed(token);
    known.set(token, found);
    return found;
  };
}

/**
 * The first of `draw(cut(allowed))`, where `allowed` are the ranked tokens that the grammar allows. Checks only those that
 * decide: the ones before the drawn token, and after it until they have enough weight to show that it is within top p.
 */
function drawnOfCut(
  ranked: readonly Candidate[],
  sampling: Sampling,
  { position, isAllowed }: { readonly position: number; readonly isAllowed: (token: number) => boolean },
): number | undefined {
  const { topK, topP, minP, temperature, seed } = sampling;
  const first = ranked.findIndex(({ token }) => isAllowed(token));
  const few: readonly Candidate[] = first < 0 ? [] : ranked.slice(first);
  if (topK > 0) {
    const allowed = few.values().filter(({ token }) => isAllowed(token));
    return draw(cut([...allowed.take(topK)], sampling), { temperature, seed, position })[0]?.token;
  }
  const weights = few.map(({ logit }) => Math.exp((logit - (few[0]?.logit ?? 0)) / temperature));
  /** The weight of the allowed tokens before each rank. Sums in floating point are monotone, so that bounds are exact. */
  const sums = [0];
  const before = (rank: number): number => {
    for (let i = sums.length - 1; i < rank; i += 1)
      sums.push((sums[i] as number) + (isAllowed((few[i] as Candidate).token) ? (weights[i] as number) : 0));
    return sums[rank] as number;
  };
  const isWithin = (rank: number): boolean => {
    if (rank === 0) return true;
    const max = weights.slice(rank).reduce((sum, weight) => sum + weight, before(rank));
    if (before(rank) >= topP * max) return false;
    for (let i = rank + 1; i <= few.length; i += 1) if (before(rank) < topP * before(i)) return true;
    return false;
  };
  const ranks = new Map(few.map(({ token }, rank) => [token, rank]));
  return draw(few, { temperature, seed, position }).find(({ token }) => {
    const rank = ranks.get(token) ?? 0;
    return (weights[rank] as number) >= minP && isAllowed(token) && isWithin(rank);
  })?.token;
}

/**
 * Minimum divisor: with less, a difference of logits would overflow. At this temperature the noise no longer has any
 * effect.
 */
const COLDEST = 1e-300;

/** A pool, most likely token first, sorted by draw order: the first one is drawn. */
export function draw(
  pool: readonly Candidate[],
  { temperature, seed, position }: { readonly temperature: number; readonly seed: number; readonly position: number },
): readonly (Candidate & { readonly noise: number })[] {
  // Relative to the most likely token, so that a temperature near 0 does not turn all scores into infinities.
  const top = pool[0]?.logit ?? 0;
  return pool
    .map(({ token, logit }) => {
      const noise = gumbel(seed, position, token);
      return { token, logit, noise, score: (logit - top) / Math.max(temperature, COLDEST) + noise };
    })
    .sort((a, b) => b.score - a.score || a.token - b.token);
}

/** Candidates with penalties and bias applied, most likely first. */
export function rank(
  candidates: readonly Candidate[],
  sampling: Sampling,
  given: ReadonlyMap<number, number>,
): Candidate[] {
  return candidates
    .map(({ token, logit }) => ({ token, logit: adjusted(token, logit, { sampling, times: given.get(token) ?? 0 }) }))
    .filter(({ logit }) => logit > Number.NEGATIVE_INFINITY)
    .sort((a, b) => b.logit - a.logit || a.token - b.token);
}

export function hasCut({ topK, topP, minP }: Sampling): boolean {
  return topK > 0 || topP < 1 || minP > 0;
}

function adjusted(
  token: number,
  logit: number,
  { sampling, times }: { readonly sampling: Sampling; readonly times: number },
): number {
  const { logitBias, presencePenalty, frequencyPenalty } = sampling;
  const penalty = times === 0 ? 0 : presencePenalty + frequencyPenalty * times;
  return logit + (logitBias.get(token) ?? 0) - penalty;
}

/** The cut of a ranked list: top k, then top p, then min p, with probabilities at the request's temperature. */
export function cut(ranked: readonly Candidate[], { topK, topP, minP, temperature }: Sampling): readonly Candidate[] {
  const few = topK > 0 ? ranked.slice(0, topK) : ranked;
  const top = few[0]?.logit ?? 0;
  const weights = few.map(({ logit }) => Math.exp((logit - top) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return few.filter((_, i) => {
    const weight = weights[i] as number;
    const isIn = (before < topP * total || i === 0) && weight >= minP;
    before += weight;
    return isIn;
  });
}

/** Standard Gumbel noise of a token at a position. */
export function gumbel(seed: number, position: number, token: number): number {
  return -Math.log(-Math.log(uniform(seed, position, token)));
}

/**
 * A number above 0 and below 1 with 53 random bits. Two chains of MurmurHash3's 32-bit finaliser over seed, position
 * and token supply the upper 27 and the lower 26 bits.
 */
export function uniform(seed: number, position: number, token: number): number {
  const high = mix(mix(mix(0x9e3779b9 ^ seed) ^ position) ^ token) >>> 5;
  const low = mix(mix(mix(0x85ebca6b ^ seed) ^ position) ^ token) >>> 6;
  return (high * 0x4000000 + low + 0.5) / 2 ** 53;
}

function mix(word: number): number {
  let hash = word | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The natural logarithm of a candidate's probability, given the logarithm of the sum over the entire vocabulary. */
export function logProbability(logit: number, logTotal: number): number {
  return Math.min(0, logit - logTotal);
}
