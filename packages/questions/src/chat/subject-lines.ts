// The lines of an answer that a question asks for: of a provider in one category, of providers beside each other, of a domain's posture or
// changes.
import type { Service, StackPaths } from '@strata/client';
import type { Category } from '@strata/detect';
import { domainChanges, domainProfile } from '../questions/domains.ts';
import { migrations } from '../questions/markets.ts';
import { provider } from '../questions/providers.ts';
import { percent, signed } from '../questions/text.ts';
import { shorten } from '../shorten.ts';
import { isWithin, type TimeWindow, windowText } from './times.ts';

export type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];
export type Changes = StackPaths['/stack/v1/domains/{domain}/changes']['body'];

type Growing = { readonly provider: string; readonly domains: number; readonly change_30d: number | null };

export type ProviderPage = StackPaths['/stack/v1/providers/{provider}']['body'];

/** The lines of a provider, those of the category that was asked for first. */
export function providerLines(page: ProviderPage, category: Category): readonly string[] {
  const market = page.market.by_category.find((each) => each.category === category);
  const lines = provider.summarize(page).filter((line) => !line.startsWith(`- ${category}:`));
  const first =
    market === undefined
      ? `No domain uses ${page.provider} for ${category}.`
      : `${page.provider} has ${percent(market.share)} of ${category}: ${market.domains} domains, rank ${market.rank} of ${market.providers}.`;
  return [first, ...lines];
}

const SHOWN = 8;

/** The newest migrations, after the providers that gained and lost most domains in them. */
export function moverLines(body: Parameters<typeof migrations.summarize>[0]): readonly string[] {
  const [first = '', ...rest] = migrations.summarize(body);
  const most = (side: 'from' | 'to') => {
    const counts = new Map<string, number>();
    for (const flow of body.flows) counts.set(flow[side], (counts.get(flow[side]) ?? 0) + flow.domains);
    const sorted = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
    return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
  };
  // The sums of some flows would be too low.
  if (body.flows.length === 0 || body.flows.length < body.flows_total) return [first, ...rest];
  return [first, `Gained by: ${most('to')}.`, `Lost by: ${most('from')}.`, ...rest];
}

/** The providers that gained and lost most domains in 30 days. */
export function growthLines(providers: readonly Growing[]): readonly string[] {
  const known = providers
    .map((each) => ({ ...each, change: each.change_30d ?? 0 }))
    .toSorted((a, b) => b.change - a.change || b.domains - a.domains);
  const lineOf = ({ provider: name, domains, change }: (typeof known)[number]) =>
    `- ${name}: ${signed(change)}, now ${domains} domains`;
  const grown = known.filter(({ change }) => change > 0).slice(0, SHOWN);
  const shrunk = known
    .filter(({ change }) => change < 0)
    .toReversed()
    .slice(0, SHOWN);
  return [
    `Of the ${known.length} largest providers, change in 30 days:`,
    ...(grown.length > 0 ? grown.map(lineOf) : ['- none grew']),
    ...(shrunk.length > 0 ? ['Shrinking:', ...shrunk.map(lineOf)] : []),
  ];
}

/** The domains and shares of providers, in the category if there is one, and how many more the first of two has. */
export function comparisonLine(pages: readonly ProviderPage[], category: Category | undefined): string {
  const counted = pages.map(({ provider: name, domains, market }) => {
    const of = market.by_category.find((each) => each.category === category);
    const [total, share] = category ? [of?.domains ?? 0, of?.share ?? 0] : [domains.total, market.share];
    return { name, total, share };
  });
  const figures = counted.map(({ name, total, share }) => `${name} ${total} domains (${percent(share)})`).join(', ');
  const [first, second] = counted.toSorted((a, b) => b.total - a.total);
  const where = category ? ` for ${category}` : '';
  if (counted.length !== 2 || !first || !second) return `${figures}${where}.`;
  const more = first.total - second.total;
  return `${figures}${where}: ${more === 0 ? 'as many' : `${more} more for ${first.name}`}.`;
}

/** The route has no window: those of its page, which are the newest. */
export function changeLines(body: Changes, window: TimeWindow): readonly string[] {
  const changes = body.changes.filter(({ at }) => isWithin(at, window));
  const [, ...lines] = domainChanges.summarize({ ...body, changes });
  const least = body.next_cursor !== null && changes.at(-1) === body.changes.at(-1) ? 'at least ' : '';
  return [`${body.domain}: ${least}${changes.length} changes ${windowText(window)}, of ${body.total}.`, ...lines];
}

/** The score of a domain, and each finding. */
export function postureLines(body: Profile): readonly string[] {
  const [first = '', score = '', ...rest] = domainProfile.summarize({ ...body, services: [] });
  const passed = body.security.factors.filter(({ finding }) => finding === 'pass').map(({ factor }) => factor);
  return [first, score, ...rest, ...(passed.length > 0 ? [`Without findings: ${passed.join(', ')}.`] : [])];
}

/** The first line of a profile, and lines of some of its services. */
export function profileLines(body: Profile, services: readonly Service[]): readonly string[] {
  const { answer } = shorten({ ...body, services }, { max: { evidence: 1 } });
  const shown = answer as unknown as Profile;
  return domainProfile.summarize(shown).slice(0, 1 + shown.services.length);
}
