// One CPE match criterion of NVD, compiled: its product, its versions, and its other conditions.
import type { CpeCriterion, ProductKey } from '../advisory.ts';
import { type Cpe, parseCpe, productKeyOf } from '../cpe/cpe.ts';
import { plainText } from '../cpe/cpe-value.ts';
import {
  exact,
  type Interval,
  intervalOf,
  intervalOfUpdates,
  intervalOfVersion,
  rangeText,
  versionText,
} from '../versions/ranges.ts';
import { holdsOn, needOfCpe, needOfText, type SystemNeed } from './platform.ts';
import { inIntervals, type PreparedProduct } from './prepared-product.ts';
import { and, CONDITION, not, TRUE, type Truth } from './truth.ts';

/** Criteria of one product that differ only in their versions are joined. */
export interface Criterion {
  readonly kind: 'criterion';
  /** Undefined if the name is invalid, or names many products. */
  readonly product: ProductKey | undefined;
  readonly scheme: 'dotted' | 'openssl';
  readonly intervals: readonly Interval[];
  /** False if some versions are missing in `intervals`, because they cannot be compared. */
  readonly isComplete: boolean;
  readonly rangeTexts: readonly string[];
  readonly isVulnerable: boolean;
  readonly isNegated: boolean;
  /**
   * The condition of the name in addition to the version: an operating system, or an edition, which is never observed.
   */
  readonly runsOn: SystemNeed | 'nothing' | 'unknown';
  /** The operating system that the name denotes, if it denotes one. */
  readonly system: SystemNeed | undefined;
}

/** NVD's products whose versions are not in dotted order. */
const SCHEMES: ReadonlyMap<ProductKey, 'openssl'> = new Map([['cpe:openssl:openssl', 'openssl']]);
/** A library's language is not a condition: every installation of the product has it. */
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
/** The host of a product that exists only as a part of it. */
const HOSTS: ReadonlyMap<ProductKey, string> = new Map([
  ['cpe:woocommerce:woocommerce', 'wordpress'],
  ['cpe:automattic:woocommerce', 'wordpress'],
]);
const NO_VERSIONS = { intervals: [], isComplete: false, rangeTexts: [] };

export function compileCriterion({ name, isVulnerable, range }: CpeCriterion, isNegated: boolean): Criterion {
  const cpe = parseCpe(name);
  const product = cpe && productKeyOf(cpe);
  const scheme = SCHEMES.get(product ?? '') ?? 'dotted';
  const isBounded = range.from !== undefined || range.to !== undefined;
  const system = cpe && needOfCpe(cpe);
  const { intervals, isComplete, rangeTexts } = cpe ? versionsOf(cpe, { range, scheme, product }) : NO_VERSIONS;
  return {
    kind: 'criterion',
    product,
    scheme,
    intervals,
    isComplete,
    rangeTexts,
    isVulnerable,
    isNegated,
    runsOn: cpe ? runsOnOf(cpe, product) : 'unknown',
    system: system && isBounded ? { ...system, isAnyOfFamily: false } : system,
  };
}

function versionsOf(
  { version, update }: Cpe,
  { range, scheme, product }: Pick<CpeCriterion, 'range'> & Pick<Criterion, 'scheme' | 'product'>,
): Pick<Criterion, 'intervals' | 'isComplete' | 'rangeTexts'> {
  if (version.kind === 'any')
    return versions(intervalOf(range, scheme, product === undefined ? [] : [product]), rangeText(range));
  const exact = plainText(version);
  if (exact === undefined) return NO_VERSIONS;
  if (update.kind === 'any') return versions(intervalOfUpdates(exact, scheme), versionText(exact));
  if (update.kind === 'na') return versions(intervalOfVersion(exact, scheme), versionText(exact));
  const withUpdate = `${exact}-${plainText(update) ?? '*'}`;
  return versions(intervalOfVersion(withUpdate, scheme), versionText(withUpdate));
}

function versions(interval: Interval | undefined, rangeTexts: string) {
  return { intervals: interval ? [interval] : [], isComplete: interval !== undefined, rangeTexts: [rangeTexts] };
}

function runsOnOf(
  { targetSw, edition, swEdition, targetHw }: Cpe,
  product: ProductKey | undefined,
): Criterion['runsOn'] {
  if ([edition, swEdition, targetHw].some(({ kind }) => kind !== 'any')) return 'unknown';
  const target = plainText(targetSw);
  if (target === undefined || LANGUAGES.has(target) || HOSTS.get(product ?? '') === target) return 'nothing';
  // `android` or `wordpress` denotes an app or a plugin with the name of the product, or another edition of it.
  return needOfText(target.replaceAll('_', ' '));
}

/** Text that is equal for criteria that differ only in their versions; undefined if they must not be joined. */
export function likenessOf({ product, isVulnerable, isNegated, runsOn, system }: Criterion): string | undefined {
  return isNegated ? undefined : [product, isVulnerable, needText(runsOn), needText(system)].join(' ');
}

function needText(need: Criterion['runsOn'] | undefined): string {
  return typeof need === 'object' ? `${need.family} ${need.isAnyOfFamily}` : `${need}`;
}

/** Joins equal criteria, with all their versions. */
export function unite(criteria: readonly Criterion[]): readonly Criterion[] {
  return criteria.slice(0, 1).map((first) => ({
    ...first,
    intervals: exact(criteria.flatMap(({ intervals }) => intervals)),
    isComplete: criteria.every(({ isComplete }) => isComplete),
    rangeTexts: exact(criteria.flatMap(({ rangeTexts }) => rangeTexts)),
  }));
}

/** Whether the observed product meets the criterion. */
export function meets(criterion: Criterion, prepared: PreparedProduct): Truth {
  const isMet = isOf(criterion, prepared)
    ? and(inIntervals(prepared, criterion.scheme, criterion), holdsFor(criterion.runsOn, prepared.platform))
    : elsewhere(criterion, prepared);
  return criterion.isNegated ? not(isMet) : isMet;
}

/** Whether the criterion names the observed product. */
export function isOf({ product }: Criterion, { keys }: PreparedProduct): boolean {
  return product !== undefined && keys.includes(product);
}

/** Other products are unknown, except for the operating system, which the platform shows. */
function elsewhere({ system }: Criterion, { platform }: PreparedProduct): Truth {
  return system === undefined ? CONDITION : holdsOn(system, platform);
}

function holdsFor(need: Criterion['runsOn'], platform: string | null): Truth {
  if (need === 'nothing') return TRUE;
  return need === 'unknown' ? CONDITION : holdsOn(need, platform);
}
