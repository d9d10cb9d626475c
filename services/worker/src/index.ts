// What @strata/worker offers: an engine of this machine, joined to the network.
export { readWorkerConfig, type WorkerConfig } from './config.ts';
