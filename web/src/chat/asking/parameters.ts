// What goes with the questions of a conversation, and what the service takes of each.

/** What the reader set; undefined leaves it to the model. */
export interface Settings {
  readonly model?: string;
  readonly system?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly seed?: number;
  readonly stop?: string;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
}

export interface NumberParameter {
  readonly name: 'temperature' | 'topP' | 'maxTokens' | 'seed' | 'presencePenalty' | 'frequencyPenalty';
  readonly label: string;
  readonly hint: string;
  /** Both count. */
  readonly min: number;
  readonly max: number;
  readonly isWhole?: true;
}

/** With the bounds of the service; docs/inference.md. */
export const NUMBER_PARAMETERS: readonly NumberParameter[] = [
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 is the likeliest words, 2 the wildest',
    min: 0,
    max: 2,
  },
  {
    name: 'topP',
    label: 'Top p',
    hint: 'Only the likeliest words that make up this share',
    min: 0,
    max: 1,
  },
  {
    name: 'maxTokens',
    label: 'Most tokens',
    hint: 'An answer ends there',
    min: 1,
    max: 1_000_000,
    isWhole: true,
  },
  {
    name: 'seed',
    label: 'Seed',
    hint: 'The same seed draws the same words',
    min: 0,
    max: 2_147_483_647,
    isWhole: true,
  },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    hint: 'Against words that were used',
    min: -2,
    max: 2,
  },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    hint: 'Against words used often',
    min: -2,
    max: 2,
  },
];

/** A value that the service takes, nothing at all, or what is wrong with the text in words. */
export type ParsedParameter =
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'problem'; readonly problem: string };

export function parseParameter({ min, max, isWhole }: NumberParameter, text: string): ParsedParameter {
  // Half of the world writes 0,7; in a whole number a comma may part the thousands, which is not guessed at.
  const written = isWhole ? text.trim() : text.trim().replace(',', '.');
  if (written === '') return { kind: 'none' };
  const isNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(written);
  const value = Number(written);
  if (isNumber && value >= min && value <= max && (!isWhole || Number.isInteger(value)))
    return { kind: 'value', value };
  const what = isWhole ? 'A whole number' : 'A number';
  return { kind: 'problem', problem: `${what} from ${min} to ${max}; this one is not sent.` };
}

/** The parameters as a request has them. */
export function requestParameters(settings: Settings) {
  const all = {
    temperature: settings.temperature,
    top_p: settings.topP,
    max_tokens: settings.maxTokens,
    seed: settings.seed,
    stop: settings.stop || undefined,
    presence_penalty: settings.presencePenalty,
    frequency_penalty: settings.frequencyPenalty,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as {
    readonly [name in keyof typeof all]?: NonNullable<(typeof all)[name]>;
  };
}
