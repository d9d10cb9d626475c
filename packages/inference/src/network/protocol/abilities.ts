// What the engine of a worker cannot do: one bit each in its offer, so that jobs that need it go to other workers.

/** Bits of `lacks` in an offer; gateways ignore bits that they do not know. */
const BITS = {
  /** Enforces no GBNF grammar. */
  grammar: 1,
  /** Applies no presence or frequency penalty. */
  penalties: 2,
  /** Reports no log-probabilities of tokens. */
  logprobs: 4,
  embeddings: 8,
  /** Cannot score a given answer, so it verifies no other worker. */
  scores: 16,
  /** Cannot continue an answer whose next token depends on the given ones by more than the model: grammar, penalties. */
  replay: 32,
  /** Draws tokens with its own random numbers: sampled answers cannot be checked by their seed. */
  draws: 64,
  /** Has no token ids: cannot continue an answer at all. */
  continuation: 128,
  /** Generates nothing: it has embeddings only. */
  answers: 256,
} as const;

export type Ability = keyof typeof BITS;

const NAMES = Object.keys(BITS) as readonly Ability[];

export const lacksOf = (lacking: Iterable<Ability>): number =>
  [...lacking].reduce((bits, each) => bits | BITS[each], 0);

export const abilitiesIn = (lacks = 0): readonly Ability[] => NAMES.filter((name) => (lacks & BITS[name]) !== 0);

/** The first of the needed abilities that is lacking. */
export const lackingOf = (lacks: number | undefined, needs: readonly Ability[] = []): Ability | undefined =>
  needs.find((need) => ((lacks ?? 0) & BITS[need]) !== 0);

interface Needing {
  readonly given: readonly number[];
  readonly sampling: { readonly presencePenalty: number; readonly frequencyPenalty: number };
  readonly grammar?: string | undefined;
  readonly topLogprobs?: number | undefined;
}

/** What an engine must be able to do for a job. */
export function needsOf({ given, sampling, grammar, topLogprobs }: Needing): readonly Ability[] {
  const isPenalised = sampling.presencePenalty !== 0 || sampling.frequencyPenalty !== 0;
  const isContinued = given.length > 0;
  return [
    'answers',
    ...(grammar === undefined ? [] : (['grammar'] as const)),
    ...(isPenalised ? (['penalties'] as const) : []),
    ...(topLogprobs === undefined ? [] : (['logprobs'] as const)),
    ...(isContinued ? (['continuation'] as const) : []),
    ...(isContinued && (isPenalised || grammar !== undefined) ? (['replay'] as const) : []),
  ];
}
