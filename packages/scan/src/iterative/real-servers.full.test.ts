// Iterative mode against NSD, beside Unbound: from the same root, both must find the same.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Resolver } from '../resolver.ts';
import { plain } from '../test/hierarchy.ts';
import { startNsd, startUnbound, whyNotHere } from '../test/real-servers.ts';

const ROOT = '127.67.0.1';
const TOP = '127.67.0.2';
/** Each serves half of the zones, and the zones below those of the other. */
const LEAVES = ['127.67.0.3', '127.67.0.4'] as const;
const UNBOUND = { address: '127.67.0.9', port: 5_301 };
const ZONES = 24;
const TYPES = ['A', 'AAAA', 'NS', 'SOA', 'MX', 'TXT', 'CAA', 'CNAME', 'DS'] as const;

const soa = (zone: string) => `$ORIGIN ${zone === '.' ? '.' : `${zone}.`}
$TTL 300
@ IN SOA ns.nic.alpha. hostmaster.nic.alpha. 1 3600 600 86400 60
`;
const leafOf = (i: number) => LEAVES[i % 2] ?? LEAVES[0];
const nameOf = (i: number) => `d${i}.${i % 3 === 0 ? 'beta' : 'alpha'}`;
/** Every fourth zone is served by hosts of another top-level domain, for whom there is no glue. */
const hostOf = (i: number) => (i % 4 === 0 ? `ns${i % 2}.hosts.${i % 3 === 0 ? 'alpha' : 'beta'}` : `ns.${nameOf(i)}`);

const delegation = (i: number) =>
  `${nameOf(i)}. NS ${hostOf(i)}.\n${hostOf(i).endsWith(nameOf(i)) ? `${hostOf(i)}. A ${leafOf(i)}\n` : ''}`;

function topLevel(tld: string): string {
  const own = Array.from({ length: ZONES }, (_, i) => i).filter((i) => nameOf(i).endsWith(`.${tld}`));
  return `${soa(tld)}@ NS ns.nic.${tld}.
ns.nic A ${TOP}
hosts NS ns0.hosts
ns0.hosts A ${LEAVES[0]}
ns1.hosts A ${LEAVES[1]}
${own.map(delegation).join('')}${own
  .filter((i) => i % 5 === 0)
  .map((i) => `${nameOf(i)}. DS ${i + 1} 13 2 ${'ab'.repeat(32)}\n`)
  .join('')}`;
}

/** What real zones have: aliases within and across zones, wildcards, a DNAME, a name with others below it, much text. */
function leafZone(i: number): string {
  const next = nameOf((i + 1) % ZONES);
  return `${soa(nameOf(i))}@ NS ${hostOf(i)}.
ns A ${leafOf(i)}
@ A 192.0.2.${i + 1}
@ MX 10 mail
@ MX 20 mail.${next}.
@ TXT "v=spf1 include:${next} -all" " and more"
@ CAA 0 issue "ca.example"
mail A 198.51.100.${i + 1}
www CNAME @
away CNAME www.${next}.
farther CNAME away.${next}.
gone CNAME nobody.${next}.
empty CNAME mail
*.wild A 203.0.113.${i + 1}
*.text TXT "wild"
moved DNAME ${next}.
a.b.c A 192.0.2.200
${Array.from({ length: 16 }, (_, n) => `big TXT "${n} ${'x'.repeat(240)}"`).join('\n')}
sub NS ns.sub
ns.sub A ${leafOf(i + 1)}
lame NS ns.lame
ns.lame A ${leafOf(i + 1)}
`;
}

const subZone = (i: number) => `${soa(`sub.${nameOf(i)}`)}@ NS ns
ns A ${leafOf(i + 1)}
www A 192.0.2.${i + 100}
back CNAME www.${nameOf(i)}.
`;

const hostsZone = (tld: string) => `${soa(`hosts.${tld}`)}@ NS ns0
ns0 A ${LEAVES[0]}
ns1 A ${LEAVES[1]}
`;

const LABELS =
  '|www|away|farther|gone|empty|x.wild|x.y.wild|wild|x.text|moved|www.moved|x.wild.moved|nobody|b.c|c|a.b.c|z.b.c|big|sub|www.sub|back.sub|nobody.sub|ns|_dmarc'.split(
    '|',
  );

it('what it finds at NSD is what Unbound finds there', async (t) => {
  const missing = await whyNotHere(ROOT, ['nsd', 'unbound']);
  if (missing !== undefined) return t.skip(missing);
  const rootZone = `${soa('.')}@ NS ns.root.
ns.root. A ${ROOT}
alpha. NS ns.nic.alpha.
ns.nic.alpha. A ${TOP}
beta. NS ns.nic.beta.
ns.nic.beta. A ${TOP}
`;
  await using _root = await startNsd(ROOT, { '.': rootZone });
  await using _top = await startNsd(TOP, { alpha: topLevel('alpha'), beta: topLevel('beta') });
  const zones: [Record<string, string>, Record<string, string>] = [{}, {}];
  for (let i = 0; i < ZONES; i++) {
    zones[i % 2 ? 1 : 0][nameOf(i)] = leafZone(i);
    zones[i % 2 ? 0 : 1][`sub.${nameOf(i)}`] = subZone(i);
  }
  for (const tld of ['alpha', 'beta']) zones[0][`hosts.${tld}`] = hostsZone(tld);
  await using _one = await startNsd(LEAVES[0], zones[0]);
  await using _two = await startNsd(LEAVES[1], zones[1]);
  await using unbound = await startUnbound(UNBOUND, ROOT);

  const patience = { tryTimeoutMs: 20_000, totalTimeoutMs: 40_000 };
  await using theirs = new Resolver({ upstreams: [unbound], ...patience });
  await using ours = new Resolver({
    upstreams: ['iterative', { address: ROOT, port: 53 }],
    allowAddresses: ['127.67.0.0/24'],
    ...patience,
  });
  const statuses = new Map<string, number>();
  let hasSeenTcp = false;
  for (let i = 0; i < ZONES; i++) {
    await Promise.all(
      LABELS.flatMap((label) =>
        TYPES.map(async (type) => {
          const name = label === '' ? nameOf(i) : `${label}.${nameOf(i)}`;
          const [our, their] = await Promise.all([ours.query(name, type), theirs.query(name, type)]);
          assert.equal(plain(our), plain(their), `${type} ${name}: ${our.detail}; ${their.detail}`);
          statuses.set(our.status, (statuses.get(our.status) ?? 0) + 1);
        }),
      ),
    );
    hasSeenTcp ||= ours.stats().overTcp > 0;
  }
  for (const name of ['nobody.alpha', 'nobody', 'lame.d1.alpha', 'x.lame.d1.alpha']) {
    const [our, their] = await Promise.all([ours.query(name, 'A'), theirs.query(name, 'A')]);
    // A recursive resolver reports a lame delegation as SERVFAIL; asked directly, its server refuses.
    const status = our.status === 'refused' ? 'servfail' : our.status;
    assert.equal(status, their.status, `${name}: ${our.detail}`);
  }
  assert.deepEqual([...statuses.keys()].sort(), ['empty', 'found', 'nxdomain']);
  assert.ok(hasSeenTcp, 'some answers come over TCP');
});
