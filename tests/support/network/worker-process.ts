// A worker in a process of its own, for tests and benches: over an engine of fixed speed, or over a model's file.
import { createLogger } from '@strata/http';
import { createSimulatedEngine, type SimulatedEngineOptions, simulatedVocabulary } from '@strata/testnet';
import { readWorkerConfig, startWorker, type WorkerWorld } from '@strata/worker';

export interface ProcessOptions {
  readonly data: string;
  /** STRATA_* settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** An engine of its own; undefined: the model of the settings. */
  readonly simulated: SimulatedEngineOptions | undefined;
  /** Of a gateway: how far its clock is off. */
  readonly clockOffsetMs?: number | undefined;
  /** Of a gateway: the address that its connections to peers come from. */
  readonly localAddress?: string | undefined;
}

export type WorkerReady = typeof ready;

const { data, settings, simulated } = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;

let running = 0;

function worldOf(options: SimulatedEngineOptions): WorkerWorld {
  const simulated = createSimulatedEngine(options);
  const engine: typeof simulated = {
    ...simulated,
    async *generate(job, signal) {
      running += 1;
      try {
        yield* simulated.generate(job, signal);
      } finally {
        running -= 1;
      }
    },
  };
  const { tokensPerSecond = 10_000, prefillTokensPerSecond = 100_000 } = options;
  const speed = { prefill: prefillTokensPerSecond, decode: tokensPerSecond };
  return { models: [{ name: engine.info.name, engine, vocabulary: simulatedVocabulary(), speed }] };
}

const quiet = { STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_LOG_LEVEL: 'error' };
const config = readWorkerConfig({ STRATA_DATA: data, ...quiet, ...settings });
const logger = createLogger({ level: config.logLevel });
const worker = await startWorker(config, { logger }, simulated === undefined ? {} : worldOf(simulated));
process.on('message', (message) => {
  // Answers being made, of simulated engines.
  if (message === 'busy') process.send?.({ running });
});
process.once('disconnect', () => void worker.leave().finally(() => process.exit(0)));
const ready = { peer: worker.id, addresses: worker.addresses() };
process.send?.(ready);
