// Conditions on the version that a domain shows of a provider: `nginx`, `nginx<1.26`.
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';
import { type Query, QueryError, type QueryNames, type QueryValue, type VersionBound } from './query.ts';

/** Longer ones are not versions. */
const MAX_VERSION = 64;

export function versionCondition(value: QueryValue, names: QueryNames): Query {
  const [, name = '', sign, version = ''] = /^(.*?)(?:([<>]=?|=)(.*))?$/s.exec(value.text) ?? [];
  const id = names.providerId(name);
  if (id === undefined)
    throw new QueryError(`unknown provider ${name.slice(0, 64)}`, value.start, names.nearestProvider(name));
  if (sign === undefined) return { kind: 'version', id };
  if (version.length > MAX_VERSION || partsOf(version).length === 0)
    throw new QueryError(`expected a version, such as ${name.slice(0, 64)}${sign}1.2`, value.start);
  // The pattern matches no other sign.
  return { kind: 'version', id, bound: { sign: sign as VersionBound['sign'], version } };
}

/** The domains of each build that matches; a domain may be in several. */
export function versionSets(
  { vocabulary, builds }: DomainIndex,
  { id, bound }: { readonly id: string; readonly bound?: VersionBound },
): DomainSet[] {
  const provider = vocabulary.providers.find(id);
  if (provider === undefined) return [];
  const matching = [...builds.of(provider)].filter((number) => !bound || isWithin(builds.word(number)[1], bound));
  return matching.map((number) => builds.domains(number));
}

function isWithin(shown: string, { sign, version }: VersionBound): boolean {
  const order = compareParts(partsOf(shown), partsOf(version));
  return sign === '='
    ? order === 0
    : (sign.startsWith('<') ? order < 0 : order > 0) || (sign.length > 1 && order === 0);
}

/** The numbers in a version; letters are not compared. */
const partsOf = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).map(Number);

/** A missing number is 0: 1.26 is 1.26.0. */
function compareParts(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
