// One CPE match criterion of NVD, made ready: whose product it is, which versions, and what else it asks for.
import type { CpeCriterion, ProductKey } from '../advisory.ts';
import { type Cpe, parseCpe, productKeyOf } from '../cpe/cpe.ts';
import { plainText } from '../cpe/cpe-value.ts';
import {
  exact,
  type Interval,
  intervalOf,
  intervalOfUpdates,
  intervalOfVersion,
  rangeInWords,
  versionInWords,
} from '../versions/ranges.ts';
import { holdsOn, needOfCpe, needOfWords, type SystemNeed } from './platform.ts';
import { inIntervals, type Seen } from './seen.ts';
import { and, CONDITION, not, TRUE, type Truth } from './truth.ts';

/** Criteria of one product that differ only in their versions are one. */
export interface Criterion {
  readonly kind: 'criterion';
  /** Undefined where the name is none, or names many products. */
  readonly product: ProductKey | undefined;
  readonly scheme: 'dotted' | 'openssl';
  readonly intervals: readonly Interval[];
  /** False where some versions are left out of `intervals`, because nothing can be compared with them. */
  readonly isWhole: boolean;
  readonly words: readonly string[];
  readonly isVulnerable: boolean;
  readonly isNegated: boolean;
  /** What the name asks of its product besides a version: a system it runs on, or an edition, which is never seen. */
  readonly runsOn: SystemNeed | 'nothing' | 'unknown';
  /** The system that the name itself is, where it is one. */
  readonly system: SystemNeed | undefined;
}

/** NVD's products whose versions are not in dotted order. */
const SCHEMES: ReadonlyMap<ProductKey, 'openssl'> = new Map([['cpe:openssl:openssl', 'openssl']]);
/** What a library is written in asks for nothing: whoever shows the product has that too. */
const LANGUAGES: ReadonlySet<string> = new Set([
  ...[
    'node.js',
    'python',
    'ruby',
    'rails',
    'php',
    'java',
    'go',
    'golang',
    'rust',
    'perl',
    '.net',
    'asp.net',
    'elixir',
    'erlang',
  ],
]);
/** What a product is always a part of. */
const HOSTS: ReadonlyMap<ProductKey, string> = new Map([
  ['cpe:woocommerce:woocommerce', 'wordpress'],
  ['cpe:automattic:woocommerce', 'wordpress'],
]);
const NO_VERSIONS = { intervals: [], isWhole: false, words: [] };

export function compileCriterion({ name, isVulnerable, range }: CpeCriterion, isNegated: boolean): Criterion {
  const cpe = parseCpe(name);
  const product = cpe && productKeyOf(cpe);
  const scheme = SCHEMES.get(product ?? '') ?? 'dotted';
  const isBounded = range.from !== undefined || range.to !== undefined;
  const system = cpe && needOfCpe(cpe);
  const { intervals, isWhole, words } = cpe ? versionsOf(cpe, { range, scheme, product }) : NO_VERSIONS;
  return {
    kind: 'criterion',
    product,
    scheme,
    intervals,
    isWhole,
    words,
    isVulnerable,
    isNegated,
    runsOn: cpe ? runsOnOf(cpe, product) : 'unknown',
    system: system && isBounded ? { ...system, isWhole: false } : system,
  };
}

function versionsOf(
  { version, update }: Cpe,
  { range, scheme, product }: Pick<CpeCriterion, 'range'> & Pick<Criterion, 'scheme' | 'product'>,
): Pick<Criterion, 'intervals' | 'isWhole' | 'words'> {
  if (version.kind === 'any')
    return versions(intervalOf(range, scheme, product === undefined ? [] : [product]), rangeInWords(range));
  const exact = plainText(version);
  if (exact === undefined) return NO_VERSIONS;
  if (update.kind === 'any') return versions(intervalOfUpdates(exact, scheme), versionInWords(exact));
  if (update.kind === 'na') return versions(intervalOfVersion(exact, scheme), versionInWords(exact));
  const whole = `${exact}-${plainText(update) ?? '*'}`;
  return versions(intervalOfVersion(whole, scheme), versionInWords(whole));
}

function versions(interval: Interval | undefined, words: string) {
  return { intervals: interval ? [interval] : [], isWhole: interval !== undefined, words: [words] };
}

function runsOnOf(
  { targetSw, edition, swEdition, targetHw }: Cpe,
  product: ProductKey | undefined,
): Criterion['runsOn'] {
  if ([edition, swEdition, targetHw].some(({ kind }) => kind !== 'any')) return 'unknown';
  const target = plainText(targetSw);
  if (target === undefined || LANGUAGES.has(target) || HOSTS.get(product ?? '') === target) return 'nothing';
  // Of `android` or `wordpress` it is an app or a plugin that has the name of what was seen, or some other edition of it.
  return needOfWords(target.replaceAll('_', ' '));
}

/** Text that is the same for criteria that differ only in their versions; undefined where they are not to be one. */
export function likenessOf({ product, isVulnerable, isNegated, runsOn, system }: Criterion): string | undefined {
  return isNegated ? undefined : [product, isVulnerable, needText(runsOn), needText(system)].join(' ');
}

function needText(need: Criterion['runsOn'] | undefined): string {
  return typeof need === 'object' ? `${need.family} ${need.isWhole}` : `${need}`;
}

/** Criteria alike as one, with the versions of all. */
export function unite(criteria: readonly Criterion[]): readonly Criterion[] {
  return criteria.slice(0, 1).map((first) => ({
    ...first,
    intervals: exact(criteria.flatMap(({ intervals }) => intervals)),
    isWhole: criteria.every(({ isWhole }) => isWhole),
    words: exact(criteria.flatMap(({ words }) => words)),
  }));
}

/** Whether the criterion is met where the product was seen. */
export function meets(criterion: Criterion, seen: Seen): Truth {
  const isMet = isOf(criterion, seen)
    ? and(inIntervals(seen, criterion.scheme, criterion), holdsFor(criterion.runsOn, seen.platform))
    : elsewhere(criterion, seen);
  return criterion.isNegated ? not(isMet) : isMet;
}

/** Whether the criterion speaks of the seen product. */
export function isOf({ product }: Criterion, { keys }: Seen): boolean {
  return product !== undefined && keys.includes(product);
}

/** Of other products nothing is known, save what the platform tells. */
function elsewhere({ system }: Criterion, { platform }: Seen): Truth {
  return system === undefined ? CONDITION : holdsOn(system, platform);
}

function holdsFor(need: Criterion['runsOn'], platform: string | null): Truth {
  if (need === 'nothing') return TRUE;
  return need === 'unknown' ? CONDITION : holdsOn(need, platform);
}
