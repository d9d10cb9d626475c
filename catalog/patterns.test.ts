// Every pattern is found on its own, as a domain would publish it: no pattern is hidden by another or shows another
// provider.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { alias, cookies, generator, mx, profileOf, providers, rua, scripts, servicesOf, spf } from './test/shapes.ts';

type Rules = (typeof providers)[number]['rules'][number];

/** `*` matches part of a label; any letter will do. */
const hostOf = (pattern: string) => pattern.replaceAll('*', 'x');
const urlOf = (asset: string) => (asset.startsWith('/') ? asset : `https://${hostOf(asset)}`);
/** One record for each pattern of a group, by the kind of pattern. */
function recordsOf({ html = {}, ...group }: Rules): Readonly<Record<string, readonly object[]>> {
  const { ns = [], soa = [], named = [], header = [], asn = [], txt = [], caa = [], tls = [] } = group;
  return {
    ns: ns.map((host) => ({ ns: [hostOf(host)] })),
    nsAsn: (group.nsAsn ?? []).map((asn) => ({
      ns_addresses: [{ host: 'ns1.example.com', address: '192.0.2.1', asn }],
    })),
    soa: soa.map((host) => ({ soa: `${hostOf(host)} admin.example.net. 1 1 1 1 1` })),
    mx: (group.mx ?? []).map((host) => mx(hostOf(host))),
    spf: (group.spf ?? []).map((host) => spf(`include:${hostOf(host)} -all`)),
    mailAsn: (group.mailAsn ?? []).map((asn) => ({
      ...mx('mail.example.com'),
      mx_addresses: [{ host: 'mail.example.com', address: '192.0.2.1', asn }],
    })),
    txt: txt.map((text) => ({ txt: [`${text}0a1b2c3d`] })),
    dmarc: (group.dmarc ?? []).map((host) => rua(`reports@${hostOf(host)}`)),
    caa: caa.map((host) => ({ caa: [`0 issue "${hostOf(host)}"`] })),
    tls: tls.map((organisation) => ({ tls_issuer: `${organisation} Ltd.` })),
    cname: (group.cname ?? []).map((host) => alias('www', `x.${hostOf(host)}`)),
    named: named.map(({ label, target }) => alias(label, `x.${hostOf(target)}`)),
    dkim: (group.dkim ?? []).map((label) => ({ dkim: { [label.replace('._domainkey', '')]: 'v=DKIM1; p=AAAA' } })),
    address: (group.address ?? []).flatMap(({ at }) => at.map((address) => ({ a: [{ address, asn: 64496 }] }))),
    asn: asn.map((number) => ({ a: [{ address: '192.0.2.1', asn: number }] })),
    header: header.map(({ name, value = 'x' }) => ({ headers: { [name]: value } })),
    cookie: (group.cookie ?? []).map((name) => cookies(hostOf(name))),
    generator: (html.generator ?? []).map((given) => generator(typeof given === 'string' ? given : given.start)),
    asset: (html.asset ?? []).map((asset) => scripts(urlOf(asset))),
    marker: (html.marker ?? []).map((marker) => ({ html: `<div id="${marker}">` })),
  };
}

/** A value that matches the pattern, with a version after its prefix. */
function textOf(start: string, prefix: string): string {
  if (start.startsWith(prefix)) return `${start}1.20.3`;
  const shown = `${prefix}1.20.3`;
  return shown.toLowerCase().includes(start.toLowerCase()) ? shown : `${start} ${shown}`;
}

/** Where a second provider is shown by right: a package by the network that serves it, the gateway, the server's maker. */
const SHARED = new Set(['asset', 'header', 'named']);

/** A policy lets its host send and a token verifies an account, whatever else the host does. */
const FREE = new Set(['spf', 'txt']);

function isFound(id: string, { category, parking }: Rules, [kind, record]: readonly [string, object]): boolean {
  if (parking && profileOf({ ns: ['ns1.example.net'], ...record }).state === 'parked') return true;
  const services = servicesOf(record);
  const own = services.filter((each) => each.provider_id === id && (FREE.has(kind) || each.category === category));
  return own.length > 0 && (SHARED.has(kind) || services.every((each) => each.provider_id === id));
}

it('every provider says of what kind it is', () => {
  for (const { id, kinds } of providers) assert.ok(kinds.length > 0, id);
});

it('every pattern of the catalog shows its provider in its category, or that the name is for sale, and no other provider', () => {
  const count: Record<string, number> = {};
  const hidden: string[] = [];
  for (const { id, rules } of providers) {
    for (const group of rules) {
      const { html, ...byRecord } = group;
      const addresses = byRecord.address?.flatMap(({ at }) => at) ?? [];
      const patterns = Object.values({ ...byRecord, ...html, address: addresses })
        .filter(Array.isArray)
        .flat();
      const records = Object.entries(recordsOf(group));
      assert.equal(records.flatMap(([, all]) => all).length, patterns.length, `${id} has a kind without records`);
      for (const each of records.flatMap(([kind, all]) => all.map((record) => [kind, record] as const))) {
        count[each[0]] = (count[each[0]] ?? 0) + 1;
        if (!isFound(id, group, each)) hidden.push(`${id} ${group.category} ${JSON.stringify(each)}`);
      }
    }
  }
  assert.deepEqual(hidden, []);
  assert.equal(Object.keys(count).length, 20, 'a kind has no pattern');
});
it('every pattern of the catalog with a version prefix shows the version after it', () => {
  const unread: string[] = [];
  for (const { id, rules } of providers) {
    for (const { header = [], html = {} } of rules) {
      const headers = header.flatMap(({ name, value = '', version }) =>
        version === undefined ? [] : [{ headers: { [name]: textOf(value, version) } }],
      );
      const generators = (html.generator ?? []).flatMap((given) =>
        typeof given === 'string' || given.version === undefined ? [] : [generator(textOf(given.start, given.version))],
      );
      for (const record of [...headers, ...generators]) {
        const version = servicesOf(record).find((each) => each.provider_id === id)?.version;
        if (!version?.endsWith('1.20.3')) unread.push(`${id} ${JSON.stringify(record)} ${version}`);
      }
    }
  }
  assert.deepEqual(unread, []);
});
