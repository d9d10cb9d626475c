// A store with companies scanned three times over three days, some of which changed provider.
import { detect, evidenceFromRecord, type Rulebook } from '@strata/detect';
import { openRulebook } from '@strata/stack';
import { openStore } from '@strata/stack/store';

const DAY_MS = 86_400_000;
/** Scans of each domain: the second observes a change after the first, the third confirms it. */
const SCANS = 3;
export const AT_ONCE = 64;
const SERVERS = ['ada.ns.cloudflare.com', 'dns1.p01.nsone.net', 'ns1.dnsimple.com', 'ns-1.awsdns-01.com'] as const;
const EXCHANGES = ['aspmx.l.google.com', 'mail.protonmail.ch', 'company.mail.protection.outlook.com'] as const;
/** One in so many moves. */
const MOVING = 10;

export const companyOf = (i: number) => `company-${i}.com`;

/** Fills an empty store; returns a key without a limit. */
export async function seedStore(databaseUrl: string, companies: number): Promise<string> {
  await using store = await openStore(databaseUrl);
  const rulebook = await openRulebook({});
  for (let round = 0; round < SCANS; round += 1) {
    for (let from = 0; from < companies; from += AT_ONCE) {
      const at = new Date(Date.now() - (SCANS - round) * DAY_MS);
      const scans = Array.from({ length: Math.min(AT_ONCE, companies - from) }, (_, i) =>
        scanOf(from + i, { at, rulebook, round }),
      );
      await store.recordScans(scans, { confirmAfterMs: DAY_MS / 4 });
    }
  }
  return (await store.keys.create({ tier: 'unlimited' })).key;
}

interface ScanOf {
  readonly at: Date;
  readonly rulebook: Rulebook;
  /** Some have moved after the first. */
  readonly round?: number;
}

export function scanOf(i: number, { at, rulebook, round = 0 }: ScanOf) {
  const moved = round > 0 && i % MOVING === 0 ? 1 : 0;
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
