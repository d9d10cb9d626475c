// The suggestions of the search box, requested with a delay while the user types, and the target of Enter.
import { useEffect, useState } from 'react';

/** A page that the search box can open. */
export type Suggestion =
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'provider'; readonly provider: string; readonly name: string }
  | { readonly kind: 'search'; readonly q: string };

/** The answer of the service. */
interface SuggestionAnswer {
  readonly domains: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

const DEBOUNCE_MS = 120;
const NO_SUGGESTIONS: SuggestionAnswer = { domains: [], providers: [] };

/** Suggestions for a text, the full search last. While an answer is pending, those of the previous text. */
export function useSuggestions(text: string): readonly Suggestion[] {
  const [suggested, setSuggested] = useState(NO_SUGGESTIONS);
  const q = text.trim();
  useEffect(() => {
    if (q === '') {
      setSuggested(NO_SUGGESTIONS);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const found = await fetchSuggestions(q, stop.signal);
      if (!stop.signal.aborted) setSuggested(found);
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [q]);
  if (q === '') return [];
  const domains = suggested.domains.map((domain): Suggestion => ({ kind: 'domain', domain }));
  const providers = suggested.providers.map(({ id, name }): Suggestion => ({ kind: 'provider', provider: id, name }));
  // A dot indicates a domain name.
  return [...(q.includes('.') ? [...domains, ...providers] : [...providers, ...domains]), { kind: 'search', q }];
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

/** The target of Enter without a selection: the provider with this name, the domain in the text, or a search. */
export function submitTarget(text: string, suggestions: readonly Suggestion[]): Suggestion {
  const q = text.trim();
  const named = suggestions.find(
    (one) => one.kind === 'provider' && [one.name, one.provider].some((name) => isSame(name, q)),
  );
  const domain = domainIn(q);
  return named ?? (domain === undefined ? { kind: 'search', q } : { kind: 'domain', domain });
}

/** The domain in a text that is a domain name or a URL. */
function domainIn(text: string): string | undefined {
  return /^(?:[a-z]+:\/\/)?((?:[^\s/:?#.@]+\.)+[^\s/:?#.@\d]{2,})\.?(?:[/:?#].*)?$/i.exec(text)?.[1]?.toLowerCase();
}

function isSame(a: string, b: string): boolean {
  return a.localeCompare(b, undefined, { sensitivity: 'accent' }) === 0;
}
