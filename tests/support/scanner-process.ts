// A process that works off the schedule of a store until it is told to stop (SIGTERM) or killed. Its probes are short and see the
// same of every domain; it says which it has begun, and which leases have run out.
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/store';
import pino from 'pino';
import { GOOGLE, rulebook, scanOf } from '../../packages/store/src/test/scans.ts';
import { createScanner } from '../../services/stack/src/scanner.ts';

const [url = '', leaseMs = ''] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

await using store = await openStore(url);
await using scanner = createScanner(
  {
    store,
    prober: {
      async probe(domain) {
        say({ begun: domain });
        await delay(20 + Math.random() * 60);
        return scanOf(domain, new Date().toISOString(), GOOGLE).evidence;
      },
    },
    rulebook,
    logger: pino({ level: 'warn' }, { write: (line: string) => void process.stdout.write(line) }),
    now: () => new Date(),
    isDnsWorking: async () => true,
    onRecorded: ({ domain }) => say({ recorded: domain }),
  },
  {
    confirmAfterMs: 6 * 3_600_000,
    concurrency: 32,
    onDemandConcurrency: 4,
    isOptedOut: (domain) => domain.startsWith('private'),
    leaseMs: Number(leaseMs),
  },
);
await scanner.run(stopping.signal);
