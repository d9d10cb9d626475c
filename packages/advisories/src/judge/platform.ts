// Compares the platform in a server's header with the operating systems that advisories require.
import type { Cpe } from '../cpe/cpe.ts';
import { plainText } from '../cpe/cpe-value.ts';
import { CONDITION, FALSE, TRUE, type Truth } from './truth.ts';

type Family = 'windows' | 'linux' | 'macos' | 'bsd';

/** A required operating system; `isAnyOfFamily`: any version and edition of its family. */
export interface SystemNeed {
  readonly family: Family;
  readonly isAnyOfFamily: boolean;
}

const DISTRIBUTIONS = new RegExp(
  [
    'ubuntu|debian|devuan|raspbian|kylin|deepin|astra ?linux',
    'centos|red ?hat|rhel|fedora|alma ?linux|rocky|amazon|oracle linux|scientific|cloudlinux|clearos|virtuozzo|trustix|openeuler',
    'suse|\\bsles\\b|mageia|mandriva|mandrake|pclinuxos|alt ?linux|conectiva|turbolinux',
    'alpine|gentoo|arch ?linux|slackware|synology|qnap',
  ].join('|'),
);
/** Patterns of servers' and publishers' texts; `darwin` contains `win`. A text of several families belongs to none. */
const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/darwin|mac ?os|os ?x\b/, 'macos'],
  [/bsd/, 'bsd'],
  [/windows|^win(?:32|64|nt)?$|mingw|cygwin/, 'windows'],
  [/linux/, 'linux'],
  [DISTRIBUTIONS, 'linux'],
];
/** Names of an entire family; other texts name one system of it. */
const FAMILY_NAMES: ReadonlySet<string> = new Set(['windows', 'microsoft windows', 'linux', 'macos', 'bsd']);
/** The same as CPE names: a `linux` of another vendor is one distribution. */
const FAMILY_CPES: ReadonlySet<string> = new Set([
  ...['linux:linux_kernel', 'microsoft:windows', 'apple:macos', 'apple:mac_os_x'],
]);
/** `all except windows` is not Windows. */
const EXCEPTION = /\b(?:non?|not|except|excluding|other)\b/;
const EVERYWHERE: ReadonlySet<string> = new Set(['all', 'all platforms', 'any', '*', 'n/a', 'unspecified']);
/** Longer texts are ignored. */
const MAX_PLATFORM_LENGTH = 128;

/** Whether the platform is a Linux distribution, which backports fixes without a new version number. */
export function isDistribution(platform: string): boolean {
  // Exactly `oracle` is the name of Oracle's distribution; as a part, publishers also use it for other systems of
  // Oracle.
  return platform === 'oracle' || (platform.length <= MAX_PLATFORM_LENGTH && DISTRIBUTIONS.test(platform));
}

/** The requirement of a publisher's platform text: a system, nothing, or `unknown`. */
export function needOfText(text: string): SystemNeed | 'nothing' | 'unknown' {
  if (EVERYWHERE.has(text)) return 'nothing';
  const family = EXCEPTION.test(text) ? undefined : familyOf(text);
  return family === undefined ? 'unknown' : { family, isAnyOfFamily: FAMILY_NAMES.has(text) };
}

/** The operating system that a CPE name denotes; undefined if it denotes another product. */
export function needOfCpe({ part, vendor, product, version }: Cpe): SystemNeed | undefined {
  const system = plainText(product) ?? '';
  const family = familyOf(system.replaceAll('_', ' '));
  if (family === undefined || plainText(part) !== 'o') return undefined;
  return {
    family,
    isAnyOfFamily: plainText(version) === undefined && FAMILY_CPES.has(`${plainText(vendor)}:${system}`),
  };
}

/** Whether the observed platform is the required system. `unix` is everything except Windows. */
export function holdsOn(need: SystemNeed, platform: string | null): Truth {
  if (platform === null || platform.length > MAX_PLATFORM_LENGTH) return CONDITION;
  const observed = familyOf(platform);
  if (observed === undefined) return platform.includes('unix') && need.family === 'windows' ? FALSE : CONDITION;
  if (observed !== need.family) return FALSE;
  return need.isAnyOfFamily ? TRUE : CONDITION;
}

function familyOf(text: string): Family | undefined {
  if (text.length > MAX_PLATFORM_LENGTH) return undefined;
  const families = FAMILIES.filter(([pattern]) => pattern.test(text)).map(([, family]) => family);
  return families.every((family) => family === families[0]) ? families[0] : undefined;
}
