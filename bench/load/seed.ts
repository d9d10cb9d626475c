// A store with scanned companies, some of which changed provider.
import { detect, evidenceFromRecord, type Rulebook } from '@strata/detect';
import { openRulebook } from '@strata/stack';
import { openStore } from '@strata/stack/store';

const DAY_MS = 86_400_000;
const AT_ONCE = 64;
const SERVERS = ['ada.ns.cloudflare.com', 'dns1.p01.nsone.net', 'ns1.dnsimple.com', 'ns-1.awsdns-01.com'] as const;
const EXCHANGES = ['aspmx.l.google.com', 'mail.protonmail.ch', 'company.mail.protection.outlook.com'] as const;
/** One in so many moves. */
const MOVING = 10;

export const companyOf = (i: number) => `company-${i}.com`;

/** Fills an empty store with companies scanned daily: the second round observes changes, the third confirms them. Returns a key without a limit. */
export async function seedStore(databaseUrl: string, companies: number, { rounds = 3 } = {}): Promise<string> {
  await using store = await openStore(databaseUrl);
  const rulebook = await openRulebook({});
  for (let round = 0; round < rounds; round += 1) {
    const at = new Date(Date.now() - (rounds - round) * DAY_MS);
    for (let from = 0; from < companies; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, companies - from) }, (_, i) => from + i);
      const scans = numbers.map((i) => scanOf(i, { at, rulebook, isFirst: round === 0 }));
      await store.recordScans(scans, { confirmAfterMs: DAY_MS / 4 });
    }
  }
  return (await store.keys.create({ tier: 'unlimited' })).key;
}

interface ScanOptions {
  readonly at: Date;
  readonly rulebook: Rulebook;
  readonly isFirst: boolean;
}

/** Some companies have moved after the first scan. */
function scanOf(i: number, { at, rulebook, isFirst }: ScanOptions) {
  const moved = !isFirst && i % MOVING === 0 ? 1 : 0;
  const evidence = evidenceFromRecord({
    domain: companyOf(i),
    ns: [SERVERS[(i + moved) % SERVERS.length]],
    mx: [{ preference: 1, exchange: EXCHANGES[i % EXCHANGES.length] }],
    txt: ['v=spf1 include:_spf.google.com include:sendgrid.net ~all', 'google-site-verification=abc', `MS=ms${i}`],
    dmarc: 'v=DMARC1; p=reject; rua=mailto:x@vali.email',
    headers: { server: 'cloudflare', 'cf-ray': `${i}-FRA` },
    tls_issuer: "Let's Encrypt",
  });
  return {
    profile: detect(evidence, rulebook),
    evidence: { ...evidence, observedAt: at.toISOString() },
    startedAt: at,
    finishedAt: at,
  };
}
