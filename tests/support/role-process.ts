// One process of a role, as `strata stack serve` runs it, on a simulated internet of so many companies that is the same in every process;
// without a number it is on none; its resolver is that internet's own, or a proxy in front of one. Says where it listens; ends in order at SIGTERM or when its parent exits.
// With TEST_MOVING, the name of a domain, it records scans of that beside its work.
import { once } from 'node:events';
import { createLogger } from '@strata/http';
import { readConfig, startRole } from '@strata/stack';
import { createInternet } from '@strata/testnet';

const domains = Number(process.argv[2] ?? 0);
await using stack = new AsyncDisposableStack();
const internet = domains > 0 ? stack.use(await createInternet({ domains, hasFaults: false })) : undefined;
const config = readConfig(process.env);
const timeouts = { dnsTryTimeoutMs: 1_000, requestTimeoutMs: 5_000 };
const world = internet && { dial: internet.dial, trustedCa: [internet.caPem], ...timeouts };
const nearest = internet ? internet.resolver : { address: '127.0.0.1', port: 9 };
const resolvers = config.resolvers.length > 0 ? config.resolvers : [nearest];
const logger = createLogger({ level: config.logLevel });
const running = stack.use(await startRole({ ...config, resolvers }, logger, world ?? {}));
const { port, metricsPort } = running;
process.stdout.write(`${JSON.stringify({ port, metricsPort })}\n`);
process.stdin.once('end', () => process.exit(1)).resume();
const { TEST_MOVING } = process.env;
if (TEST_MOVING) await (await import('./moving-domain.ts')).keepMoving(running.store, TEST_MOVING);
else await once(process, 'SIGTERM');
process.stdin.destroy();
