// Catalog entries as JSON -> validated providers, or all problems at once.
import { isRegistrySuffix } from '../names/names.ts';
import { EXCLUSIVE_ROLES, roleIn } from '../profile.ts';
import { Provider, productKeysOf } from './catalog.ts';
import { ambiguousPatterns } from './overlaps.ts';
import { type Channel, isDkimLabel, patternsOf } from './patterns.ts';
import { SITE_LABELS } from './site-labels.ts';

/** The problems of a catalog; `problems` has one line each: entry, path, message. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the catalog has ${problems.length} problem(s):\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Validates entries against the schema and each other; throws CatalogError with all problems. */
export function loadCatalog(entries: readonly unknown[]): readonly Provider[] {
  const problems: string[] = [];
  const providers: Provider[] = [];
  for (const [index, entry] of entries.entries()) {
    const parsed = Provider.safeParse(entry);
    if (parsed.success) {
      providers.push(parsed.data);
      continue;
    }
    for (const issue of parsed.error.issues) {
      problems.push(`${labelOf(entry, index)} ${issue.path.map(String).join('.') || '(entry)'}: ${issue.message}`);
    }
  }
  problems.push(
    ...duplicateIds(providers),
    ...duplicateNames(providers),
    ...sharedPatterns(providers),
    ...ambiguousPatterns(providers),
    ...suffixPatterns(providers),
    ...sharedProducts(providers),
    ...mistakenRoles(providers),
    ...excessLabels(providers),
  );
  if (problems.length > 0) throw new CatalogError(problems);
  return providers;
}

/** Every label is a question that each domain costs; a selector only those that have keys. */
const MAX_LABELS = 22;
const MAX_SELECTORS = 36;

function excessLabels(providers: readonly Provider[]): string[] {
  const groups = providers.flatMap(({ rules }) => rules);
  const all = groups.flatMap(({ named = [], dkim = [], txtAt = [] }) => [
    ...named.map(({ label }) => label),
    ...dkim,
    ...txtAt,
  ]);
  const labels = [...new Set([...all, ...SITE_LABELS])];
  const excess = (what: string, count: number, limit: number) =>
    count > limit ? [`named, dkim, txtAt: ${count} ${what}, at most ${limit}, because each is a question`] : [];
  const selectors = labels.filter(isDkimLabel).length;
  return [...excess('labels', labels.length - selectors, MAX_LABELS), ...excess('selectors', selectors, MAX_SELECTORS)];
}

function labelOf(entry: unknown, index: number): string {
  if (typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'string') return entry.id;
  return `entry ${index}`;
}

function duplicateIds(providers: readonly Provider[]): string[] {
  const ids = new Set<string>();
  return providers.flatMap(({ id }) => {
    if (ids.has(id)) return [`${id} id: occurs twice in the catalog`];
    ids.add(id);
    return [];
  });
}

/** Ids, names and aliases share one namespace, because each of them identifies a provider. */
function duplicateNames(providers: readonly Provider[]): string[] {
  const holders = new Map<string, string>();
  const problems: string[] = [];
  for (const provider of providers) {
    const own = new Set([provider.id, provider.name, ...provider.aliases].map((name) => name.toLowerCase()));
    for (const name of own) {
      const holder = holders.get(name);
      if (holder !== undefined && holder !== provider.id) {
        problems.push(`${provider.id} name: '${name}' already names ${holder}`);
      } else holders.set(name, provider.id);
    }
    const aliases = provider.aliases.map((alias) => alias.toLowerCase());
    const twice = aliases.find((alias, i) => aliases.indexOf(alias) !== i || alias === provider.name.toLowerCase());
    if (twice !== undefined) problems.push(`${provider.id} aliases: '${twice}' is a duplicate`);
  }
  return problems;
}

/** One pattern names one provider; otherwise the order of files would decide which provider a domain uses. */
function sharedPatterns(providers: readonly Provider[]): string[] {
  const holders = new Map<string, string>();
  const problems: string[] = [];
  for (const provider of providers) {
    for (const [groupIndex, group] of provider.rules.entries()) {
      for (const { channel, pattern, path } of patternsOf(group)) {
        const key = `${channel} ${pattern.toLowerCase()}`;
        const holder = holders.get(key);
        if (holder === undefined) holders.set(key, provider.id);
        else if (holder !== provider.id) {
          problems.push(`${provider.id} rules.${groupIndex}.${path}: '${pattern}' is already a pattern of ${holder}`);
        }
      }
    }
  }
  return problems;
}

/** Channels whose patterns are hosts; a host below the pattern matches. */
const HOST_CHANNELS: ReadonlySet<Channel> = new Set(['ns', 'soa', 'mx', 'spf', 'dmarc', 'caa', 'cname', 'named']);

/** A public suffix would name everyone who registers below it; so would one below wildcards. */
function suffixPatterns(providers: readonly Provider[]): string[] {
  return providers.flatMap(({ id, rules }) =>
    rules.flatMap((group, i) =>
      patternsOf(group).flatMap(({ channel, pattern, target = pattern, path }) => {
        if (!HOST_CHANNELS.has(channel)) return [];
        const host = target.toLowerCase().replace(/^(?:\**\.)+/, '');
        return host !== '*' && !isRegistrySuffix(host)
          ? []
          : [
              `${id} rules.${i}.${path}: '${pattern}' is a public suffix, which has names of anyone; name the provider's host`,
            ];
      }),
    ),
  );
}

/**
 * A provider has one role in a category: a vendor's gateway and its reports are two providers. Receiving reports does not
 * make a provider the only holder of anything.
 */
function mistakenRoles(providers: readonly Provider[]): string[] {
  return providers.flatMap((provider) =>
    provider.rules.flatMap(({ category, role, dmarc }, i) => {
      const held = roleIn(provider, category);
      if (role !== undefined && role !== held)
        return [`${provider.id} rules.${i}.role: its role in ${category} is already ${held}`];
      const isHolder = dmarc !== undefined && EXCLUSIVE_ROLES.has(held);
      return isHolder ? [`${provider.id} rules.${i}.dmarc: a report address does not show the role ${held}`] : [];
    }),
  );
}

/** One product belongs to one provider; otherwise an advisory would name two. */
function sharedProducts(providers: readonly Provider[]): string[] {
  const holders = new Map<string, string>();
  return providers.flatMap((provider) =>
    productKeysOf(provider).flatMap((key) => {
      const holder = holders.get(key);
      holders.set(key, provider.id);
      return holder === undefined ? [] : [`${provider.id} products: '${key}' already names ${holder}`];
    }),
  );
}
