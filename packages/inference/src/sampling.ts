// Which token comes next. The draw at a position depends on the seed, the position and the token alone, so that an answer
// continued elsewhere is the answer that would have been given, and so that anybody can check it.

export interface Candidate {
  readonly token: number;
  /** As the model gave it, before anything that the request asks for. */
  readonly logit: number;
}

export interface Sampling {
  /** 0 takes the likeliest. */
  readonly temperature: number;
  /** Of the likeliest, as many as have this share together; 1 is all. */
  readonly topP: number;
  /** Of the likeliest, so many; 0 is all. */
  readonly topK: number;
  /** Those at least so likely as this share of the likeliest; 0 is all. */
  readonly minP: number;
  /** Taken from the logit of a token that was given before, once, and for each time. */
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  /** Added to logits, by token. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** A whole number of 32 bits. */
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
  /** Tokens of the answer before this one. */
  readonly position: number;
  /** How often each token was given in this answer. */
  readonly given: ReadonlyMap<number, number>;
  /** A grammar's word on a token; asked of as few as possible. */
  readonly isAllowed?: (token: number) => boolean;
}

/**
 * The next token, or undefined when none of the candidates is allowed. Sampling is Gumbel-max: the largest sum of scaled
 * logit and noise, where the noise of a token is keyed by seed, position and token. Which other candidates there are does not
 * change it, and a small error of a logit seldom does.
 */
export function chooseToken(
  candidates: readonly Candidate[],
  sampling: Sampling,
  { position, given, isAllowed = () => true }: Step,
): number | undefined {
  const ranked = rank(candidates, sampling, given);
  const { temperature, seed } = sampling;
  if (temperature === 0) return ranked.find(({ token }) => isAllowed(token))?.token;
  const isCut = hasCut(sampling);
  // What is cut away depends on what is allowed; without a cut only those before the chosen one are asked about.
  const pool = isCut
    ? cut(
        ranked.filter(({ token }) => isAllowed(token)),
        sampling,
      )
    : ranked;
  return draw(pool, { temperature, seed, position }).find(({ token }) => isCut || isAllowed(token))?.token;
}

/** Divided by less than this, the difference of two logits is no longer a finite number; it decides alone long before. */
const COLDEST = 1e-300;

/** A pool, likeliest first, in the order of the draw: the first one is drawn. */
export function draw(
  pool: readonly Candidate[],
  { temperature, seed, position }: { readonly temperature: number; readonly seed: number; readonly position: number },
): readonly (Candidate & { readonly noise: number })[] {
  // Beside the likeliest: a temperature near 0 must not make infinities of all.
  const top = pool[0]?.logit ?? 0;
  return pool
    .map(({ token, logit }) => {
      const noise = gumbel(seed, position, token);
      return { token, logit, noise, score: (logit - top) / Math.max(temperature, COLDEST) + noise };
    })
    .sort((a, b) => b.score - a.score || a.token - b.token);
}

/** Candidates with what penalties and bias make of their logits, likeliest first. */
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

/** The likeliest of a ranked list: top k, then top p, then min p, shares at the request's temperature. */
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
 * A number above 0 and below 1, of 53 bits. Two chains of MurmurHash3's 32-bit finaliser over seed, position and token give
 * the upper 27 and the lower 26 bits.
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

/** Natural logarithm of each candidate's share, given the logarithm of the sum over the whole vocabulary. */
export function logProbability(logit: number, logTotal: number): number {
  return Math.min(0, logit - logTotal);
}
