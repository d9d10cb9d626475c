// Checks of catalog entries by detection: each pattern alone, and the examples.
import { detect } from './detect.ts';
import { evidenceOf } from './explain.ts';
import type { Service } from './profile.ts';
import { Example, type Provider } from './rulebook/catalog.ts';
import { type Pattern, patternsOf } from './rulebook/patterns.ts';
import type { Rulebook } from './rulebook/rulebook.ts';

/**
 * One line for each example that does not show its provider in the category of its group, and for each counterexample that
 * does: `fastmail rules.0.examples.1: shows email of zoho, not email of fastmail`.
 */
export function exampleProblems(providers: readonly Provider[], rulebook: Rulebook): readonly string[] {
  return providers.flatMap(({ id, rules }) =>
    rules.flatMap(({ category, examples = [], counterexamples = [] }, group) => {
      const check = (kind: string, records: readonly Example[], isExpected: boolean) =>
        records.flatMap((record, at) => {
          const services = servicesOf(record, rulebook);
          const isShown = services.some((service) => service.provider === id && service.category === category);
          const expected = isExpected ? `, not ${category} of ${id}; the record lacks what shows it` : '';
          return isShown === isExpected
            ? []
            : [`${id} rules.${group}.${kind}.${at}: shows ${namesOf(services)}${expected}`];
        });
      return [...check('examples', examples, true), ...check('counterexamples', counterexamples, false)];
    }),
  );
}

const servicesOf = (record: Example, rulebook: Rulebook) => detect(evidenceOf(record), rulebook).services;

function namesOf(services: readonly Pick<Service, 'category' | 'provider'>[]): string {
  return services.map(({ category, provider }) => `${category} of ${provider}`).join(', ') || 'nothing';
}

/** The least that a domain publishes where the pattern is found, as `strata catalog explain` reads it. */
export function recordOf({ channel, pattern, key = '', target = pattern }: Pattern): object {
  // A wildcard matches part of a label; any letter will do.
  const host = target.replaceAll('*', 'x');
  const address = { address: '192.0.2.1', asn: Number(pattern) };
  const records: Readonly<Record<Pattern['channel'], () => object>> = {
    ns: () => ({ ns: [host] }),
    soa: () => ({ soa: `${host} admin.example.net. 1 1 1 1 1` }),
    mx: () => ({ mx: [{ preference: 10, exchange: host }] }),
    spf: () => ({ txt: [`v=spf1 include:${host} -all`] }),
    txt: () => ({ txt: [`${pattern}0a1b2c3d`] }),
    dmarc: () => ({ dmarc: `v=DMARC1; p=none; rua=mailto:reports@${host}` }),
    caa: () => ({ caa: [`0 issue "${host}"`] }),
    cname: () => ({ cname: { 'www.example.com': `x.${host}` } }),
    named: () => ({ cname: { [`${key}.example.com`]: `x.${host}` } }),
    dkim: () =>
      key === ''
        ? { dkim: { [pattern.replace('._domainkey', '')]: 'v=DKIM1; p=AAAA' } }
        : { cname: { [`${key}.example.com`]: `x.${host}` } },
    'txt-at': () => ({ txt_at: { [pattern]: '0a1b2c3d4e5f6a7b' } }),
    address: () => ({ a: [{ address: pattern, asn: 64496 }] }),
    asn: () => ({ a: [address] }),
    'mail-asn': () => ({
      mx: [{ preference: 10, exchange: 'mail.example.com' }],
      mx_addresses: [{ ...address, host: 'mail.example.com' }],
    }),
    'ns-asn': () => ({ ns_addresses: [{ ...address, host: 'ns1.example.com' }] }),
    'private-header': () => ({ headers: { [key]: target === pattern ? 'x' : target } }),
    'common-header': () => ({ headers: { [key]: target === pattern ? 'x' : target } }),
    cookie: () => ({ cookies: [host] }),
    generator: () => ({ html: `<meta name="generator" content="${pattern}">` }),
    asset: () => ({ html: `<script src="${pattern.startsWith('/') ? pattern : `https://${host}`}"></script>` }),
    marker: () => ({ html: `<div id="${pattern}">` }),
    tls: () => ({ tls_issuer: `${pattern} Ltd.` }),
  };
  return records[channel]();
}

/** Channels whose record shows a second provider by right: the network of a package, the gateway, the server's maker. */
const SHARED: ReadonlySet<string> = new Set(['asset', 'private-header', 'common-header', 'named', 'dkim']);
/** A policy lets its host send and a token verifies an account, whatever else the host does. */
const FREE: ReadonlySet<string> = new Set(['spf', 'txt']);
/** What a domain shows that has such a record and nothing else. */
const ALONE: Readonly<Record<string, string>> = { spf: 'email_sending', txt: 'verified_service' };

/**
 * One line for each pattern whose record does not show the provider in the category of its group (or that the name is for
 * sale), or shows another provider too.
 */
export function patternProblems(providers: readonly Provider[], rulebook: Rulebook): readonly string[] {
  return providers.flatMap(({ id, rules }) =>
    rules.flatMap((rule, group) =>
      patternsOf(rule).flatMap((each) => {
        // A page alone does not show that the name is registered; name servers do.
        const record = Example.parse({ ...(rule.parking && { ns: ['ns1.example.net'] }), ...recordOf(each) });
        const { state, services } = detect(evidenceOf(record), rulebook);
        if (rule.parking && state === 'parked') return [];
        const { channel, path, pattern } = each;
        const own = services.filter(({ provider }) => provider === id);
        const isShown = own.some((service) => FREE.has(channel) || service.category === rule.category);
        if (isShown && (SHARED.has(channel) || own.length === services.length)) return [];
        const usual = ALONE[channel] ?? rule.category;
        const advice = usual === rule.category ? '' : `; ${channel} belongs in a group of the category ${usual}`;
        return [`${id} rules.${group}.${path}: '${pattern}' shows ${namesOf(services)}${advice}`];
      }),
    ),
  );
}
