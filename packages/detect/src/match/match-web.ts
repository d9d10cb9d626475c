// Matches the HTTP answer and the certificate. What a bot wall or another domain sent does not describe the site.
import type { HttpEvidence, Page, TlsEvidence } from '../evidence/evidence.ts';
import { isPassingError, type Reading } from '../evidence/reading.ts';
import { isWithin } from '../names/names.ts';
import type { AssetRule, Matchers, Rule } from '../rulebook/matchers.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { addFindings, type Finding, findingOf } from './finding.ts';
import { UNPROVEN_ISSUER_STRENGTH } from './strengths.ts';
import { type ShownVersion, shownVersion, versionAfter } from './version.ts';

/** Only the beginning of longer header values is searched. */
const MAX_HEADER_LENGTH = 1024;
/** Chain problems that a genuine certificate of a known authority can have. */
const LIKELY_GENUINE: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const NO_RULES: readonly Rule[] = [];
/** Files that a site's owner uploads are not packaged by the system's distribution. */
const IN_PAGE: ValueContext = { name: null, serverHeader: null };

/** Adds all findings of the HTTP and TLS parts of a reading. */
export function matchWeb(findings: Finding[], reading: Reading, { matchers }: Rulebook): void {
  const { http, tls } = reading.evidence;
  switch (reading.webAnswer) {
    case 'own':
      // An error page says no more about the site than a wall does.
      if (isPassingError(http.statusCode)) matchFront(findings, http, matchers);
      else {
        matchHeaders(findings, http, matchers);
        matchCookies(findings, http, matchers);
        if (http.page) matchPage(findings, http.page, { domain: reading.evidence.domain, matchers });
      }
      break;
    case 'wall':
      matchFront(findings, http, matchers);
      break;
    case 'redirect':
      matchHeaders(findings, http, matchers);
      matchCookies(findings, http, matchers);
      matchSeller(findings, reading, matchers);
      break;
    case 'elsewhere':
      matchSeller(findings, reading, matchers);
      break;
    case 'none':
      break;
    default:
      reading.webAnswer satisfies never;
  }
  if (reading.hasOwnCertificate) matchIssuer(findings, tls, matchers);
}

/**
 * Names for sale redirect to their seller: of another domain's answer only the redirect target describes this domain.
 */
function matchSeller(findings: Finding[], { evidence: { domain, http } }: Reading, matchers: Matchers): void {
  const walk = new AssetWalk(domain, matchers);
  for (const target of [...http.redirects, http.url ?? '']) {
    for (const rule of walk.rulesOf(target)) {
      if (rule.isParking) findings.push(findingOf(rule, target));
    }
  }
}

function matchFront(findings: Finding[], http: HttpEvidence, matchers: Matchers): void {
  const atFront: Finding[] = [];
  matchHeaders(atFront, http, matchers);
  matchCookies(atFront, http, matchers);
  findings.push(...atFront.filter(showsTheWall));
}

/** The wall itself, and a host that adds its own header to every response. */
export function showsTheWall({ rule }: Finding): boolean {
  if (rule.category === 'cdn' || rule.category === 'security') return true;
  return rule.role === 'origin' && rule.channel === 'private-header';
}

function matchHeaders(findings: Finding[], { headers }: HttpEvidence, matchers: Matchers): void {
  const serverHeader = Object.hasOwn(headers, 'server') ? (headers.server ?? null) : null;
  for (const name of Object.keys(headers)) {
    const matcher = matchers.headers.get(name);
    if (!matcher) continue;
    const value = headers[name] ?? '';
    const context: ValueContext = { name, serverHeader };
    for (const rule of matcher.present) addHeader(findings, rule, value, context);
    if (matcher.values.size === 0) continue;
    for (const rule of matcher.values.findWords(value.slice(0, MAX_HEADER_LENGTH).toLowerCase())) {
      addHeader(findings, rule, value, context);
    }
  }
}

function addHeader(findings: Finding[], rule: Rule, value: string, context: ValueContext): void {
  findings.push(findingOf(rule, `${context.name}: ${value}`, { shown: shownIn(value, rule, context) }));
}

interface ValueContext {
  /** Of a header; null if the value is from the page. */
  readonly name: string | null;
  readonly serverHeader: string | null;
}

function shownIn(value: string, { version }: Rule, { name, serverHeader }: ValueContext): ShownVersion | undefined {
  if (version === undefined) return undefined;
  return shownVersion(versionAfter(version, value), { header: name, serverHeader });
}

function matchCookies(findings: Finding[], { cookies }: HttpEvidence, matchers: Matchers): void {
  for (const cookie of cookies) {
    const exact = matchers.cookies.get(cookie);
    if (exact) addFindings(findings, exact, cookie);
    addFindings(findings, matchers.cookiePrefixes.findAt(cookie), cookie);
    for (const { end, minLength, rule } of matchers.cookieFrames.findAt(cookie)) {
      if (cookie.length >= minLength && cookie.endsWith(end)) findings.push(findingOf(rule, cookie));
    }
  }
}

function matchPage(
  findings: Finding[],
  { metas, assets, markers }: Page,
  { domain, matchers }: { readonly domain: string; readonly matchers: Matchers },
): void {
  const generator = Object.hasOwn(metas, 'generator') ? metas.generator : undefined;
  if (generator !== undefined) {
    for (const rule of matchers.prefixes.generator.findWordAt(generator.toLowerCase())) {
      findings.push(findingOf(rule, generator, { shown: shownIn(generator, rule, IN_PAGE) }));
    }
  }
  const walk = new AssetWalk(domain, matchers);
  const first = findings.length;
  for (const asset of assets) {
    for (const rule of walk.rulesOf(asset)) {
      // A page loads many files from one host: the first one is sufficient.
      if (!isFound(findings, first, rule)) findings.push(findingOf(rule, asset));
    }
  }
  for (const marker of markers) {
    const rules = matchers.markers.get(marker);
    if (rules) addFindings(findings, rules, marker);
  }
}

/** Whether the rule is among the findings from an index on. A page matches few rules, whatever it loads. */
function isFound(findings: readonly Finding[], from: number, rule: Rule): boolean {
  for (let i = from; i < findings.length; i++) if (findings[i]?.rule === rule) return true;
  return false;
}

/** The assets of one page, most of which share few hosts. */
class AssetWalk {
  readonly #domain: string;
  readonly #matchers: Matchers;
  #host = '';
  #isOwnHost = false;
  #hostRules: readonly AssetRule[] = [];

  constructor(domain: string, matchers: Matchers) {
    this.#domain = domain;
    this.#matchers = matchers;
  }

  rulesOf(asset: string): readonly Rule[] {
    const url = asset.toLowerCase();
    const hostStart = url.indexOf('://') + 3;
    if (hostStart === 2) return NO_RULES;
    const slash = url.indexOf('/', hostStart);
    const pathStart = slash === -1 ? url.length : slash;
    this.#enter(url, hostStart, pathStart);
    let rules: Rule[] | undefined;
    for (const { path, rule } of this.#hostRules) {
      if (path !== '' && !url.startsWith(path, pathStart)) continue;
      rules ??= [];
      addMoreSpecific(rules, rule);
    }
    const { assetFragments } = this.#matchers;
    for (let at = pathStart; at !== -1 && at < url.length; at = url.indexOf('/', at + 1)) {
      const fitting = assetFragments.findAt(url, at + 1);
      if (fitting.length === 0) continue;
      // An image from a partner's WordPress does not show WordPress here; scripts and styles from an asset host do.
      if (!this.#isOwnHost && !CODE.test(url)) break;
      rules ??= [];
      for (const rule of fitting) addMoreSpecific(rules, rule);
    }
    return rules ?? NO_RULES;
  }

  #enter(url: string, start: number, end: number): void {
    if (this.#host.length === end - start && url.startsWith(this.#host, start)) return;
    this.#host = url.slice(start, end);
    const host = hostWithoutPort(this.#host);
    this.#isOwnHost = isWithin(host, this.#domain);
    this.#hostRules = this.#matchers.assetHosts.findEvery(host);
  }
}

/** Patterns of one service may overlap: a file is one piece of evidence, by the last of them, the most specific. */
function addMoreSpecific(rules: Rule[], rule: Rule): void {
  let at = 0;
  while (at < rules.length && !isAlike(rules[at], rule)) at++;
  rules[at] = rule;
}

function isAlike(known: Rule | undefined, rule: Rule): boolean {
  return known?.service === rule.service && known.isParking === rule.isParking;
}

const CODE = /\.(?:m?js|css)(?:\?|$)/;

function hostWithoutPort(authority: string): string {
  const colon = authority.indexOf(':');
  return colon === -1 ? authority : authority.slice(0, colon);
}

/**
 * The issuer's name is only as reliable as the chain: anyone can choose the name in a self-signed certificate, and a
 * certificate for another name belongs to another site.
 */
function matchIssuer(findings: Finding[], tls: TlsEvidence, matchers: Matchers): void {
  const { issuer } = tls;
  const cap = issuerCap(tls);
  if (issuer === null || cap === 0) return;
  for (const rule of matchers.prefixes.tls.findWordAt(issuer.toLowerCase())) {
    findings.push(findingOf(rule, issuer, { strength: Math.min(rule.strength, cap) }));
  }
}

/** The maximum strength of an issuer's name in this certificate; 0 for a name that anyone could have written. */
export function issuerCap({ isTrusted, problem }: Pick<TlsEvidence, 'isTrusted' | 'problem'>): number {
  if (isTrusted !== false) return 1;
  return LIKELY_GENUINE.has(problem ?? '') ? UNPROVEN_ISSUER_STRENGTH : 0;
}
