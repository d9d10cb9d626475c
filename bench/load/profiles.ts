// The profile endpoint: from memory against a bare Fastify route that sends the same bytes, and computed on each request.
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { httpLoad } from '../http-load.ts';
import { type Figure, median, perSecond, setting, startChild } from '../measure.ts';
import { nodesOn } from './nodes-on.ts';
import { companyOf, seedStore } from './seed.ts';

const ROUNDS = 5;
const SECONDS = setting('SECONDS', 3);
const CONNECTIONS = 32;
const COLD_DOMAINS = setting('DOMAINS', 20_000);

export async function benchProfiles(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const database = `sqlite:${directory.path}/strata.db`;
  const key = await seedStore(database, COLD_DOMAINS, { rounds: 1 });
  await using nodes = await nodesOn(database);
  const { base } = await nodes.start('all', { settings: { STRATA_SCAN: 'off', STRATA_SCAN_OPTIONS: 'on-demand=off' } });
  const pathOf = (i: number) => `/stack/v1/domains/${companyOf(i)}`;
  const headers = { 'x-stack-key': key };
  const answer = await (await fetch(base + pathOf(0), { headers })).text();
  await using bare = await startChild<{ base: string }>(new URL('./bare-process.ts', import.meta.url), { answer });
  const rounds: { readonly least: number; readonly hot: number; readonly ratio: number }[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const load = { connections: CONNECTIONS, duration: SECONDS };
    const { rate: least } = await httpLoad({ ...load, url: bare.ready.base });
    const { rate: hot } = await httpLoad({ ...load, url: base + pathOf(0), headers });
    rounds.push({ least, hot, ratio: hot / least });
  }
  // Each domain once, so that every answer is read, signed and logged.
  let asked = 1;
  const next = () => pathOf(asked++);
  const amount = Math.floor(COLD_DOMAINS * 0.95);
  const cold = await httpLoad({ url: base, next, headers, connections: CONNECTIONS, amount });
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  return [
    [
      `profile from memory, ${Buffer.byteLength(answer)} bytes`,
      perSecond(of(({ hot }) => hot)),
      `bare Fastify route ${perSecond(of(({ least }) => least))}: ${of(({ ratio }) => ratio).toFixed(2)}; goal 0.70`,
    ],
    ['profile computed, signed, logged', perSecond(cold.rate), 'goal 5,000/s'],
  ];
}
