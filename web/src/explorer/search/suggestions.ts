// What the text of the search box may mean: what the service suggests at each pause in the typing, and where Enter leads.
import { useEffect, useState } from 'react';

/** Somewhere that the box can lead to. */
export type Goal =
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'provider'; readonly provider: string; readonly name: string }
  | { readonly kind: 'search'; readonly q: string };

/** What the service suggests for a text. */
interface Suggested {
  readonly domains: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

const PAUSE_MS = 120;
const NOTHING: Suggested = { domains: [], providers: [] };

/** Goals for a text, the search for it last; while an answer is under way those of the text before. */
export function useGoals(text: string): readonly Goal[] {
  const [suggested, setSuggested] = useState(NOTHING);
  const q = text.trim();
  useEffect(() => {
    if (q === '') {
      setSuggested(NOTHING);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const found = await suggestedFor(q, stop.signal);
      if (!stop.signal.aborted) setSuggested(found);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [q]);
  if (q === '') return [];
  const domains = suggested.domains.map((domain): Goal => ({ kind: 'domain', domain }));
  const providers = suggested.providers.map(({ id, name }): Goal => ({ kind: 'provider', provider: id, name }));
  // Who types a dot means a domain.
  return [...(q.includes('.') ? [...domains, ...providers] : [...providers, ...domains]), { kind: 'search', q }];
}

/** Without suggestions, since they fail or there are too many questions, the box still works. */
export async function suggestedFor(q: string, signal: AbortSignal): Promise<Suggested> {
  try {
    const response = await fetch(`/suggest?q=${encodeURIComponent(q)}`, { signal });
    return response.ok ? ((await response.json()) as Suggested) : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** Where Enter leads when no suggestion is chosen: to what is called exactly so, to the domain that the text is, or to a search. */
export function goalOf(text: string, goals: readonly Goal[]): Goal {
  const q = text.trim();
  const named = goals.find(
    (goal) => goal.kind === 'provider' && [goal.name, goal.provider].some((name) => isSame(name, q)),
  );
  const domain = domainIn(q);
  return named ?? (domain === undefined ? { kind: 'search', q } : { kind: 'domain', domain });
}

/** The domain of a text that is one, or of an address copied from a browser. */
function domainIn(text: string): string | undefined {
  return /^(?:[a-z]+:\/\/)?((?:[^\s/:?#.@]+\.)+[^\s/:?#.@\d]{2,})\.?(?:[/:?#].*)?$/i.exec(text)?.[1]?.toLowerCase();
}

function isSame(a: string, b: string): boolean {
  return a.localeCompare(b, undefined, { sensitivity: 'accent' }) === 0;
}
