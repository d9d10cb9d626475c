// The question that the head, the overview and the domains of a provider share.
import type { StackAnswer, StackPaths } from '@strata/client';
import { useStack } from '../answer/use-stack.ts';

export const PROVIDER = '/stack/v1/providers/{provider}';
/** Domains of one page of the list. */
export const PAGE_LENGTH = 50;

export type ProviderBody = StackPaths[typeof PROVIDER]['body'];

/** What a part of the page needs: the provider, and what was asked and answered for it. */
export interface ProviderPart {
  readonly provider: ProviderBody;
  readonly input: ReturnType<typeof inputOf>;
  readonly answer: StackAnswer<ProviderBody>;
}

const inputOf = (provider: string, offset: number) => ({
  path: { provider },
  query: { limit: PAGE_LENGTH, offset: offset === 0 ? undefined : offset },
});

export function useProvider(provider: string, offset: number) {
  const input = inputOf(provider, offset);
  return { query: useStack(PROVIDER, input, { keepsLast: 'any' }), input };
}
