// The parameters of a conversation and their bounds.

/** Undefined uses the default of the model. */
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
  /** Both bounds are inclusive. */
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

/** The bounds are those of the service; see docs/inference.md. */
export const NUMBER_PARAMETERS: readonly NumberParameter[] = [
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0: most deterministic, 2: most random',
    min: 0,
    max: 2,
  },
  {
    name: 'topP',
    label: 'Top p',
    hint: 'Sample only from the most likely tokens with this total probability',
    min: 0,
    max: 1,
  },
  {
    name: 'maxTokens',
    label: 'Max tokens',
    hint: 'Maximum length of an answer',
    min: 1,
    max: 1_000_000,
    isInteger: true,
  },
  {
    name: 'seed',
    label: 'Seed',
    hint: 'Makes sampling reproducible',
    min: 0,
    max: 2_147_483_647,
    isInteger: true,
  },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    hint: 'Penalizes tokens that already occur',
    min: -2,
    max: 2,
  },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    hint: 'Penalizes tokens by how often they occur',
    min: -2,
    max: 2,
  },
];

/** A valid value, an empty field, or an error message. */
type ParsedParameter =
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'problem'; readonly problem: string };

export function parseParameter({ min, max, isInteger }: NumberParameter, text: string): ParsedParameter {
  // A decimal comma (0,7) is accepted; in an integer a comma may separate thousands, so it is rejected.
  const written = isInteger ? text.trim() : text.trim().replace(',', '.');
  if (written === '') return { kind: 'none' };
  const isNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(written);
  const value = Number(written);
  if (isNumber && value >= min && value <= max && (!isInteger || Number.isInteger(value)))
    return { kind: 'value', value };
  const expected = isInteger ? 'an integer' : 'a number';
  return { kind: 'problem', problem: `Enter ${expected} from ${min} to ${max}. This value is not sent.` };
}

/** The parameters in the format of a request. */
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
