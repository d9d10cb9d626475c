// `npm run bench [-- suite…]`: every figure beside its peer or goal, measured in the same run. Record them in RESULTS.md.
import { cpus, totalmem } from 'node:os';
import type { Figure } from './measure.ts';

const suites: Readonly<Record<string, () => Promise<Figure[]>>> = {
  detection: async () => (await import('./detection/detection.ts')).benchDetection(),
  'detection-second-world': async () => (await import('./detection/detection-second-world.ts')).benchSecondWorld(),
  dns: async () => (await import('./dns/dns.ts')).benchDns(),
  feeds: async () => (await import('./feeds/feeds.ts')).benchFeeds(),
  ledger: async () => (await import('./store/ledger.ts')).benchLedger(),
  'ledger-size': async () => (await import('./store/ledger-size.ts')).benchLedgerSize(),
  profiles: async () => (await import('./load/profiles.ts')).benchProfiles(),
  recording: async () => (await import('./store/recording.ts')).benchRecording(),
  claims: async () => (await import('./store/claims.ts')).benchClaims(),
  'round-trips': async () => (await import('./store/round-trips.ts')).benchRoundTrips(),
  queries: async () => (await import('./sets/queries.ts')).benchQueries(),
  scan: async () => (await import('./scan/scan.ts')).benchScan(),
  scale: async () => (await import('./scale/scale.ts')).benchScale(),
  sets: async () => (await import('./sets/sets.ts')).benchSets(),
  stream: async () => (await import('./stream/stream.ts')).benchStream(),
  fingerprints: async () => (await import('./detection/fingerprints.ts')).benchFingerprints(),
  faults: async () => (await import('./faults/faults.ts')).benchFaults(),
  'rolling-restart': async () => (await import('./faults/rolling-restart.ts')).benchRollingRestart(),
  gateway: async () => (await import('./gateway/gateway.ts')).benchGateway(),
  gpu: async () => (await import('./gpu/gpu.ts')).benchGpu(),
  advisories: async () => (await import('./advisories/advisories.ts')).benchAdvisories(),
  'false-alarms': async () => (await import('./false-alarms.ts')).benchFalseAlarms(),
  network: async () => (await import('./network/network.ts')).benchNetwork(),
  'network-kills': async () => (await import('./network/network-kills.ts')).benchNetworkKills(),
  'network-gateways': async () => (await import('./network/gateways.ts')).benchGateways(),
  placement: async () => (await import('./network/placement.ts')).benchPlacement(),
  routing: async () => (await import('./network/routing.ts')).benchRouting(),
  trust: async () => (await import('./trust/trust.ts')).benchTrust(),
  'load-nodes': async () => (await import('./load/nodes.ts')).benchNodes(),
  'load-keys': async () => (await import('./load/keys.ts')).benchKeys(),
  'load-stream': async () => (await import('./stream/loaded-stream.ts')).benchLoadedStream(),
  'load-soak': async () => (await import('./soak/soak.ts')).benchSoak(),
};
/** Names of several, and those that take so long that they are run only when they are asked for. */
const groups: Readonly<Record<string, readonly string[]>> = {
  load: ['load-nodes', 'load-keys', 'load-stream', 'load-soak'],
};
const long: readonly string[] = ['load-soak', 'scale', 'gpu', 'faults', 'rolling-restart'];

const asked = process.argv.slice(2).flatMap((name) => groups[name] ?? [name]);
const unknown = asked.filter((name) => !Object.hasOwn(suites, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no suite ${unknown.join(', ')}; there are: ${[...Object.keys(suites), ...Object.keys(groups)].join(', ')}\n`,
  );
  process.exit(2);
}

process.stdout.write(
  `node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB\n`,
);
for (const [name, run] of Object.entries(suites)) {
  if (asked.length > 0 ? !asked.includes(name) : long.includes(name)) continue;
  process.stdout.write(`\n## ${name}\n\n| what | measured | against |\n|---|---|---|\n`);
  for (const [what, value, against = ''] of await run()) process.stdout.write(`| ${what} | ${value} | ${against} |\n`);
}
