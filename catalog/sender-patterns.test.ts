// Every pattern of senders, report readers, tokens and authorities is found on its own, and every entry has its kind.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRulebook, explainRecord, loadCatalog } from '@strata/detect';
import certificateAuthorities from './certificate-authorities.json' with { type: 'json' };
import dmarc from './dmarc.json' with { type: 'json' };
import { entries } from './index.ts';
import senders from './senders.json' with { type: 'json' };
import sendersBusiness from './senders-business.json' with { type: 'json' };
import verification from './verification.json' with { type: 'json' };
import verificationBusiness from './verification-business.json' with { type: 'json' };
import verificationDeveloper from './verification-developer.json' with { type: 'json' };
import verificationSecurity from './verification-security.json' with { type: 'json' };

const TOKENS = [verification, verificationBusiness, verificationDeveloper, verificationSecurity];
const FILES = [certificateAuthorities, dmarc, senders, sendersBusiness, ...TOKENS];

const all = loadCatalog(entries);
const rulebook = compileRulebook(all);
const ids = new Set(FILES.flatMap((file) => file.map(({ id }) => id)));
const providers = all.filter(({ id }) => ids.has(id));

type Rules = (typeof providers)[number]['rules'][number];

/** One record for each mail, token and authority pattern of a group, as a domain would publish it. */
function recordsOf({ spf = [], txt = [], dmarc = [], caa = [], tls = [], named = [] }: Rules): object[] {
  // A star stands for part of a label; any letter will do.
  const hostOf = (pattern: string) => pattern.replaceAll('*', 'x');
  return [
    ...spf.map((host) => ({ txt: [`v=spf1 include:${hostOf(host)} -all`] })),
    ...txt.map((text) => ({ txt: [`${text}0a1b2c3d`] })),
    ...dmarc.map((host) => ({ dmarc: `v=DMARC1; p=none; rua=mailto:reports@${hostOf(host)}` })),
    ...caa.map((host) => ({ caa: [`0 issue "${hostOf(host)}"`] })),
    ...tls.map((organisation) => ({ tls_issuer: `${organisation} Ltd.` })),
    ...named.map(({ label, target }) => ({ cname: { [`${label}.example.com`]: `x.${hostOf(target)}` } })),
  ];
}

describe('the patterns of senders, tokens and authorities', () => {
  it('are not hidden by one another', () => {
    const hidden: string[] = [];
    for (const { id, rules } of providers) {
      for (const group of rules) {
        for (const record of recordsOf(group)) {
          const { services } = explainRecord({ domain: 'example.com', ...record }, rulebook);
          const isFound = services.some((each) => each.provider_id === id && each.category === group.category);
          if (!isFound) hidden.push(`${id} ${group.category} ${JSON.stringify(record)}`);
        }
      }
    }
    assert.deepEqual(hidden, []);
  });

  it('belong to providers whose kind is said', () => {
    assert.ok(providers.length >= 490, `${providers.length} providers`);
    for (const { id, kinds } of providers) assert.ok(kinds.length > 0, id);
  });
});
