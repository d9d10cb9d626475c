// Compiles the catalog for matching into tries and maps; a look-up costs the same with 100 or 10,000 rules.

import { type CompiledSets, compileSets } from '../fingerprints/compile/compile-sets.ts';
import type { FingerprintSet } from '../fingerprints/read/fingerprint-set.ts';
import { ENGINE_VERSION, FAMILY_OF, strengthOf } from '../match/strengths.ts';
import { registrableDomain } from '../names/names.ts';
import { type Category, mainRoleOf, type Role, type RoleOf, roleIn, type Source } from '../profile.ts';
import type { AddressRanges } from '../ranges/address-ranges.ts';
import type { SectorList } from '../sector/sector.ts';
import type { Provider, RuleGroup } from './catalog.ts';
import { Digest } from './digest.ts';
import { addRule, createMatchers, getOrCreate, isOfSite, type Matchers, type Rule } from './matchers.ts';
import { type Channel, isDkimLabel, type Pattern, patternsOf, SOURCE_OF } from './patterns.ts';
import { SITE_LABELS } from './site-labels.ts';

/** A compiled catalog. Immutable; share one among all probes. */
export interface Rulebook {
  /** Derived from the rules and the engine version: the same rules give the same version everywhere. */
  readonly version: string;
  readonly providers: ReadonlyMap<string, Provider>;
  /** DKIM selectors, then hosts, each sorted; probes answer in this order. */
  readonly probeLabels: readonly string[];
  /** Those of which every pattern shows a mailbox, with the providers. */
  readonly mailboxLabels: ReadonlyMap<string, ReadonlySet<string>>;
  /** By id, name or alias, case-insensitive. */
  findProvider(nameOrAlias: string): Provider | undefined;
  readonly matchers: Matchers;
  /** The operator's list. */
  readonly sectors: SectorList;
  /** Published address ranges, if any were loaded. */
  readonly ranges: AddressRanges | undefined;
  /** The role of a provider in a category; undefined for an unknown provider. */
  readonly roleOf: RoleOf;
  /** The sources that can provide evidence of a role under this rulebook. */
  readonly sourcesOf: ReadonlyMap<Role, ReadonlySet<Source>>;
  /** Community sets, if any were loaded. */
  readonly sets: CompiledSets | undefined;
}

/** The operator's additions to the catalog. */
export interface CompileOptions {
  readonly sectors?: SectorList;
  readonly ranges?: AddressRanges | undefined;
  /** Community sets from `readFingerprints`. */
  readonly sets?: FingerprintSet | undefined;
}

/** Compiles validated providers; pure, tens of milliseconds for thousands of rules. */
export function compileRulebook(
  catalog: readonly Provider[],
  { sectors = new Map(), ranges, sets: given }: CompileOptions = {},
): Rulebook {
  const matchers = createMatchers();
  const rules: Rule[] = [];
  const labelled = new Map<string, Rule[]>();
  const services = new Map<string, string>();
  for (const provider of catalog) {
    const isGateway = provider.rules.some((group) => group.category === 'email_security' && group.mx !== undefined);
    for (const group of provider.rules) {
      const role = roleIn(provider, group.category);
      const [isParking, isShared] = [group.parking === true, group.shared === true];
      const hasNetworks = provider.rules.some(({ category, asn }) => category === group.category && asn !== undefined);
      for (const pattern of [...patternsOf(group), ...primariesOf(group, provider)]) {
        const rule = createRule(provider.id, group.category, pattern, {
          ...{ role, isParking, isShared, isGateway, hasNetworks, services },
        });
        rules.push(rule);
        addRule(matchers, pattern, rule);
        if (ASKED.has(pattern.channel)) getOrCreate(labelled, pattern.key ?? pattern.pattern, () => []).push(rule);
      }
    }
  }
  const sets = given && compileSets(given, catalog);
  const providers = new Map([...(sets?.added ?? []), ...catalog].map((provider) => [provider.id, provider]));
  const roleOf: RoleOf = (category, id) => {
    const provider = providers.get(id);
    return provider && roleIn(provider, category);
  };
  // The catalog's names come last and take precedence.
  const names = new Map(
    [...providers.values()].flatMap((provider) =>
      [provider.id, provider.name, ...provider.aliases].map((name) => [name.toLowerCase(), provider] as const),
    ),
  );
  return {
    version: versionOf([...rules.map(lineOf), ...(sets?.lines ?? [])], { sectors, ranges }),
    providers,
    probeLabels: probeLabelsOf(matchers, rules),
    mailboxLabels: mailboxLabelsOf(labelled),
    findProvider: (nameOrAlias) => names.get(nameOrAlias.toLowerCase()),
    matchers,
    sectors,
    ranges,
    roleOf,
    sourcesOf: sourcesByRole(rules, { roleOf, ranges, ofSets: sets?.sources ?? [] }),
    sets,
  };
}

/** Channels of the labels that are asked for. */
const ASKED: ReadonlySet<Channel> = new Set(['named', 'dkim', 'txt-at']);

function mailboxLabelsOf(labelled: ReadonlyMap<string, readonly Rule[]>): Rulebook['mailboxLabels'] {
  const ofMailboxes = [...labelled].filter(
    ([label, rules]) =>
      !SITE_LABELS.has(label) && rules.every(({ role, isParking }) => role === 'mailbox' && !isParking),
  );
  return new Map(ofMailboxes.map(([label, rules]) => [label, new Set(rules.map(({ provider }) => provider))]));
}

/** The labels of `named` and `dkim` patterns, and those of sites if any pattern can match there. */
function probeLabelsOf({ named, keys }: Matchers, rules: readonly Rule[]): readonly string[] {
  const sites = rules.some(isOfSite) ? SITE_LABELS : [];
  const labels = [...new Set([...named.keys(), ...keys.keys(), ...sites])].sort();
  return [...labels.filter(isDkimLabel), ...labels.filter((label) => !isDkimLabel(label))];
}

/**
 * Behind vanity name servers the SOA's MNAME is often still one of the provider's own. A parking provider's name there is
 * a leftover too often to call a domain parked.
 */
function primariesOf({ ns = [], category, parking }: RuleGroup, { rules }: Provider): Pattern[] {
  if (category !== 'dns' || parking) return [];
  // Another group may have the pattern: groups differ in their sources.
  const added = ns.filter(
    (pattern) => !rules.some((group) => group.category === 'dns' && group.soa?.includes(pattern)),
  );
  return added.map((pattern, i) => ({ channel: 'soa', pattern, path: `ns.${i}` }));
}

function createRule(
  provider: string,
  category: Category,
  { channel, pattern, version }: Pattern,
  options: Pick<Rule, 'role' | 'isParking' | 'isShared' | 'hasNetworks'> & {
    isGateway: boolean;
    services: Map<string, string>;
  },
): Rule {
  const { role } = options;
  const source = SOURCE_OF[channel];
  const isHostedRecord = channel === 'spf' && category === 'email_security' && !options.isGateway;
  const rule: Rule = {
    id: `${provider}/${source}/${pattern}`,
    provider,
    category,
    role,
    channel,
    source,
    family: FAMILY_OF[channel],
    // A vendor that hosts the SPF record itself is as certain as a sender in it.
    strength: strengthOf(options.isShared ? 'asn' : channel, isHostedRecord ? 'email_sending' : category),
    isParking: options.isParking,
    isShared: options.isShared,
    isRegistrableDomain: channel === 'mx' && registrableDomain(pattern) === pattern,
    hasNetworks: options.hasNetworks,
    version,
    service: serviceOf(category, provider, options.services),
    asSender: undefined,
  };
  if (channel !== 'spf' || isHostedRecord || (category !== 'email' && category !== 'email_security')) return rule;
  return {
    ...rule,
    asSender: {
      ...rule,
      category: 'email_sending',
      role: 'sender',
      strength: strengthOf('spf', 'email_sending'),
      service: serviceOf('email_sending', provider, options.services),
    },
  };
}

/** One string object for each service, so that comparisons compare references. */
function serviceOf(category: Category, provider: string, services: Map<string, string>): string {
  const service = `${category} ${provider}`;
  return getOrCreate(services, service, () => service);
}

function sourcesByRole(
  rules: readonly Rule[],
  {
    roleOf,
    ranges,
    ofSets,
  }: {
    readonly roleOf: RoleOf;
    readonly ranges: AddressRanges | undefined;
    readonly ofSets: CompiledSets['sources'];
  },
): ReadonlyMap<Role, ReadonlySet<Source>> {
  const sources = new Map<Role, Set<Source>>();
  for (const [role, source] of ofSets) getOrCreate(sources, role, () => new Set()).add(source);
  const all = rules.flatMap((rule) => (rule.asSender ? [rule, rule.asSender] : [rule]));
  for (const { role, source } of all) getOrCreate(sources, role, () => new Set()).add(source);
  for (const { category, provider } of ranges?.products ?? []) {
    getOrCreate(sources, roleOf(category, provider) ?? mainRoleOf(category), () => new Set()).add(SOURCE_OF.range);
  }
  return sources;
}

/** Independent of the order of files and entries. Includes the operator's additions, because they affect results. */
function versionOf(
  ofRules: readonly string[],
  { sectors, ranges }: { readonly sectors: SectorList; readonly ranges: AddressRanges | undefined },
): string {
  const listed = Array.from(sectors, ([domain, sector]) => `sector ${domain} ${sector}`);
  const lines = [...ofRules, ...listed].sort();
  if (ranges) lines.push(`ranges ${ranges.digest}`);
  return `${ENGINE_VERSION}-${new Digest().addText(`${ENGINE_VERSION}\n${lines.join('\n')}`).hex}`;
}

function lineOf({ id, category, role, isParking, isShared, version }: Rule): string {
  return `${category} ${role} ${id}${isParking ? ' parking' : ''}${isShared ? ' shared' : ''}${version === undefined ? '' : ` version ${version}`}`;
}
