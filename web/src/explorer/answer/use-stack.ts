// One question to the service: asked once, kept for a while, asked anew when the key changes.
import { type StackAnswer, type StackInput, type StackPaths, StackProblem } from '@strata/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { connectionNow, tellAnswered, tellUnreached } from './connection.ts';
import { isUnreached } from './queries.ts';
import { setQuota, stack, useKey } from './session.ts';

interface Options {
  /** False while it is not yet known what to ask. */
  readonly isEnabled?: boolean;
  /** Asks again while the page is open. */
  readonly everyMs?: number;
  /**
   * Shows the answer before until the next one is there, as an old one: of the same list alone (`page`), where the words
   * around it are those of the question, or whatever it was filtered by (`any`).
   */
  readonly keepsLast?: 'page' | 'any';
}

const questions = new WeakMap<object, unknown>();

/** What an answer was the answer to. While an old one is shown that is another question than the page's. */
export function questionOf<I>(answer: object, input: I): I {
  return (questions.get(answer) as I | undefined) ?? input;
}

/** What the service answers. Each costs a request of the key's day, but for what was asked in the last minute. */
export function useStack<P extends keyof StackPaths>(
  path: P,
  input: StackInput<P>,
  { isEnabled = true, everyMs, keepsLast }: Options = {},
): UseQueryResult<StackAnswer<StackPaths[P]['body']>, StackProblem> {
  const key = useKey();
  return useQuery({
    queryKey: [path, input, key],
    queryFn: async ({ signal }) => {
      try {
        const answer = await stack.get(path, input, { signal });
        tellAnswered();
        setQuota(answer.quota);
        questions.set(answer, input);
        return answer;
      } catch (error) {
        if (!signal.aborted && isUnreached(error)) tellUnreached();
        else if (error instanceof StackProblem) tellAnswered();
        if (error instanceof StackProblem) setQuota(error.quota);
        throw error;
      }
    },
    enabled: isEnabled,
    staleTime: 60_000,
    // An answer stays the one that was signed, and is not merged with the one before.
    structuralSharing: false,
    // Only what may be different at once is tried again: a refusal stays one, and so does being offline.
    retry: (failures, error) => failures < 2 && isUnreached(error) && connectionNow() !== 'offline',
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    placeholderData: (last: StackAnswer<StackPaths[P]['body']> | undefined, before) =>
      keepsLast && subjectOf(keepsLast, before?.queryKey) === subjectOf(keepsLast, [path, input]) ? last : undefined,
  });
}

/** What a question is about: the list of another domain or provider is no old state of this one. */
function subjectOf(kept: 'page' | 'any', [path, input]: readonly unknown[] = []): string {
  const { path: names, query } = (input ?? {}) as { readonly path?: unknown; readonly query?: object };
  return JSON.stringify([path, names, kept === 'page' ? { ...query, offset: undefined } : undefined]);
}
