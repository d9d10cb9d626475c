// The suggestions of the search box, requested with a delay while the user types, and the target of Enter.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { queries } from '../answer/queries.ts';

/** A page that the search box can open. */
export interface Suggestion {
  readonly kind: 'domain' | 'provider' | 'search';
  /** A domain, the id of a provider, or the text of a search. */
  readonly id: string;
  readonly name: string;
}

export function hrefOf({ kind, id }: Suggestion): string {
  return kind === 'search' ? `/search?q=${encodeURIComponent(id)}` : `/${kind}/${encodeURIComponent(id)}`;
}

/** The answer of the service. */
interface SuggestionAnswer {
  readonly domains: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

const DEBOUNCE_MS = 120;
/** Enter does not wait longer for the providers of this name. */
const SUBMIT_MS = 1_000;
const NO_SUGGESTIONS: SuggestionAnswer = { domains: [], providers: [] };

/** The domains and providers whose names contain the text. */
export const suggestionQuery = (q: string) =>
  queryOptions({
    queryKey: ['suggest', q],
    queryFn: ({ signal }) => fetchSuggestions(q, signal),
    staleTime: 10_000,
    retry: false,
  });

/** Suggestions for a text, the full search last. While an answer is pending, those of the previous text. */
export function useSuggestions(text: string): readonly Suggestion[] {
  const q = text.trim();
  const [typed, setTyped] = useState(q);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(q), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [q]);
  const isEnabled = q !== '' && typed !== '';
  const { data } = useQuery({ ...suggestionQuery(typed), enabled: isEnabled, placeholderData: keepPreviousData });
  return q === '' ? [] : suggestionsOf(q, (isEnabled && data) || NO_SUGGESTIONS);
}

function suggestionsOf(q: string, answer: SuggestionAnswer): readonly Suggestion[] {
  const domains = answer.domains.map((domain): Suggestion => ({ kind: 'domain', id: domain, name: domain }));
  const providers = answer.providers.map(({ id, name }): Suggestion => ({ kind: 'provider', id, name }));
  // A dot indicates a domain name.
  const found = q.includes('.') ? [...domains, ...providers] : [...providers, ...domains];
  return [...found, { kind: 'search', id: q, name: `Search for “${q}”` }];
}

/** Empty on errors, such as exceeded rate limits: the search box works without suggestions. */
export async function fetchSuggestions(q: string, signal: AbortSignal): Promise<SuggestionAnswer> {
  try {
    const response = await fetch(`/suggest?q=${encodeURIComponent(q)}`, { signal });
    return response.ok ? ((await response.json()) as SuggestionAnswer) : NO_SUGGESTIONS;
  } catch {
    return NO_SUGGESTIONS;
  }
}

/**
 * The target of Enter without a selection: the provider with this name, the domain in the text, or a search. Waits a
 * moment for the suggestions for exactly this text, which may have been pasted just before; their request is a separate
 * one, since that of the list ends when the text changes.
 */
export async function submitTarget(text: string): Promise<Suggestion> {
  const q = text.trim();
  const { queryKey } = suggestionQuery(q);
  const { providers } = queries.getQueryData(queryKey) ?? (await fetchSuggestions(q, AbortSignal.timeout(SUBMIT_MS)));
  const named = providers.find(({ id, name }) => isSame(id, q) || isSame(name, q));
  if (named) return { kind: 'provider', ...named };
  const domain = domainIn(q);
  return domain === undefined ? { kind: 'search', id: q, name: q } : { kind: 'domain', id: domain, name: domain };
}

/** The domain in a text that is a domain name or a URL. */
function domainIn(text: string): string | undefined {
  return /^(?:[a-z]+:\/\/)?((?:[^\s/:?#.@]+\.)+[^\s/:?#.@\d]{2,})\.?(?:[/:?#].*)?$/i.exec(text)?.[1]?.toLowerCase();
}

function isSame(a: string, b: string): boolean {
  return a.localeCompare(b, undefined, { sensitivity: 'accent' }) === 0;
}
