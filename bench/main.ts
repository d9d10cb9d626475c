// `npm run bench [-- suite…]`: every figure beside its peer or goal, measured in the same run. Record them in RESULTS.md.
import { cpus, totalmem } from 'node:os';
import { benchAdvisories } from './advisories/advisories.ts';
import { benchDetection } from './detection/detection.ts';
import { benchFingerprints } from './detection/fingerprints.ts';
import { benchDns } from './dns/dns.ts';
import { benchFalseAlarms } from './false-alarms.ts';
import { benchFeeds } from './feeds/feeds.ts';
import { benchGateway } from './gateway/gateway.ts';
import { benchKeys } from './load/keys.ts';
import { benchNodes } from './load/nodes.ts';
import { benchProfiles } from './load/profiles.ts';
import type { Figure } from './measure.ts';
import { benchNetwork } from './network/network.ts';
import { benchNetworkKills } from './network/network-kills.ts';
import { benchRouting } from './network/routing.ts';
import { benchScan } from './scan/scan.ts';
import { benchQueries } from './sets/queries.ts';
import { benchSets } from './sets/sets.ts';
import { benchSoak } from './soak/soak.ts';
import { benchLedger } from './store/ledger.ts';
import { benchRecording } from './store/recording.ts';
import { benchRoundTrips } from './store/round-trips.ts';
import { benchLoadedStream } from './stream/loaded-stream.ts';
import { benchStream } from './stream/stream.ts';
import { benchTrust } from './trust/trust.ts';

const suites: Readonly<Record<string, () => Promise<Figure[]>>> = {
  detection: benchDetection,
  dns: benchDns,
  feeds: benchFeeds,
  ledger: benchLedger,
  profiles: benchProfiles,
  recording: benchRecording,
  'round-trips': benchRoundTrips,
  queries: benchQueries,
  scan: benchScan,
  sets: benchSets,
  stream: benchStream,
  fingerprints: benchFingerprints,
  gateway: benchGateway,
  advisories: benchAdvisories,
  'false-alarms': benchFalseAlarms,
  network: benchNetwork,
  'network-kills': benchNetworkKills,
  routing: benchRouting,
  trust: benchTrust,
  'load-nodes': benchNodes,
  'load-keys': benchKeys,
  'load-stream': benchLoadedStream,
  'load-soak': benchSoak,
};
/** Names of several, and those that take so long that they are run only when they are asked for. */
const groups: Readonly<Record<string, readonly string[]>> = {
  load: ['load-nodes', 'load-keys', 'load-stream', 'load-soak'],
};
const long: readonly string[] = ['load-soak'];

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
