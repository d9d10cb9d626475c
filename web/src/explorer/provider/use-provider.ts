// The request shared by the header, the overview and the domains of a provider.
import type { StackAnswer, StackPaths } from '@strata/client';
import { useStack } from '../answer/use-stack.ts';

export const PROVIDER = '/stack/v1/providers/{provider}';
/** Domains per page. */
export const PAGE_LENGTH = 50;

export type ProviderBody = StackPaths[typeof PROVIDER]['body'];

/** The provider, with its request and answer. */
export interface ProviderProps {
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
