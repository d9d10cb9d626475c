// Sentences about a provider in one category, and about several providers beside each other.
import type { StackPaths } from '@strata/client';
import type { Category } from '@strata/detect';
import { provider } from '../questions/providers.ts';
import { percent } from '../questions/text.ts';

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
