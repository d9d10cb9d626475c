// Iterative mode against NSD, beside Unbound: from the same root, both must find the same.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import type { Lookup } from '@strata/detect';
import { Resolver } from '../resolver.ts';

const ROOT = '127.67.0.1';
const TOP = '127.67.0.2';
/** Each serves half of the zones, and the zones below those of the other. */
const LEAVES = ['127.67.0.3', '127.67.0.4'] as const;
const UNBOUND = '127.67.0.9';
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

const plain = ({ status, records, aliases }: Lookup<unknown>) =>
  JSON.stringify([status, records.map((record) => JSON.stringify(record)).sort(), aliases]);

async function freePort(address: string): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

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
  await using unbound = await startUnbound({ address: UNBOUND, port: await freePort(UNBOUND) }, ROOT);

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

const READY_MS = 30_000;

/** Why the real servers cannot be had here; undefined when they can. */
async function whyNotHere(address: string, programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs)
    if (spawnSync(program, ['-h'], { timeout: 10_000 }).error) return `${program} is not installed`;
  const socket = createSocket('udp4');
  try {
    socket.bind(53, address);
    await once(socket, 'listening');
    return undefined;
  } catch (error) {
    return `port 53 is not available: ${(error as Error).message}`;
  } finally {
    socket.close();
  }
}

interface RealServer extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

/** @param zones text of the zone files, by zone; `.` is the root. */
function startNsd(address: string, zones: Readonly<Record<string, string>>, port = 53): Promise<RealServer> {
  return start('nsd', { address, port }, async (directory) => {
    const names = Object.keys(zones);
    await Promise.all(names.map((name) => writeFile(path.join(directory, `${name}.zone`), zones[name] ?? '')));
    return `server:
  ip-address: ${address}@${port}
  username: ""
  zonesdir: "${directory}"
  database: ""
  pidfile: ""
  xfrdfile: "${directory}/xfrd.state"
  zonelistfile: "${directory}/zone.list"
  logfile: "${directory}/log"
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${names.map((name) => `zone:\n  name: "${name}"\n  zonefile: "${name}.zone"\n`).join('')}`;
  });
}

/** A recursive resolver that begins at `root`. */
function startUnbound(where: { readonly address: string; readonly port: number }, root: string) {
  return start('unbound', where, async (directory) => {
    await writeFile(path.join(directory, 'hints'), `. 3600 IN NS ns.root.\nns.root. 3600 IN A ${root}\n`);
    return `server:
  interface: ${where.address}@${where.port}
  do-daemonize: no
  username: ""
  chroot: ""
  directory: "${directory}"
  pidfile: ""
  use-syslog: no
  logfile: "${directory}/log"
  root-hints: "${directory}/hints"
  module-config: "iterator"
  do-not-query-localhost: no
  do-ip6: no
  access-control: 127.0.0.0/8 allow
remote-control:
  control-enable: no
`;
  });
}

async function start(
  program: string,
  where: { readonly address: string; readonly port: number },
  configure: (directory: string) => Promise<string>,
): Promise<RealServer> {
  const directory = await mkdtemp(path.join(tmpdir(), `strata-${program}-`));
  const config = path.join(directory, 'server.conf');
  await writeFile(config, await configure(directory));
  const child = spawn(program, ['-d', '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output = (output + chunk).slice(-2_000);
  });
  const server = {
    ...where,
    async [Symbol.asyncDispose]() {
      await end(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
  await using probe = new Resolver({ upstreams: [where], tryTimeoutMs: 500, tries: 1 });
  for (const until = Date.now() + READY_MS; ; ) {
    // Any answer shows that it listens.
    const { status } = await probe.query('ready.invalid', 'A');
    if (status !== 'timeout') return server;
    if (child.exitCode !== null || Date.now() > until) {
      await server[Symbol.asyncDispose]();
      throw new Error(`${program} does not answer: ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(kill);
}
