// What a company's services publish: its zone, the names outside it that the zone refers to, and the home page.
import type { Mint } from '@strata/testnet';
import { addressIn } from './address.ts';
import type { Company, Use } from './company.ts';
import { fill } from './fill.ts';
import { HomePage, type Page } from './home-page.ts';
import { type PolicyTerm, putPolicy, resold } from './policy.ts';
import type { Network } from './service.ts';

/** Data in the form that dns-packet encodes. */
export interface ZoneRecord {
  readonly type: string;
  readonly data: unknown;
}

export interface Published {
  /** Records by full name, the company's and those of its vendors' names. */
  readonly names: ReadonlyMap<string, readonly ZoneRecord[]>;
  readonly page: Page;
  /** The certificate's issuer as `organisation|common name|country`. */
  readonly issuer: string | undefined;
  /** The uses that something published distinguishes; the rest is invisible in principle. */
  readonly shown: ReadonlySet<Use>;
}

export interface PublishDeps {
  readonly mint: Mint;
  readonly networks: ReadonlyMap<string, Network>;
}

export function publish(company: Company, deps: PublishDeps): Published {
  const publisher = new Publisher(company, deps);
  for (const use of company.uses) for (const line of use.lines) publisher.publish(use, line);
  return publisher.finish();
}

/** Part of a name that only the vendor and the customer know; no query lists the names of a zone. */
const CUSTOMER_ID = /\{(?:hex|num|low|code)\d/;

interface Label {
  readonly label: string;
  /** Whether the label is the same for all customers, or follows from their name. */
  readonly isKnownName: boolean;
}

const PRIVATE = '10.20.0.5';

class Publisher {
  readonly #company: Company;
  readonly #deps: PublishDeps;
  readonly #names = new Map<string, ZoneRecord[]>();
  readonly #page = new HomePage();
  readonly #terms: PolicyTerm[] = [];
  readonly #reports: string[] = [];
  readonly #shown = new Set<Use>();
  readonly #front: Use | undefined;
  #issuer: string | undefined;
  #hasTypo = false;

  constructor(company: Company, deps: PublishDeps) {
    this.#company = company;
    this.#deps = deps;
    this.#front = company.uses.find(({ service: { role, records } }) => isSite(role) && records.some(isSiteAddress));
  }

  publish(use: Use, line: string): void {
    const { service } = use;
    const [kind = '', ...words] = line.split(' ');
    const rest = fill(words.join(' '), this.#deps.mint, service.vendor);
    const isKnownName = !CUSTOMER_ID.test(words[0] ?? '');
    const [first = '', second = '', ...more] = rest.split(' ');
    if (kind === 'NS') this.#nameServers(use, rest.split(' '));
    else if (kind === 'SOA') this.#soa(use, first, second);
    else if (kind === 'MX') this.#exchange(use, Number(first), second);
    else if (kind === 'SPF') this.#terms.push({ use, term: rest });
    else if (kind === 'TXT') this.#text(use, { label: first, text: [second, ...more].join(' '), isKnownName });
    else if (kind === 'CNAME' && first === 'www') this.#www(use, second);
    else if (kind === 'CNAME') this.#alias(use, { label: first, target: second, isKnownName });
    else if (kind === 'NAME') this.#name(use, first, second, more[0] ?? '');
    else if (kind === 'A') this.#address(use, second);
    else if (kind === 'RUA') this.#report(use, rest);
    else this.#onPage(use, kind, rest);
  }

  finish(): Published {
    const { domain, quirks, state } = this.#company;
    const isActive = state === 'active';
    if (this.#at(domain, 'NS').length === 0) this.#ownNameServers();
    if (this.#at(domain, 'SOA').length === 0) this.#put(domain, 'SOA', soaOf(`ns1.${domain}`, `hostmaster.${domain}`));
    if (quirks.reseller !== null && isActive) {
      const address = this.#addressOf('hetzner', quirks.reseller);
      for (const [name, type, data] of resold(domain, quirks.reseller, address)) this.#put(name, type, data);
      this.#terms.length = 0;
    }
    if (this.#at(domain, 'A').length === 0) {
      const host = this.#front ?? this.#company.uses.find(({ service: { role } }) => isSite(role));
      this.#put(domain, 'A', this.#addressOf(host?.service.network ?? 'access'));
      if (host) this.#showByAddress(host);
    }
    if (!this.#names.has(`www.${domain}`)) this.#put(`www.${domain}`, 'CNAME', domain);
    if (isActive) this.#finishMail();
    if (quirks.wildcard === 'alias') this.#put(`*.${domain}`, 'CNAME', domain);
    else if (quirks.wildcard !== 'none')
      for (const { data } of this.#at(domain, 'A')) this.#put(`*.${domain}`, 'A', data);
    if (quirks.wildcard === 'text') this.#put(`*.${domain}`, 'TXT', ['v=spf1 -all']);
    const page = this.#page.page(state === 'parked' ? `${domain} is for sale` : `Welcome to ${domain}`);
    return { names: this.#names, page, issuer: this.#issuer, shown: this.#shown };
  }

  #finishMail(): void {
    const { domain, quirks, uses } = this.#company;
    const hasMailVendor = uses.some(({ service: { role }, isCurrent }) => isCurrent && role.startsWith('mail'));
    if (!hasMailVendor && this.#at(domain, 'MX').length === 0 && this.#deps.mint.number('own mail', 0, 9) < 6) {
      this.#put(domain, 'MX', { preference: 10, exchange: `mail.${domain}` });
      this.#put(`mail.${domain}`, 'A', quirks.isSplitHorizon ? PRIVATE : this.#addressOf('access'));
    }
    const spf = { domain, policy: quirks.policy, hasTypo: quirks.typo === 'spf' };
    for (const use of putPolicy(spf, this.#terms, (name, text) => this.#put(name, 'TXT', [text]), this.#include))
      this.#shown.add(use);
    if (this.#reports.length === 0 && this.#deps.mint.number('dmarc', 0, 9) < 5) return;
    const addresses = (this.#reports.length > 0 ? this.#reports : [`dmarc@${domain}`]).map((to) => `mailto:${to}`);
    this.#put(`_dmarc.${domain}`, 'TXT', [`v=DMARC1; p=none; rua=${addresses.join(',')}`]);
  }

  /** An included policy of the vendor, with one of its addresses. */
  readonly #include = (use: Use, host: string): void => {
    if (!host.includes('%') && !this.#names.has(host))
      this.#put(host, 'TXT', [`v=spf1 ip4:${this.#addressOf(use.service.network)} ~all`]);
  };

  #nameServers(use: Use, hosts: readonly string[]): void {
    const { domain, quirks } = this.#company;
    const isVanity = quirks.serverNames !== 'usual' && use.isCurrent;
    for (const [i, host] of hosts.entries()) {
      const name = isVanity ? `ns${i + 1}.${domain}` : host;
      this.#put(domain, 'NS', name);
      this.#put(name, 'A', this.#addressOf(use.service.network, host));
    }
    if (!isVanity) this.#shown.add(use);
  }

  #soa(use: Use, mname: string, rname: string): void {
    const { domain, quirks } = this.#company;
    if (quirks.serverNames === 'vanity' || this.#at(domain, 'SOA').length > 0) return;
    this.#put(domain, 'SOA', soaOf(mname, rname));
    this.#shown.add(use);
  }

  #ownNameServers(): void {
    const { domain, quirks } = this.#company;
    const parent = quirks.reseller ?? domain;
    for (const host of [`ns1.${parent}`, `ns2.${parent}`]) {
      this.#put(domain, 'NS', host);
      this.#put(host, 'A', this.#addressOf('access', host));
    }
  }

  #exchange(use: Use, preference: number, host: string): void {
    const { domain, quirks, uses } = this.#company;
    const hasGateway = uses.some(({ service, isCurrent }) => isCurrent && service.role === 'mail-gateway');
    if (!use.isCurrent || (hasGateway && use.service.role === 'mailbox')) return;
    // The dot at the end is missing: the name is relative to the zone, and does not exist.
    const isMistyped = quirks.typo === 'mx' && !this.#hasTypo;
    if (isMistyped) this.#hasTypo = true;
    const name = isMistyped
      ? `${host}.${domain}`
      : quirks.exchangeNames === 'vanity'
        ? `mx${preference}.${domain}`
        : host;
    this.#put(domain, 'MX', { preference, exchange: name });
    const isAlias = host.endsWith(domain);
    if (!isMistyped && !isAlias) this.#put(name, 'A', this.#addressOf(use.service.network, host));
    if (name === host && !isAlias) this.#shown.add(use);
  }

  #text(use: Use, { label, text, isKnownName }: Label & { readonly text: string }): void {
    const { quirks } = this.#company;
    const isMistyped = quirks.typo === 'token' && !this.#hasTypo && /verif/i.test(text);
    if (isMistyped) this.#hasTypo = true;
    this.#put(this.#under(label), 'TXT', [isMistyped ? text.replace(/verif/i, 'verf') : text]);
    const isOwnKey = label.includes('_domainkey');
    if (!isMistyped && !isOwnKey && isKnownName) this.#shown.add(use);
  }

  #alias(use: Use, { label, target, isKnownName }: Label & { readonly target: string }): void {
    const { domain, quirks } = this.#company;
    const { network } = use.service;
    const name = this.#under(label);
    if (this.#names.has(name)) return;
    if (quirks.isSplitHorizon && label === 'autodiscover') {
      this.#put(name, 'A', PRIVATE);
      return;
    }
    const isMistyped = quirks.typo === 'alias' && !this.#hasTypo;
    if (isMistyped) this.#hasTypo = true;
    this.#put(name, 'CNAME', isMistyped ? `${target}.${domain}` : target);
    if (isMistyped) return;
    this.#target(use, target, network);
    if (isKnownName) this.#shown.add(use);
  }

  #www(use: Use, target: string): void {
    const { domain, quirks } = this.#company;
    if (use !== this.#front) return;
    const www = `www.${domain}`;
    if (quirks.alias === 'flattened') {
      this.#put(www, 'A', this.#addressOf(use.service.network));
      this.#showByAddress(use);
      return;
    }
    const between = {
      chained: `web.${domain}`,
      'by-region': `${this.#deps.mint.slug}.geo-traffic.net`,
      direct: undefined,
    };
    const through = between[quirks.alias];
    if (through !== undefined) this.#put(www, 'CNAME', through);
    this.#put(through ?? www, 'CNAME', target);
    this.#target(use, target, use.service.network);
    this.#shown.add(use);
  }

  /** The vendor's host, unless it went with the company's account. */
  #target(use: Use, target: string, network: string): void {
    const { mint } = this.#deps;
    const isKept = use.isCurrent || mint.number(`${target} kept`, 0, 1) === 0;
    const isAlias = use.lines.some((line) => fill(line, mint, use.service.vendor).startsWith(`NAME ${target} `));
    if (this.#names.has(target) || !isKept || isAlias) return;
    if (/domainkey|dkim/.test(target)) this.#put(target, 'TXT', [`v=DKIM1; k=rsa; p=${mint.code(target, 200)}`]);
    else this.#put(target, 'A', this.#addressOf(network, target));
  }

  #name(use: Use, name: string, type: string, data: string): void {
    if (this.#names.has(name)) return;
    const isInside = name.endsWith(this.#company.domain);
    if (type === 'MX') this.#put(name, 'MX', { preference: 10, exchange: data });
    else this.#put(name, type, data);
    if (type === 'CNAME') this.#target(use, data, use.service.network);
    if (isInside) this.#shown.add(use);
  }

  #address(use: Use, address: string): void {
    const { domain } = this.#company;
    if (use !== this.#front) return;
    const network = address.startsWith('in:') ? this.#deps.networks.get(address.slice(3)) : undefined;
    this.#put(domain, 'A', network ? this.#addressOf(network.id) : address);
    if (!network || network.owner === use.service.vendor) this.#show(use);
  }

  #report(use: Use, address: string): void {
    this.#reports.push(address);
    this.#shown.add(use);
  }

  #onPage(use: Use, kind: string, rest: string): void {
    if (kind === 'ISSUER') this.#issuer = rest;
    else if (!this.#page.add(kind, rest)) return;
    this.#show(use);
  }

  /** Of what only a visitor of the site sees. */
  #show(use: Use): void {
    if (!this.#company.quirks.isDown) this.#shown.add(use);
  }

  /** An address shows a vendor in whose network only its own customers are. */
  #showByAddress(use: Use): void {
    if (this.#deps.networks.get(use.service.network)?.owner === use.service.vendor) this.#shown.add(use);
  }

  #addressOf(network: string, key = this.#company.domain): string {
    const known = this.#deps.networks.get(network);
    if (!known) throw new RangeError(`no network ${network}`);
    return addressIn(known, key);
  }

  #under(label: string): string {
    return label === '@' ? this.#company.domain : `${label}.${this.#company.domain}`;
  }

  #at(name: string, type: string): readonly ZoneRecord[] {
    return (this.#names.get(name) ?? []).filter((record) => record.type === type);
  }

  #put(name: string, type: string, data: unknown): void {
    const records = this.#names.get(name) ?? [];
    if (type === 'A' && name !== this.#company.domain && records.length > 0) return;
    this.#names.set(name, [...records, { type, data }]);
  }
}

const isSite = (role: string) =>
  ['cdn', 'waf', 'web-hosting', 'cloud', 'site-builder', 'commerce', 'parking'].includes(role);
const isSiteAddress = (line: string) => /^CNAME www |^A /.test(line);

const soaOf = (mname: string, rname: string) => ({
  ...{ mname, rname, serial: 1, refresh: 7_200, retry: 3_600, expire: 1_209_600, minimum: 300 },
});
