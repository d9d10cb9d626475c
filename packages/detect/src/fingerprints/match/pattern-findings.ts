// Matches the evidence against a set's patterns, field by field: the matched value, its channel, its share of the
// strength.

import type { Reading } from '../../evidence/reading.ts';
import { type Finding, findingOf } from '../../match/finding.ts';
import { webAliases } from '../../match/match-dns.ts';
import { issuerCap, showsTheWall } from '../../match/match-web.ts';
import { BACKUP_MX_STRENGTH } from '../../match/strengths.ts';
import { shownVersion } from '../../match/version.ts';
import { isMachineName } from '../../names/machine-name.ts';
import type { Source } from '../../profile.ts';
import { readingsOf, ruleOfPattern, type TxtReading } from '../compile/channels.ts';
import type { CompiledSets } from '../compile/compile-sets.ts';
import type { OwnedPattern } from '../compile/pattern-index.ts';
import { type Match, Search } from './search.ts';
import { visibleText } from './visible-text.ts';

/** A finding before confidences are added up. */
export interface PatternFinding {
  readonly owner: number;
  readonly finding: Finding;
  /** 0–100, from the pattern. */
  readonly confidence: number;
  /** Limit of the strength by circumstances, independent of confidence. */
  readonly cap: number;
}

/** Only the beginning of longer header values is searched, as for our own rules. */
const MAX_VALUE_LENGTH = 1024;
const MAX_TXT_LENGTH = 2048;
/**
 * Evidence does not record which element loads an address, so addresses whose extension is not a script's are excluded.
 */
const NO_SCRIPT = /\.(?:css|png|jpe?g|gif|svg|webp|avif|ico|bmp|woff2?|ttf|otf|eot|mp[34]|webm|pdf|xml|webmanifest)$/i;
const SPF_RECORD = /^v=spf1(?: |$)/i;

interface PatternFindings {
  readonly found: readonly PatternFinding[];
  /** Sources that the search limit left partly unsearched. */
  readonly unsearched: ReadonlySet<Source>;
}

/** All pattern findings in a reading. Time is proportional to the evidence, within the search limit. */
export function patternFindingsIn(reading: Reading, sets: CompiledSets): PatternFindings {
  const search = new Search(sets);
  const found: PatternFinding[] = [];
  const add = (matches: readonly Match[], how: Circumstances = {}) => {
    for (const match of matches) {
      const of = sets.technologies[match.owner];
      if (!of) continue;
      const rule = ruleOfPattern(of, match.pattern, how.reading ?? 'plain');
      const { isPreferred, serverHeader = null, header = null } = how;
      // The name of a rented machine contains its provider's name; that is not a mail product of the provider.
      if (isPreferred !== undefined && rule.role === 'mailbox' && isMachineName(match.value)) continue;
      const finding = findingOf(rule, how.shownAs ?? match.value, {
        isPreferred,
        shown: shownVersion(match.version, { header, serverHeader }),
      });
      found.push({ owner: match.owner, finding, confidence: match.pattern.confidence, cap: how.cap ?? 1 });
    }
  };
  addNames(reading, search, add);
  addWeb(reading, search, add);
  return { found, unsearched: sourcesOf(search.leftOut, sets) };
}

function sourcesOf(leftOut: Iterable<OwnedPattern>, { technologies }: CompiledSets): ReadonlySet<Source> {
  const sources = new Set<Source>();
  for (const { owner, pattern } of leftOut) {
    const of = technologies[owner];
    if (!of) continue;
    for (const reading of readingsOf(pattern)) sources.add(ruleOfPattern(of, pattern, reading).source);
  }
  return sources;
}

interface Circumstances {
  readonly reading?: TxtReading;
  readonly shownAs?: string;
  readonly cap?: number;
  readonly isPreferred?: boolean;
  readonly header?: string | null;
  readonly serverHeader?: string | null;
}
type Add = (matches: readonly Match[], how?: Circumstances) => void;

function addNames(reading: Reading, search: Search, add: Add): void {
  const { dns, tls } = reading.evidence;
  for (const host of dns.ns.records) add(search.matches('dns', 'NS', host));
  for (const { mname, rname } of dns.soa.records) {
    for (const name of [mname, rname]) add(search.matches('dns', 'SOA', name));
  }
  for (const { host, isPreferred } of reading.exchanges) {
    add(search.matches('dns', 'MX', host), { isPreferred, cap: isPreferred ? 1 : BACKUP_MX_STRENGTH });
  }
  for (const txt of dns.txt.records) {
    const isSpf = SPF_RECORD.test(txt);
    const matches = search.matches('dns', 'TXT', txt.slice(0, MAX_TXT_LENGTH));
    add(matches, { ...(isSpf ? { reading: 'spf' } : {}), shownAs: txt });
  }
  for (const alias of webAliases(reading)) add(search.matches('dns', 'CNAME', alias));
  const cap = reading.hasOwnCertificate && tls.issuer !== null ? issuerCap(tls) : 0;
  if (cap > 0) add(search.matches('certIssuer', '', tls.issuer ?? ''), { cap });
}

/**
 * As for our own rules: of a wall's answer only what identifies the wall, of a redirect only headers, of another
 * domain's answer nothing.
 */
function addWeb({ webAnswer, evidence: { http } }: Reading, search: Search, add: Add): void {
  if (webAnswer === 'none' || webAnswer === 'elsewhere') return;
  const serverHeader = Object.hasOwn(http.headers, 'server') ? (http.headers.server ?? null) : null;
  for (const [name, value] of Object.entries(http.headers)) {
    const matches = search.matches('headers', name, value.slice(0, MAX_VALUE_LENGTH));
    add(matches, { shownAs: `${name}: ${value}`, header: name, serverHeader });
  }
  for (const cookie of http.cookies) {
    add(search.matches('cookies', cookie, cookie), { shownAs: cookie });
    add(search.matches('cookies', '', cookie));
  }
  const { page } = http;
  if (webAnswer !== 'own') return;
  if (http.url !== null) add(search.matches('url', '', http.url));
  if (page === null) return;
  for (const [name, content] of Object.entries(page.metas)) {
    add(search.matches('meta', name, content), name === 'generator' ? {} : { shownAs: `${name}: ${content}` });
  }
  add(search.firstMatches('scriptSrc', page.assets.filter(mayBeScript)));
  const { source } = page;
  if (source === undefined) return;
  add(search.matches('html', '', source));
  if (search.has('text')) add(search.matches('text', '', visibleText(source)));
}

function mayBeScript(address: string): boolean {
  const [path = ''] = address.split(/[?#]/, 1);
  return !NO_SCRIPT.test(path);
}

/** Whether a finding is valid although a wall answered. */
export function isValidAtWall({ finding }: PatternFinding): boolean {
  const { source } = finding.rule;
  return (source !== 'header' && source !== 'cookie') || showsTheWall(finding);
}
