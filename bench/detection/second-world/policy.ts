// The SPF policy of a company, with what hides its senders, and that of a reseller.
import type { Quirks, Use } from './company.ts';

export interface PolicyTerm {
  readonly use: Use;
  /** `include:_spf.example.com`, `a:host`, `exists:…`, `redirect=…`. */
  readonly term: string;
}

interface Policy {
  readonly domain: string;
  readonly policy: Quirks['policy'];
  readonly hasTypo: boolean;
}

/** Puts the policy, and the included ones by `include`; returns the services that it shows. */
export function putPolicy(
  { domain, policy, hasTypo }: Policy,
  all: readonly PolicyTerm[],
  put: (name: string, text: string) => void,
  include: (use: Use, host: string) => void,
): readonly Use[] {
  const redirect = all.find(({ term }) => term.startsWith('redirect='));
  const terms = redirect && all.length > 1 ? all.filter((each) => each !== redirect) : all;
  if (terms.length === 0 || policy === 'none') return [];
  for (const { use, term } of terms) include(use, term.replace(/^[a-z]+[:=]/, ''));
  if (policy === 'flattened') {
    put(domain, `v=spf1 ${terms.map((_, i) => `ip4:198.18.${i}.0/24`).join(' ')} ~all`);
    return [];
  }
  // A blank after the colon makes the policy invalid (RFC 7208 §4.6.1).
  const texts = terms.map(({ term }, i) => (hasTypo && i === 0 ? term.replace(':', ': ') : term));
  const end = redirect && terms.includes(redirect) ? '' : ' ~all';
  const text = `v=spf1 ${texts.join(' ')}${end}`;
  if (policy === 'nested') {
    put(domain, `v=spf1 include:_spf.${domain} ~all`);
    put(`_spf.${domain}`, text);
  } else put(domain, text);
  return terms.filter((_, i) => !(hasTypo && i === 0)).map(({ use }) => use);
}

/** Mail at a reseller's servers under its policy for all customers, as names with types and data. */
export function resold(domain: string, reseller: string, address: string): readonly [string, string, unknown][] {
  return [
    [domain, 'MX', { preference: 10, exchange: `mail.${reseller}` }],
    [`mail.${reseller}`, 'A', address],
    [domain, 'TXT', [`v=spf1 include:spf.${reseller} ~all`]],
    [`spf.${reseller}`, 'TXT', ['v=spf1 include:sendgrid.net include:_spf.google.com ~all']],
    ['sendgrid.net', 'TXT', ['v=spf1 ip4:167.89.0.0/17 ~all']],
    ['_spf.google.com', 'TXT', ['v=spf1 ip4:142.250.0.1 ~all']],
  ];
}
