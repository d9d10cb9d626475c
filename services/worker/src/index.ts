// The public interface of @strata/worker: settings, and a worker that contributes a local engine to the network.
export { Environment as WorkerEnvironment, readWorkerConfig, type WorkerConfig } from './config.ts';
export type { ContributedModel } from './contributed-model.ts';
export { type RunningWorker, serveWorker, startWorker, storeFile, type WorkerWorld } from './run-worker.ts';
export { checkProof, type ProofOutcome, proofLine, proofName } from './store/proofs.ts';
export type { WorkerEvent } from './worker-event.ts';
