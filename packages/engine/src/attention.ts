// Attention of a context: flash attention, and the types of the cached keys and values.

const CACHE_TYPES = ['f16', 'q8_0', 'q4_0'] as const;
export type CacheType = (typeof CACHE_TYPES)[number];

export interface AttentionOptions {
  /** `auto`: on a GPU that has it, and for quantised values, which need it. */
  readonly flash: 'auto' | 'on' | 'off';
  readonly keys: CacheType;
  readonly values: CacheType;
}

export const ATTENTION: AttentionOptions = { flash: 'auto', keys: 'f16', values: 'f16' };

/** A type of keys and values, or `keys/values`. */
export const CACHE_PATTERN = new RegExp(`^(?:${CACHE_TYPES.join('|')})(?:/(?:${CACHE_TYPES.join('|')}))?$`);

/** Of a text that matches `CACHE_PATTERN`. */
export function cacheTypes(text: string): Pick<AttentionOptions, 'keys' | 'values'> {
  // The pattern allows no other text.
  const [keys, values = keys] = text.split('/') as [CacheType, CacheType?];
  return { keys, values };
}

export const isPossible = ({ flash, values }: AttentionOptions): boolean => values === 'f16' || flash !== 'off';

/**
 * Whether audits do not take it for another model: with `q4_0`, 12 of 16 answers at a high temperature deviated by up to
 * 20 times what is tolerated, with `q8_0` none.
 */
export const isAuditable = ({ keys, values }: Pick<AttentionOptions, 'keys' | 'values'>): boolean =>
  keys !== 'q4_0' && values !== 'q4_0';

const TYPES = { f16: 'F16', q8_0: 'Q8_0', q4_0: 'Q4_0' } as const;

/** The options of a context for generation. */
export function attentionOf({ flash, keys, values }: AttentionOptions, hasGpu: boolean) {
  // On a processor a token has the same logits alone and in a batch only without it: exact replay depends on this.
  const ofDevice = hasGpu ? ('auto' as const) : values !== 'f16';
  return {
    flashAttention: flash === 'auto' ? ofDevice : flash === 'on',
    experimentalKvCacheKeyType: TYPES[keys],
    experimentalKvCacheValueType: TYPES[values],
  };
}
