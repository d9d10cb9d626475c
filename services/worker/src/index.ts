// The public interface of @strata/worker: settings, and a worker that contributes a local engine to the network.
export { Environment as WorkerEnvironment, readWorkerConfig, type WorkerConfig } from './config.ts';
export { serveWorker, startWorker, storeFile, type WorkerWorld } from './run-worker.ts';
export { checkProof, proofLine, proofName } from './store/proofs.ts';
export type { WorkerEvent } from './worker-event.ts';
